"""Standard streams of a command: closed ones, readers that leave, text that must not steer them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

READER_LEFT = 141
"""Exit status if nobody reads the output any more, as shells report it of other programs."""


@contextmanager
def standard_streams() -> Iterator[None]:
    """Keep the standard streams usable within a block, whatever the caller made of them.

    Raises:
        SystemExit: with status `READER_LEFT` if nobody reads the output any more, such as `head`.
        OSError: if the output cannot be written.
    """
    # 1. A closed stream leaves its number free. The next file that is opened would take it, and get
    # what a library prints there; a worker would start without a stream.
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115
            os.set_inheritable(stream.fileno(), True)
            setattr(sys, name, stream)
    # 2. All is written here, because an error at the exit of Python would print a traceback.
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Python would print a traceback when it closes the output: it closes this one instead.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(READER_LEFT)


def complain(text: str) -> None:
    """Print a message on stderr; the exit status tells the same where nobody can read it."""
    with suppress(OSError):
        print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    r"""A text for a terminal: control characters, which files of others may hold, are escaped.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )
