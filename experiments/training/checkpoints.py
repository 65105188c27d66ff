"""Checkpoints of a run: numbered folders, each written whole.

A checkpoint is taken between two updates and holds everything that learning depends on. A resumed
run therefore learns what it would have learned without the interruption.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from four_seasons_env.agents.files import whole_folder
from four_seasons_env.experiments.training.run_folder import CHECKPOINTS


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
