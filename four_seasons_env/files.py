"""Files that are written whole: to a temporary name first, then renamed.

The project deletes only files that it has written, by their exact names, and it deletes no folder
that holds anything. It writes results into folders of their own, never through a symbolic link that
somebody put there (`refuse_links`).
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def expanded(path: str | Path) -> Path:
    """A path with the home folder in place of a leading ~; that of an unknown user stays.

    Shells leave the ~ alone in ``--out=~/x``, and Python everywhere.
    """
    return Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib refuses unknown users


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file; a reader finds the old content or the new one, never a part of it.

    The folder is created if necessary. A symbolic link stays; what it points to is written.

    Raises:
        OSError: naming ``path``, if it cannot be written; the old content stays.
    """
    target = expanded(path).resolve()
    # In the same folder, because a file can only be renamed within a file system; of a name that
    # nobody else has.
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    with naming(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        file = temporary.open("xb")
        try:
            with file:
                file.write(data)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def naming(path: str | Path) -> Iterator[None]:
    """Let an error of the operating system in a block name this file, not a temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def refuse_links(folder: Path, paths: Iterable[Path]) -> None:
    """Refuse to write through symbolic links: folders of results are sent to others, and come back.

    Args:
        folder: where the results belong; it may be a link itself.
        paths: files in it that are about to be written, or deleted. They need not exist.

    Raises:
        ValueError: naming the first link among the files and their folders.
    """
    safe = {folder}
    for path in paths:
        place = path
        while place not in safe:
            if place.is_symlink():
                raise ValueError(
                    f"{place} must be a part of {folder}, not a symbolic link: remove the link, or "
                    "choose a new folder"
                )
            safe.add(place)
            place = place.parent


def file_name(rules: str) -> str:
    """A rule set's name in the form of file names: `pysolfc_czarina`, `czarina__piles-4`."""
    return rules.replace("(", "__").translate(str.maketrans("/,=", "__-", ")"))
