"""The folder of a training run: its files (`CONTENTS`), its origin, and who may write there."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from filelock import FileLock, Timeout

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.schemas import Amount, Count, Number, Share, read_checked, read_json
from four_seasons_env.experiments.command_line import IN_CLONE, ROOT, command_line
from four_seasons_env.experiments.out_folder import check_out

RUN, DONE, PROGRESS = "run.json", "done.json", "progress.csv"
BEST, LAST, POLICIES, CHECKPOINT = "best", "last", "policies", "checkpoint"
VALIDATION_GAMES = "validation.csv"
STEPS = "time/total_timesteps"
"""Column of the learning curve: moves, decisions or games learned from."""

CONTENTS = {
    RUN: "flags, hyperparameters, rules, command, versions, machine, git commit",
    "git.diff": "uncommitted changes at the start, if there were any",
    PROGRESS: "the learning curve; `events.*` is the same for TensorBoard",
    VALIDATION_GAMES: "the best policy's games on validation deals, a row a deal",
    f"{BEST}/, {LAST}/": "policies: the best on validation deals, and the latest",
    f"{POLICIES}/STEPS/": "the policy at each validation",
    f"{CHECKPOINT}/": "all that `--resume` needs",
    DONE: "written last, when the run is finished",
}
"""The files of a run and what each holds."""


@dataclass
class RunFile:
    """What every `run.json` has, of which more is read than its flags."""

    run: dict[str, Any]
    """The flags of `four-seasons train`."""
    rules: dict[str, Any]
    hyperparameters: dict[str, Any]
    command: str
    python: str
    git: dict[str, str | None]


@dataclass
class Validation:
    """How a policy did on validation deals."""

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
    """The policy that is kept as the best."""


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
    """Write a dictionary as JSON, as a whole or not at all."""
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


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Lock a folder, so that no other process trains in it within the block.

    Raises:
        FileExistsError: if another process has the lock.
    """
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / ".lock", blocking=False):
            yield
    except Timeout:
        raise FileExistsError(f"{out} is being trained by another process") from None


def check_new_run(out: Path) -> None:
    """Refuse a folder that a new run cannot have.

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


def open_run(out: Path, about: dict[str, Any]) -> None:
    """Start the folder of a new run.

    Raises:
        OSError: see `check_new_run`.
    """
    check_new_run(out)
    write_json(out / RUN, about)
    changes = _git("diff", "HEAD")
    if changes:
        write_atomically(out / "git.diff", (changes + "\n").encode())
    write_readme(out)


def reopen_run(out: Path) -> dict[str, Any]:
    """The `run.json` of a run to resume.

    Raises:
        FileNotFoundError: if there is no run.
        ValueError: if its `run.json` cannot be read.
    """
    if not (out / RUN).is_file():
        raise FileNotFoundError(f"no run to resume at {out}: {RUN} is missing")
    return read_run(out)


def read_run(out: Path) -> dict[str, Any]:
    """The `run.json` of a run: what `RunFile` names, and the rest.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is damaged, or of an earlier version.
    """
    about = read_checked(out / RUN, RunFile)
    if "name" not in about["rules"]:
        raise ValueError(
            f"{out / RUN} does not name the rule set: an earlier version wrote it, train again"
        )
    return about


def read_done(out: Path) -> Done:
    """The `done.json` of a finished run.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is damaged.
    """
    return read_json(out / DONE, Done)


def write_readme(out: Path) -> None:
    """Write the folder's README from its files."""
    about = read_run(out)
    run, git = about["run"], about["git"]
    title = f"{run['agent']} on {about['rules']['name']}, training seed {run['seed']}"
    lines = [f"# {title}", "", f"    {about['command']}", ""]
    changed = " with the changes of git.diff" if git["changed"] else ""
    lines += [f"Commit {git['commit'] or 'unknown'}{changed}, Python {about['python']}.", ""]
    if (out / DONE).is_file():
        done = read_done(out)
        best = done.best
        lines += [
            f"Learned from {done.steps:,} steps in {done.seconds:,.0f} seconds. Its best policy "
            f"won {best.won:.2%} of {best.deals} (validation deals), with {best.cards_up:.1f} "
            f"cards up; from step {best.steps:,}.",
            "",
        ]
    else:
        lines += ["Unfinished: `four-seasons train --resume --out` this folder.", ""]
    lines += ["| file | what it holds |", "| --- | --- |"]
    lines += [f"| `{name}` | {content} |" for name, content in CONTENTS.items()]
    write_atomically(out / "README.md", ("\n".join(lines) + "\n").encode())


def read_log(folder: Path) -> pd.DataFrame:
    """The learning curve of a run, a row a log entry; empty before the first."""
    path = folder / PROGRESS
    if not path.is_file() or not path.stat().st_size:
        return pd.DataFrame({STEPS: []})
    return pd.read_csv(path)
