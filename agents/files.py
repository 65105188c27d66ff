"""Atomic writing of files and folders."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that a reader, even after a crash, finds the old content or the new.

    The folder is created if necessary. The content is on disk (fsync) before the name points to it.

    Raises:
        OSError: naming ``path``, if it cannot be written; what was there stays.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise _named(error, path) from None


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, which is renamed to ``path`` when the block ends without error.

    An existing folder of that name is replaced. After an error the old folder is there. A crash
    leaves the old folder or the new one complete, under its name or, between two renames, under a
    hidden one from which `recover_folder` puts it back. One process at a time may write a folder.

    Raises:
        OSError: naming ``path``, if it cannot be written.
    """
    new, old = _hidden(path, "new"), _hidden(path, "old")
    try:
        recover_folder(path)
        if new.exists():
            shutil.rmtree(new)
        new.mkdir(parents=True)
        try:
            yield new
            for each in [*new.rglob("*"), new]:
                _sync(each)
            if path.exists():
                path.rename(old)
            new.rename(path)
            _sync(path.parent)
        except BaseException:
            shutil.rmtree(new, ignore_errors=True)
            recover_folder(path)
            raise
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise _named(error, path) from None


def recover_folder(path: Path) -> None:
    """Put back a folder that a `whole_folder` was about to replace when its process was killed.

    Only for the process that writes the folder: another one may be between its renames.
    """
    old = _hidden(path, "old")
    if not old.is_dir():
        return
    if path.exists():
        shutil.rmtree(old)
    else:
        old.rename(path)


def recover_folders(parent: Path) -> None:
    """`recover_folder` for each folder within a folder."""
    for old in parent.glob(".*.old"):
        recover_folder(parent / old.name[1:].removesuffix(".old"))


def _hidden(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}")


def _named(error: OSError, path: Path) -> OSError:
    """An error that names what was to be written, not a temporary file beside it."""
    if error.errno is None:  # NumPy's own
        return OSError(f"{path}: {error}")
    return OSError(error.errno, os.strerror(error.errno), str(path))


def _sync(path: Path) -> None:
    """Wait until a file, or a folder's list of files, is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
