"""What all commands share: flags from a dataclass, errors in one line, a last word after Ctrl-C."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import tyro

from four_seasons_env.__main__ import INTERRUPTED, USAGE_ERROR

Flags = TypeVar("Flags")
Result = TypeVar("Result")

_HOME = Path(__file__).resolve().parents[1]
IN_CLONE = (_HOME / "pyproject.toml").is_file()
ROOT = _HOME if IN_CLONE else Path.cwd()
"""The clone's root; in an installed wheel, the folder in which the process was started."""

RESULTS = Path(__file__).parent / "results"
"""The stored results: docs/results, and in a wheel those that commands show."""

EXPECTED_ERRORS = (ValueError, OSError, RuntimeError, ImportError, MemoryError)
"""What a wrong flag, a missing or damaged file, a full disk, or a missing extra raises."""
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def run_command(
    arguments: Sequence[str] | None,
    function: Callable[[Flags], Result],
    flags: type[Flags],
    description: str | None,
    interrupted: str | Callable[[Flags], str] = "nothing is saved",
) -> Result:
    """Read the flags from the command line and call a command's function with them.

    Args:
        arguments: the flags; by default those of this process.
        function: the command.
        flags: its dataclass of flags; flags of nested dataclasses get no prefix.
        description: the command's docstring, for `--help`.
        interrupted: what is saved after Ctrl-C and how to resume, formatted with ``run`` (the
            flags) and ``command`` (the command line); or a function of the flags that says it.

    Raises:
        SystemExit: with status 2 after an error, 130 after Ctrl-C; either prints one line.
    """
    name = Path(str(sys.modules[flags.__module__].__file__)).stem
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    twice = _given_twice(arguments)
    if twice:
        print(f"error: {twice} is given twice: several values stand behind one", file=sys.stderr)
        sys.exit(USAGE_ERROR)
    run = tyro.cli(
        flags,
        args=arguments,
        prog=f"four-seasons {name}",
        description=description,
        config=(tyro.conf.OmitArgPrefixes,),
    )

    def saved() -> str:
        if callable(interrupted):
            return interrupted(run)
        command = shlex.join(["four-seasons", name, *arguments])
        return interrupted.format(run=run, command=command)

    try:
        result = function(run)
        sys.stdout.flush()
        return result
    except KeyboardInterrupt:
        print(f"stopped: {saved()}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except ModuleNotFoundError:
        raise  # for `four_seasons_env.__main__`, which names the extra
    except EXPECTED_ERRORS as error:
        told = one_line(error)
        if isinstance(error, OSError) and error.errno in NO_SPACE:
            told += f"; {saved()}"
        print(f"error: {told}", file=sys.stderr)
        _drop_what_cannot_be_printed()
        sys.exit(USAGE_ERROR)


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
    """The command line of this process, as a user types it."""
    return shlex.join(["four-seasons", *sys.argv[1:]]).replace(f"{ROOT}/", "")


def require_clone() -> None:
    """Refuse to go on without a clone, for commands that write its README and docs.

    Raises:
        RuntimeError: in an installed wheel.
    """
    if not IN_CLONE:
        raise RuntimeError("README and docs are written from their sources: run this in a clone")
