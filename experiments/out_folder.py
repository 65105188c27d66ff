"""Folders of results: what a command writes into, new, empty or its own, and what it reads.

What is wrong with one is said before anything is made, played or learned.
"""

from __future__ import annotations

import difflib
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
    "valuation of endings": ("endings.csv",),
    "optimum": ("optimum.json",),
    "explanation of losses": ("losses.csv",),
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


def check_holds(folder: Path, kind: str) -> None:
    """Refuse a folder that is none of a kind.

    Args:
        folder: to be read.
        kind: what is expected there, of `MARKS`.

    Raises:
        FileNotFoundError: saying what is there, what is expected, and the nearest folder that is
            one: inside it, above it or beside it.
    """
    if holds(folder, kind):
        return
    others = [each for each in MARKS if holds(folder, each)]
    found = f"it holds a {others[0]}" if others else f"it has no {MARKS[kind][0]}"
    if not folder.is_dir():
        found = "it is a file" if folder.exists() else "there is no such folder"
    told = f"{folder} is no {kind}: {found}"
    near = [each for each in (*sorted(folder.glob("*")), folder.parent) if holds(each, kind)]
    beside = {each.name: each for each in folder.parent.glob("*") if holds(each, kind)}
    alike = difflib.get_close_matches(folder.name, beside, n=1, cutoff=0.0)
    near += [beside[name] for name in alike]
    raise FileNotFoundError(f"{told}; did you mean {near[0]}?" if near else told)


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
