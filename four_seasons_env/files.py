"""Files and folders that are written whole: to a temporary name first, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
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
    # In the same folder, because a file can only be renamed within a file system.
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(target)
    except OSError as error:
        raise _named(error, path) from None
    finally:
        if temporary.exists():
            temporary.unlink()


@contextmanager
def whole_folder(path: str | Path) -> Iterator[Path]:
    """A temporary folder to write into, which is renamed to ``path`` at the end of the block.

    An existing folder of that name is replaced. After an error it is unchanged. A symbolic link
    stays; the folder that it points to is replaced.

    Raises:
        OSError: naming ``path``, if it cannot be written.
    """
    target = expanded(path).resolve()
    temporary = target.with_name(f".{target.name}.new")
    shutil.rmtree(temporary, ignore_errors=True)  # of an interrupted process
    try:
        temporary.mkdir(parents=True)
        yield temporary
        # No system renames a folder onto one with files: for a moment there is none.
        if target.exists():
            shutil.rmtree(target)
        temporary.rename(target)
    except OSError as error:
        raise _named(error, path) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def file_name(rules: str) -> str:
    """A rule set's name in the form of file names: `pysolfc_czarina`, `czarina__piles-4`."""
    return rules.replace("(", "__").translate(str.maketrans("/,=", "__-", ")"))


def _named(error: OSError, path: str | Path) -> OSError:
    """The error, with the name of the target file instead of the temporary one."""
    return OSError(error.errno, error.strerror or str(error), str(path))
