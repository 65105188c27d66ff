"""Faults put into what a routine asks of the operating system: kills and errors at every call."""

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

CALLS = [
    *[(os, name) for name in ("open", "close", "mkdir", "rmdir", "unlink", "rename", "replace")],
    *[(os, name) for name in ("fsync", "chmod", "fdopen", "scandir", "stat")],
    *[(io, "open"), (builtins, "open")],
]
"""System calls, as Python's libraries reach them."""


class Killed(BaseException):
    """The process is dead: nothing that it would have done next happens."""


class Faults:
    """Counts system calls, and lets those fail that it is told to."""

    def __init__(self, fails: Callable[[int], BaseException | None]) -> None:
        self.names: list[str] = []  # of the calls so far
        self._fails = fails

    def wrapped(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            error = self._fails(len(self.names))
            self.names.append(function.__name__)
            if error is not None:
                raise error
            answer = function(*args, **kwargs)
            return Written(answer, self) if hasattr(answer, "write") else answer

        return call


class Written:
    """A file whose writes are system calls too."""

    def __init__(self, file: Any, faults: Faults) -> None:
        self._file = file
        self.write = faults.wrapped(file.write)
        self.flush = faults.wrapped(file.flush)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "Written":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@contextmanager
def _injected(faults: Faults) -> Iterator[Faults]:
    patches = [patch.object(owner, name, faults.wrapped(getattr(owner, name)))
               for owner, name in CALLS]  # fmt: skip
    for each in patches:
        each.start()
    try:
        yield faults
    finally:
        for each in patches:
            each.stop()


def kill_at(k: int) -> Any:
    """Within the block, the process dies at system call number k: all calls from there on fail."""
    return _injected(Faults(lambda number: Killed() if number >= k else None))


def fail_at(k: int, code: int = errno.ENOSPC) -> Any:
    """Within the block, system call number k fails, and no other."""
    return _injected(Faults(lambda n: OSError(code, os.strerror(code)) if n == k else None))


def system_calls(routine: Callable[[], Any]) -> int:
    """How many system calls a routine makes."""
    with _injected(Faults(lambda _: None)) as faults:
        routine()
    return len(faults.names)


def moments(routine: Callable[[], Any]) -> list[int]:
    """Numbers of the system calls that a routine makes; of writes in a row, the first and last."""
    with _injected(Faults(lambda _: None)) as faults:
        routine()
    names = ["", *faults.names, ""]
    rows = zip(names, names[1:], names[2:], strict=False)
    return [k for k, row in enumerate(rows) if set(row) != {"write"}]
