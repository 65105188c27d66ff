"""Folders of results: what a command may write into, and the origin of what it writes.

A command writes into a new or empty folder, or one of its own kind. It reports a wrong folder
before it plays or learns, and has it to itself until it ends.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from four_seasons_env import __version__
from four_seasons_env.files import write_atomically

_HOME = Path(__file__).resolve().parents[2]
IN_CLONE = (_HOME / "pyproject.toml").is_file()
ROOT = _HOME if IN_CLONE else Path.cwd()
"""Root of the clone; for an installed wheel, the current folder when the process started."""

MARKS = {
    "training": "run.json",
    "comparison": "compare.json",
    "census": "census.json",
    "measurement of speed": "bench.csv",
}
"""Kinds of results, and the file that marks a folder of each kind."""

_PACKAGES = (
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


def check_out(out: Path, kind: str) -> None:
    """Reject a folder that holds something else.

    Args:
        out: the folder; hidden files in it are ignored.
        kind: kind of the new results, a key of `MARKS`.

    Raises:
        FileExistsError: if the folder holds something else.
        NotADirectoryError: if it is a file.
    """
    # A folder with hidden files only, such as .DS_Store, looks empty to its owner.
    is_own = (out / MARKS[kind]).is_file()
    if not is_own and out.exists() and any(each.name[0] != "." for each in out.iterdir()):
        raise FileExistsError(
            f"{out} is not empty and has no {kind} ({MARKS[kind]}): choose a new folder (--out)"
        )


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Have a folder to oneself within a block, which may lock it again.

    The folder is created if necessary. The system unlocks it when the process ends, even if killed.

    Raises:
        RuntimeError: if another process has locked it.
    """
    from filelock import FileLock, Timeout

    out.mkdir(parents=True, exist_ok=True)
    holder = out / ".holder"  # not in the locked file, which Windows does not let others read
    lock = FileLock(out / ".lock", timeout=0, is_singleton=True)
    try:
        lock.acquire()
    except Timeout:
        who = holder.read_text() if holder.is_file() else "another process"
        raise RuntimeError(f"{out} is in use by {who}") from None
    try:
        write_atomically(holder, f"process {os.getpid()} on {platform.node()}".encode())
        yield
    finally:
        lock.release()


def check_holds(folder: Path, kind: str) -> None:
    """Reject a folder that does not hold the expected results.

    Args:
        folder: the folder.
        kind: kind of the expected results, a key of `MARKS`.

    Raises:
        FileNotFoundError: naming the file that is missing.
    """
    if not (folder / MARKS[kind]).is_file():
        raise FileNotFoundError(f"{folder} has no {kind}: {MARKS[kind]} is missing")


def write_json(path: Path, values: dict[str, Any]) -> None:
    """Write a dictionary as JSON, atomically."""
    write_atomically(path, (json.dumps(values, indent=2) + "\n").encode())


def provenance() -> dict[str, Any]:
    """The origin of a result: command, versions, machine and git state."""
    # The metadata of an editable install stays as it was when the clone is updated.
    versions = {"four-seasons-env": __version__}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return {
        "command": _command_line(),
        "python": platform.python_version(),
        "versions": versions,
        "machine": {"system": platform.platform(), "cpus": os.cpu_count()},
        "git": {"commit": _git("rev-parse", "HEAD"), "changed": _git("status", "--porcelain")},
    }


def _command_line() -> str:
    """The command line of this process, as a user would type it."""
    return shlex.join(["four-seasons", *sys.argv[1:]]).replace(f"{ROOT}/", "")


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
