"""The folder of a training run: its files, and how to read them.

run.json        flags, hyperparameters, rules, command, package versions, machine, git commit
progress.csv    the learning curve; events.* is the same for TensorBoard
best/, last/    policies: the best on validation deals, and the latest
checkpoints/    the last checkpoint, for `--resume`: written between two updates, it holds all that
                learning depends on
done.json       the outcome, written at the end of the run
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.schemas import Amount, Count, Number, Share, read_checked, read_json

if TYPE_CHECKING:
    import pandas as pd

RUN, DONE, PROGRESS = "run.json", "done.json", "progress.csv"
BEST, LAST, CHECKPOINTS = "best", "last", "checkpoints"
STEPS = "time/total_timesteps"
"""Column of the learning curve: moves, decisions or games so far."""


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
    """Validation of the policy in `best/`."""


def read_run(out: Path) -> dict[str, Any]:
    """The `run.json` of a run: the fields of `RunFile` and more.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if the file is damaged.
    """
    if not (out / RUN).is_file():
        raise FileNotFoundError(f"no run to resume at {out}: {RUN} is missing")
    return read_checked(out / RUN, RunFile)


def read_done(out: Path) -> Done:
    """The `done.json` of a finished run.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if the file is damaged.
    """
    return read_json(out / DONE, Done)


def read_log(folder: Path) -> pd.DataFrame:
    """The learning curve of a run, a row for each log entry; empty before the first."""
    import pandas as pd

    path = folder / PROGRESS
    if not path.is_file() or not path.stat().st_size:
        return pd.DataFrame({STEPS: []})
    return pd.read_csv(path)
