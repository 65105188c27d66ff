"""Writing the folder of a training run: what a new run needs, and its checkpoints."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from four_seasons_env.experiments.results.out_folder import check_out
from four_seasons_env.experiments.results.training_run import CHECKPOINTS, DONE, RUN
from four_seasons_env.files import whole_folder


def check_new_run(out: Path) -> None:
    """Reject a folder that a new run cannot use.

    Raises:
        FileExistsError: if the folder is not empty.
        OSError: if it cannot be written to.
    """
    if (out / RUN).is_file():
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
