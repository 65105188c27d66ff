"""What all commands share: flags from a dataclass, errors in one line, a last word after Ctrl-C.

A command is a file of this folder that defines `main` and ends with
``if __name__ == "__main__": main()``. `python -m experiments` finds it by that, and lists the first
line of its docstring.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import tyro

Flags = TypeVar("Flags")
Result = TypeVar("Result")

PACKAGE = str(__package__)
"""`experiments`; in an installed wheel, `four_seasons_env.experiments`."""
IN_CLONE = PACKAGE == "experiments"
ROOT = Path(__file__).parent.parent if IN_CLONE else Path.cwd()
"""The clone's root; in an installed wheel, the folder in which the process was started."""

EXPECTED_ERRORS = (ValueError, OSError, RuntimeError, ImportError)
"""What a wrong flag, a missing or damaged file, or a missing extra raises."""
USAGE_ERROR, INTERRUPTED = 2, 130
"""Exit statuses; the second is that of a shell's Ctrl-C."""


def run_command(
    function: Callable[[Flags], Result],
    flags: type[Flags],
    description: str | None,
    interrupted: str = "nothing is saved",
) -> Result:
    """Read the flags from the command line and call a command's function with them.

    Args:
        function: the command.
        flags: its dataclass of flags; flags of nested dataclasses get no prefix.
        description: the command's docstring, for `--help`.
        interrupted: what is saved after Ctrl-C and how to resume, formatted with ``run`` (the
            flags) and ``command`` (the command line).

    Raises:
        SystemExit: with status 2 after an error, 130 after Ctrl-C; either prints one line.
    """
    name = Path(str(sys.modules[flags.__module__].__file__)).stem
    run = tyro.cli(
        flags,
        prog=f"python -m {PACKAGE}.{name}",
        description=description,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    try:
        return function(run)
    except KeyboardInterrupt:
        print(f"stopped: {interrupted.format(run=run, command=command_line())}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except EXPECTED_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(USAGE_ERROR)


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
