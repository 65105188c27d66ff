"""The command `four-seasons`, or `python -m four_seasons_env`: list the commands, or run one."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from four_seasons_env import __version__
from four_seasons_env.streams import complain, standard_streams

USAGE_ERROR, INTERRUPTED, TERMINATED = 2, 130, 143
"""Exit statuses after an error in one line, after Ctrl-C, and after SIGTERM."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, by which `kill`, containers and batch systems end a process, handled as Ctrl-C."""

    status = TERMINATED


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` on SIGTERM within a block; a handler of a calling program stays."""

    def terminate(*_: Any) -> None:
        raise Terminated

    in_main_thread = threading.current_thread() is threading.main_thread()  # others have no signals
    if not in_main_thread or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def status_of(stopped: KeyboardInterrupt) -> int:
    """The exit status of a process that was stopped."""
    # Not by the class: `python -m` loads this file twice, as `__main__` and by its name.
    return getattr(stopped, "status", INTERRUPTED)


class Command(NamedTuple):
    """A command."""

    main: str
    """Its module, and after a colon the function that takes the arguments; by default `main`."""
    about: str
    extra: str = ""
    """The extras that it needs, separated by commas."""


GROUPS = {
    "play": {
        "play": Command("play.command", "play in the browser, with hints", "play"),
        "rules": Command(
            "commands:show_rules", "list the rule sets, or show the rules and fields of one"
        ),
        "solve": Command("commands:solve_deal", "solve one deal with all cards known"),
        "review": Command(
            "experiments.review", "write a page that shows where a game was lost", "experiments"
        ),
    },
    "train": {
        "train": Command(
            "experiments.train", "train an agent, or resume a training run", "experiments,train"
        ),
    },
    "compare": {
        "compare": Command("experiments.compare", "play agents on the same deals", "experiments"),
        "report": Command(
            "experiments.report",
            "write a page of tables, figures and learning curves",
            "experiments",
        ),
        "verify": Command(
            "experiments.verify", "replay the recorded games of a comparison", "experiments"
        ),
    },
}


def main(arguments: Sequence[str] | None = None) -> None:
    """List the commands, or run the one that is named first.

    Raises:
        SystemExit: with status 2 after an error, 130 after Ctrl-C, 143 after SIGTERM; each prints
            one line. With status 141 if nobody reads the output any more, such as `head`.
    """
    try:
        with standard_streams(), terminable(), _safe_path():
            _choose(*(sys.argv[1:] if arguments is None else arguments) or ["--help"])
    except KeyboardInterrupt as stopped:
        complain("stopped")
        sys.exit(status_of(stopped))
    except (ValueError, OSError, ImportError) as error:
        complain(f"error: {error}")
        sys.exit(USAGE_ERROR)


def _choose(name: str, *rest: str) -> None:
    """List the commands, or run the one of this name; see `main`."""
    commands = {name: each for group in GROUPS.values() for name, each in group.items()}
    if name in ("-h", "--help"):
        _list_commands()
    elif name == "--version":
        print(f"four-seasons {__version__}")
    elif name in commands:
        _run(name, commands[name], rest)
    else:
        from four_seasons_env.arguments import nearest  # with NumPy, which takes time to load

        raise ValueError(f"unknown command {name!r}: {nearest(name, commands)}")


def _list_commands() -> None:
    print("usage: four-seasons COMMAND [flags]\n\n`four-seasons COMMAND --help` lists the flags.")
    for group, commands in GROUPS.items():
        print(f"\n{group}:")
        for name, command in commands.items():
            print(f"  {name:8} {command.about}")


def _run(name: str, command: Command, arguments: Sequence[str]) -> None:
    """Run a command.

    Raises:
        ImportError: naming the extra, if one is missing.
    """
    sys.path.append("")  # the current folder, for the user's agents, as with `python -m`
    try:
        module, _, function = command.main.partition(":")
        main = getattr(importlib.import_module(f"four_seasons_env.{module}"), function or "main")
        main(arguments)
    except ModuleNotFoundError as error:
        from four_seasons_env.extras import missing_extra

        raise missing_extra(name, error, command.extra) from None


@contextmanager
def _safe_path() -> Iterator[None]:
    """Start processes that find Python's own modules before a user's file such as random.py."""
    before = os.environ.setdefault("PYTHONSAFEPATH", "")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ["PYTHONSAFEPATH"] = before  # an empty one has no effect


if __name__ == "__main__":
    main()
