"""The origin of results, and JSON files next to them."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from four_seasons_env.experiments.command_line import IN_CLONE, ROOT, command_line
from four_seasons_env.files import write_atomically

_PACKAGES = (
    "four-seasons-env",
    "gymnasium",
    "joblib",
    "numba",
    "numpy",
    "pandas",
    "sb3-contrib",
    "scipy",
    "stable-baselines3",
    "torch",
)


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a dictionary as JSON, atomically."""
    write_atomically(path, (json.dumps(values, indent=2) + "\n").encode())


def provenance() -> dict[str, Any]:
    """The origin of a result: command, versions, machine and git state."""
    versions = {}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "command": command_line(),
        "python": platform.python_version(),
        "versions": versions,
        "machine": {"system": platform.platform(), "cpus": os.cpu_count()},
        "git": {"commit": _git("rev-parse", "HEAD"), "changed": _git("status", "--porcelain")},
    }


def _git(*arguments: str) -> str | None:
    """Output of git in this clone; None outside a clone."""
    if not IN_CLONE:  # a repository around an installed wheel is another project's
        return None
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip("\n")
