"""What all commands share: flags from a dataclass, errors in one line, a last word after Ctrl-C.

A command is a file of this folder that defines `main` and ends with
``if __name__ == "__main__": main()``. `python -m experiments` finds it by that, and lists the first
line of its docstring.
"""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import tyro

Flags = TypeVar("Flags")
Result = TypeVar("Result")

PACKAGE = str(__package__)
"""`experiments`; in an installed wheel, `four_seasons_env.experiments`."""
IN_CLONE = PACKAGE == "experiments"
ROOT = Path(__file__).parent.parent if IN_CLONE else Path.cwd()
"""The clone's root; in an installed wheel, the folder in which the process was started."""

EXPECTED_ERRORS = (ValueError, OSError, RuntimeError, ImportError, MemoryError)
"""What a wrong flag, a missing or damaged file, a full disk, or a missing extra raises."""
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
USAGE_ERROR, INTERRUPTED = 2, 130
"""Exit statuses; the second is that of a shell's Ctrl-C."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C.

    Python's own exception, once it has passed through the `exec` of a string (as those of which
    Numba compiles), has the process end as if nobody had caught it. And a library may drop it:
    callbacks and finalizers have nobody to raise it to. One that ends unheard while the command
    runs is raised again.
    """

    heard = True

    def __del__(self) -> None:
        if not self.heard and hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, _stop)
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)


_AGAIN = 0.05
"""Seconds after which Ctrl-C that was dropped is raised again: out of where it was dropped."""


def _stop(number: int, frame: FrameType | None) -> None:
    """What SIGINT does while a command runs.

    Raises:
        Stopped: always.
    """
    raise Stopped


def run_command(
    function: Callable[[Flags], Result],
    flags: type[Flags],
    description: str | None,
    interrupted: str | Callable[[Flags], str] = "nothing is saved",
) -> Result:
    """Read the flags from the command line and call a command's function with them.

    Args:
        function: the command.
        flags: its dataclass of flags; flags of nested dataclasses get no prefix.
        description: the command's docstring, for `--help`.
        interrupted: what is saved after Ctrl-C and how to resume, formatted with ``run`` (the
            flags) and ``command`` (the command line); or a function of the flags that says it.

    Raises:
        SystemExit: with status 2 after an error, 130 after Ctrl-C; either prints one line.
    """
    name = Path(str(sys.modules[flags.__module__].__file__)).stem
    twice = _given_twice(sys.argv[1:])
    if twice:
        print(f"error: {twice} is given twice: several values stand behind one", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    run = tyro.cli(
        flags,
        prog=f"python -m {PACKAGE}.{name}",
        description=description,
        config=(tyro.conf.OmitArgPrefixes,),
    )

    def saved() -> str:
        if callable(interrupted):
            return interrupted(run)
        return interrupted.format(run=run, command=command_line())

    try:
        if callable(signal.getsignal(signal.SIGINT)):
            signal.signal(signal.SIGINT, _stop)
        with _none_is_dropped():
            result = function(run)
        sys.stdout.flush()
        return result
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # one line, however often it is pressed
        print(f"stopped: {saved()}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except EXPECTED_ERRORS as error:
        told = one_line(error)
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            told += f"; {saved()}"
        print(f"error: {told}", file=sys.stderr)
        _drop_what_cannot_be_printed()
        sys.exit(USAGE_ERROR)


@contextmanager
def _none_is_dropped() -> Iterator[None]:
    """Within the block, Ctrl-C that is dropped is raised again, and Python prints no word of it."""
    previous = sys.unraisablehook

    def hook(dropped: sys.UnraisableHookArgs) -> None:
        if not isinstance(dropped.exc_value, Stopped):
            previous(dropped)

    sys.unraisablehook = hook
    Stopped.heard = False
    try:
        yield
    finally:
        Stopped.heard = True
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = previous


def hear(stop: KeyboardInterrupt) -> None:
    """Say of Ctrl-C, which is not raised any further, that it was not dropped."""
    if isinstance(stop, Stopped):
        stop.heard = True


def _drop_what_cannot_be_printed() -> None:
    """Python would complain once more, with a traceback, when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def one_line(error: BaseException) -> str:
    """What an error says, in one line; of the operating system's, the file and what is wrong."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.errno:
        return f"cannot write: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def _given_twice(arguments: list[str]) -> str | None:
    """A flag that stands twice on a command line, of which the first would be dropped."""
    flags = [each.partition("=")[0].replace("_", "-") for each in arguments if each[:2] == "--"]
    return next((each for each in flags if flags.count(each) > 1), None)


def check_seed(seed: int) -> None:
    """Refuse a seed that NumPy does not take.

    Raises:
        ValueError: for one below 0.
    """
    if seed < 0:
        raise ValueError(f"--seed is 0 or more, not {seed}")


def command_line() -> str:
    """The command line of this process, as it can be typed in `ROOT`."""
    arguments: list[Any] = [each.replace(f"{ROOT}/", "") for each in sys.argv]
    path = ROOT / arguments[0]
    if path.suffix == ".py" and path.parent.name == "experiments":
        arguments[:1] = ["-m", f"{PACKAGE}.{path.stem}"]
    return shlex.join(["python", *arguments])


def require_clone() -> None:
    """Refuse to go on without a clone, for commands that write its README and docs.

    Raises:
        RuntimeError: in an installed wheel.
    """
    if not IN_CLONE:
        raise RuntimeError("README and docs are written from their sources: run this in a clone")


def run_renamed(new: str, *arguments: str) -> None:
    """Run a command under its old name, and print the new one.

    Args:
        new: its name.
        *arguments: flags that the old name implies.
    """
    from experiments.__main__ import run_by_name

    old = Path(sys.argv[0]).stem
    now = " ".join([f"{PACKAGE}.{new}", *arguments])
    print(f"deprecated: {PACKAGE}.{old} is now {now}", file=sys.stderr)
    run_by_name(new, [*arguments, *sys.argv[1:]])
