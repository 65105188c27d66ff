"""The folder of a training run: its files, and how they are read and written.

run.json        flags, hyperparameters, rules, command, package versions, machine, git commit
progress.csv    the learning curve; events.* is the same for TensorBoard
best/, last/    policies: the best on validation deals, and the latest
checkpoints/    the last checkpoint, for `--resume`: written between two updates
done.json       the outcome, written at the end of the run
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.experiments.results.out_folder import check_out, locked
from four_seasons_env.files import whole_folder
from four_seasons_env.schemas import Amount, Count, Number, Share, read_checked, read_json

if TYPE_CHECKING:
    import pandas as pd

RUN, DONE, PROGRESS = "run.json", "done.json", "progress.csv"
LAST, CHECKPOINTS = "last", "checkpoints"
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


def check_new_run(out: Path) -> None:
    """Reject a folder that a new run cannot use.

    Raises:
        FileExistsError: if the folder is not empty.
        RuntimeError: if a run is going on there.
    """
    if (out / RUN).is_file():
        with locked(out):
            done = "is finished" if (out / DONE).is_file() else "is unfinished"
            raise FileExistsError(
                f"{out} holds a run already, which {done}: resume it (--resume), or choose a new "
                "folder (--out)"
            )
    check_out(out, "training")


@contextmanager
def new_checkpoint(run: Path) -> Iterator[Path]:
    """A folder for the next checkpoint.

    The previous checkpoint is deleted after the block, when the new one is complete.

    Args:
        run: folder of the run.
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
    """The complete checkpoints of a run, the oldest first; several only after a kill."""
    return sorted((run / CHECKPOINTS).glob("[0-9]*"))
