"""The folder that a command writes into: new, empty, or one that it has written before.

What is wrong with it is said before anything is made, played or learned.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

MARKS = {
    "training": ("run.json",),
    "sweep": ("sweep.json",),
    "comparison": ("compare.json",),
    "census": ("census.json", "census-*.png"),
    "review": ("review.json",),
    "measurement of speed": ("throughput.csv",),
    "comparison of decisions": ("decisions.csv",),
}
"""What commands write, and the files by which the folders are told apart; any of them does."""


def check_out(out: Path, kind: str) -> None:
    """Refuse a folder in which something else lies, or that cannot be written to.

    Args:
        out: the folder; hidden files in it do not count.
        kind: what is to be written there, of `MARKS`.

    Raises:
        FileExistsError: saying what is there.
        OSError: if the folder cannot be written to.
    """
    check_writable(out)
    if not out.exists() or holds(out, kind) or all(_is_hidden(each) for each in out.iterdir()):
        return
    others = [each for each in MARKS if holds(out, each)]
    found = f"holds a {others[0]}" if others else "is not empty"
    raise FileExistsError(f"{out} {found}, and no {kind}: choose a new folder (--out)")


def check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be made or written to.

    Raises:
        OSError: naming the folder, or that above it which stands in the way.
    """
    there = next(each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is not a folder: choose another", str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "cannot be written to: choose another", str(there))


def holds(folder: Path, kind: str) -> bool:
    """Whether a folder is of a kind of `MARKS`."""
    return any(any(folder.glob(mark)) for mark in MARKS[kind])


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")
