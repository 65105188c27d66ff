"""The command `four-seasons`, or `python -m four_seasons_env`: list the commands, or run one."""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from four_seasons_env import __version__

USAGE_ERROR, INTERRUPTED = 2, 130
"""Exit statuses after an error in one line, and after Ctrl-C."""


class Command(NamedTuple):
    """A command."""

    main: str
    """Its module, and after a colon the function that takes the arguments; by default `main`."""
    about: str
    extra: str = ""
    """The extras that it needs, separated by commas."""


GROUPS = {
    "play": {
        "play": Command("play.__main__", "play in the browser", "play"),
        "rules": Command("commands:show_rules", "list the rule sets"),
        "solve": Command("commands:solve_deal", "solve one deal with all cards known"),
        "review": Command("experiments.review", "find where a game was lost", "experiments"),
    },
    "train": {
        "demo": Command("experiments.demo", "train, compare and report", "experiments,train"),
        "train": Command("experiments.train", "train one agent", "experiments,train"),
    },
    "compare": {
        "compare": Command("experiments.compare", "play agents on the same deals", "experiments"),
        "report": Command("experiments.report", "write a page on results", "experiments"),
        "verify": Command("experiments.verify", "replay recorded games", "experiments"),
    },
    "measure": {
        "census": Command("experiments.census", "solve many deals", "experiments"),
        "bench": Command("experiments.bench", "measure steps per second", "experiments"),
    },
}


def main(arguments: Sequence[str] | None = None) -> None:
    """List the commands, or run the one that is named first.

    Raises:
        SystemExit: with status 2 after an error, 130 after Ctrl-C; either prints one line.
    """
    with _surroundings():
        _choose(*(sys.argv[1:] if arguments is None else arguments) or ["--help"])


def _choose(name: str, *rest: str) -> None:
    """List the commands, or run the one of this name; see `main`."""
    commands = {name: each for group in GROUPS.values() for name, each in group.items()}
    try:
        if name in ("-h", "--help"):
            _list_commands()
        elif name == "--version":
            print(f"four-seasons {__version__}")
        elif name in commands:
            _run(name, commands[name], rest)
        else:
            from four_seasons_env.arguments import nearest  # with NumPy, which takes time to load

            raise ValueError(f"unknown command {name!r}: {nearest(name, commands)}")
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except (ValueError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(USAGE_ERROR)


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
    try:
        sys.path.append(str(Path.cwd()))  # for agents in the user's folder, as with `python -m`
        module, _, function = command.main.partition(":")
        main = getattr(importlib.import_module(f"four_seasons_env.{module}"), function or "main")
        main(arguments)
    except ModuleNotFoundError as error:
        from four_seasons_env.arguments import missing_extra

        raise missing_extra(name, error, command.extra) from None


class _Output(io.FileIO):
    """An output whose reader may leave, such as `head` or a closed terminal.

    What is printed after that goes nowhere: the command continues, and its results are in files.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number, "w", closefd=False)
        self._without_reader = [errno.EPIPE]
        if self.isatty():
            self._without_reader.append(errno.EIO)
        elif os.name == "nt":
            self._without_reader.append(errno.EINVAL)  # of a closed pipe on Windows

    def write(self, data: Any) -> int:
        """Write bytes, if somebody reads them."""
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in self._without_reader:
                raise
            return memoryview(data).nbytes


@contextmanager
def _surroundings() -> Iterator[None]:
    """Let a block print, also where there is no output or nobody reads it, and start processes.

    `cron` and daemons may close the streams of a process. Without them, the next file that is
    opened would get their number, and whatever is printed.
    """
    # Else a user's random.py would replace Python's own in the processes that are started.
    safe_path = os.environ.setdefault("PYTHONSAFEPATH", "")
    os.environ["PYTHONSAFEPATH"] = "1"
    if os.environ.get("COLUMNS") == "0":  # some terminals do not know their width
        del os.environ["COLUMNS"]
    for name, mode in {"stdin": "r", "stdout": "w", "stderr": "w"}.items():
        if getattr(sys, name) is None:
            # The lowest free number is that of the stream; processes that it starts have it, too.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _guarded(sys.stdout), _guarded(sys.stderr)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # a full disk, which has been reported
                stream.flush()
        sys.stdout, sys.stderr = before
        os.environ["PYTHONSAFEPATH"] = safe_path  # an empty one has no effect


def _guarded(stream: TextIO) -> TextIO:
    """The stream, or the same output as an `_Output` if it is a file of the system."""
    raw = isinstance(stream, io.TextIOWrapper) and getattr(stream.buffer, "raw", stream.buffer)
    if not (isinstance(stream, io.TextIOWrapper) and isinstance(raw, io.FileIO)):
        return stream
    stream.flush()
    # Names of files may have bytes that are no text.
    errors = "backslashreplace" if stream.errors == "strict" else stream.errors
    output = _Output(raw.fileno())
    return io.TextIOWrapper(
        output if stream.write_through else io.BufferedWriter(output),
        encoding=stream.encoding,
        errors=errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


if __name__ == "__main__":
    main()
