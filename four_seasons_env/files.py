"""Files and folders that are written whole: to a temporary name first, then renamed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file; a reader finds the old content or the new one, never a part of it.

    The folder is created if necessary.

    Raises:
        OSError: naming ``path``, if it cannot be written; the old content stays.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(data)
        temporary.replace(path)
    except OSError as error:
        raise _named(error, path) from None
    finally:
        if temporary.exists():
            temporary.unlink()


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder to write into, which is renamed to ``path`` at the end of the block.

    An existing folder of that name is replaced. After an error it is unchanged.

    Raises:
        OSError: naming ``path``, if it cannot be written.
    """
    temporary = path.with_name(f".{path.name}.new")
    shutil.rmtree(temporary, ignore_errors=True)  # of an interrupted process
    try:
        temporary.mkdir(parents=True)
        yield temporary
        if path.exists():
            shutil.rmtree(path)
        temporary.rename(path)
    except OSError as error:
        raise _named(error, path) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def file_name(rules: str) -> str:
    """A rule set's name in the form of file names: `pysolfc_czarina`, `czarina__piles-4`."""
    return rules.replace("(", "__").translate(str.maketrans("/,=", "__-", ")"))


def _named(error: OSError, path: Path) -> OSError:
    """The error, with the name of the target file instead of the temporary one."""
    return OSError(error.errno, error.strerror or str(error), str(path))
