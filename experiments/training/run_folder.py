"""The folder of a training run: its files, and the origin of its results.

run.json        flags, hyperparameters, rules, command, package versions, machine, git commit
progress.csv    the learning curve; events.* is the same for TensorBoard
best/, last/    policies: the best on validation deals, and the latest
checkpoints/    the last checkpoint, from which `--resume` continues: taken between two updates, it
                holds everything that learning depends on
done.json       the outcome, written when the run is finished
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.schemas import Amount, Count, Number, Share, read_checked, read_json
from four_seasons_env.experiments.command_line import IN_CLONE, ROOT, command_line
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.files import whole_folder, write_atomically

if TYPE_CHECKING:
    import pandas as pd

RUN, DONE, PROGRESS = "run.json", "done.json", "progress.csv"
BEST, LAST, CHECKPOINTS = "best", "last", "checkpoints"
STEPS = "time/total_timesteps"
"""Column of the learning curve: moves, decisions or games learned from."""


@dataclass
class RunFile:
    """The part of `run.json` that is read again."""

    run: dict[str, Any]
    """The flags of `four-seasons train`."""
    rules: dict[str, Any]
    hyperparameters: dict[str, Any]
    command: str


@dataclass
class Validation:
    """The results of a policy on validation deals."""

    deals: str
    won: Share
    cards_up: Number
    steps: Count


@dataclass
class Done:
    """The schema of `done.json`, the outcome of a run."""

    steps: Count
    seconds: Amount
    core_seconds: Amount
    games: Count
    best: Validation
    """Of the policy in `best/`."""


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
    """Write a dictionary as JSON; see `write_atomically`."""
    write_atomically(path, (json.dumps(values, indent=2) + "\n").encode())


def provenance() -> dict[str, Any]:
    """Command, versions, machine and git state: the origin of a result."""
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
    """Output of git in this clone; None outside of a clone."""
    if not IN_CLONE:  # a repository around an installed wheel is another project's
        return None
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip("\n")


def check_new_run(out: Path) -> None:
    """Reject a folder that a new run cannot use.

    Raises:
        FileExistsError: if the folder is not empty; nothing is ever overwritten.
        OSError: if it cannot be written to.
    """
    if (out / RUN).is_file():
        done = "is finished" if (out / DONE).is_file() else "is unfinished"
        raise FileExistsError(
            f"{out} holds a run already, which {done}: resume it (--resume), or choose a new "
            "folder (--out)"
        )
    check_out(out, "training")


def read_run(out: Path) -> dict[str, Any]:
    """The `run.json` of a run: the fields of `RunFile`, and the rest.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is damaged.
    """
    if not (out / RUN).is_file():
        raise FileNotFoundError(f"no run to resume at {out}: {RUN} is missing")
    return read_checked(out / RUN, RunFile)


def read_done(out: Path) -> Done:
    """The `done.json` of a finished run.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is damaged.
    """
    return read_json(out / DONE, Done)


def read_log(folder: Path) -> pd.DataFrame:
    """The learning curve of a run, a row for each log entry; empty before the first."""
    import pandas as pd

    path = folder / PROGRESS
    if not path.is_file() or not path.stat().st_size:
        return pd.DataFrame({STEPS: []})
    return pd.read_csv(path)


@contextmanager
def new_checkpoint(run: Path) -> Iterator[Path]:
    """The folder to write the next checkpoint into.

    The previous checkpoint is deleted after the block, when the new one is complete.

    Args:
        run: the run's folder.
    """
    previous = _checkpoints(run)
    number = int(previous[-1].name) + 1 if previous else 1
    with whole_folder(run / CHECKPOINTS / f"{number:06d}") as folder:
        yield folder
    for each in previous:
        shutil.rmtree(each)


def last_checkpoint(run: Path) -> Path | None:
    """The folder of a run's last checkpoint; None before the first."""
    found = _checkpoints(run)
    return found[-1] if found else None


def _checkpoints(run: Path) -> list[Path]:
    """The complete checkpoints of a run, oldest first; more than one only after a kill."""
    return sorted((run / CHECKPOINTS).glob("[0-9]*"))
