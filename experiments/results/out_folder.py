"""Folders of results: a command writes into a new or empty folder, or one of its own kind.

Commands report a wrong folder before they play or learn.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

MARKS = {
    "training": "run.json",
    "sweep": "sweep.json",
    "comparison": "compare.json",
    "census": "census.json",
    "measurement of speed": "bench.csv",
}
"""Kinds of results, and the file that marks a folder of each kind."""


def check_out(out: Path, kind: str) -> None:
    """Reject a folder that holds something else, or that cannot be written to.

    Args:
        out: the folder; hidden files in it are ignored.
        kind: kind of the new results, a key of `MARKS`.

    Raises:
        FileExistsError: if the folder holds something else.
        OSError: if the folder cannot be written to.
    """
    check_writable(out)
    is_own = (out / MARKS[kind]).is_file()
    if not is_own and out.exists() and any(each.name[0] != "." for each in out.iterdir()):
        raise FileExistsError(
            f"{out} is not empty and holds no {kind} ({MARKS[kind]}): choose a new folder (--out)"
        )


def check_holds(folder: Path, kind: str) -> None:
    """Reject a folder that does not hold the expected results.

    Args:
        folder: the folder.
        kind: kind of the expected results, a key of `MARKS`.

    Raises:
        FileNotFoundError: naming the file that is missing.
    """
    if not (folder / MARKS[kind]).is_file():
        raise FileNotFoundError(f"{folder} holds no {kind}: {MARKS[kind]} is missing")


def check_writable(folder: Path) -> None:
    """Reject a folder that cannot be made or written to.

    Raises:
        OSError: naming the folder, or the parent that prevents it.
    """
    there = next(each for each in (folder, *folder.absolute().parents) if os.path.lexists(each))
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "is not a folder: choose another", str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "cannot be written to: choose another", str(there))
