"""Common parts of all commands: flags from a dataclass, one line after an error or a signal.

`command` makes the `main` of a command. Beside it stand the checks of flags that several commands
share, and their progress bar.
"""

import functools
import importlib
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, get_type_hints

import tyro
from rich.console import Console
from rich.progress import Progress, TaskID

from four_seasons_env.__main__ import USAGE_ERROR, status_of, terminable
from four_seasons_env.files import expanded
from four_seasons_env.rules import RULES, get_rules
from four_seasons_env.streams import complain, standard_streams

_NOT_OTHER = (f"{Path(__file__).parents[1]}/", "<string>", "<frozen importlib", importlib.__file__)
"""Starts of the file names of this package, of code made by it, and of the import system."""

EXPECTED_ERRORS = (ValueError, OSError, RuntimeError, ImportError, MemoryError)
"""Errors that users cause: wrong flags, damaged files, a full disk, missing extras."""


class Run:
    """Flags of a command; a ~ at the start of a path is the home folder, from Python, too."""

    def __post_init__(self) -> None:
        for name, given in vars(self).items():
            values = given if isinstance(given, list) else [given]
            values = [expanded(each) if isinstance(each, Path) else each for each in values]
            setattr(self, name, values if isinstance(given, list) else values[0])


def command(
    function: Callable[[Any], object], interrupted: str = "nothing is saved"
) -> Callable[..., None]:
    """The `main` of a command: it reads flags from the command line and calls a function with them.

    Args:
        function: the command. Its argument `run` is annotated with the dataclass of its flags;
            those of nested dataclasses get no prefix. The docstring of its file is for `--help`.
        interrupted: text after Ctrl-C or SIGTERM that names the saved files and how to resume. It
            is formatted with ``run`` (the flags), ``command`` (the command line) and ``out`` (the
            folder, quoted for a shell).

    Returns:
        A function that takes the flags as strings, by default those of this process. It raises
        SystemExit with status 2 after an error, 130 after Ctrl-C, 143 after SIGTERM; each prints
        one line. An error caused by the user's own code, such as an agent, prints the traceback
        too: that of its cause, or a worker's in its notes.
    """
    return functools.partial(_run, function, interrupted)


@standard_streams()
def _run(
    function: Callable[[Any], object], interrupted: str, arguments: Sequence[str] | None = None
) -> None:
    """See `command`."""
    # 1. How the command is called, for `--help` and to call it again.
    home = sys.modules[function.__module__]
    file = Path(str(home.__file__))
    program = ["four-seasons", file.stem]
    if file.parent.name == "studies":
        program = ["python", f"experiments/studies/{file.name}"]
    # 2. Its flags. tyro ends the process itself where they have the wrong form.
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    run = tyro.cli(
        get_type_hints(function)["run"],
        args=arguments,
        prog=shlex.join(program),
        description=home.__doc__,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    # 3. The call. Whatever a user can cause is one line.
    try:
        _refuse_repeated_flags(arguments)
        with terminable():
            function(run)
    except KeyboardInterrupt as stopped:
        again = shlex.join([*program, *arguments])
        out = shlex.quote(str(getattr(run, "out", "")))
        complain(f"stopped: {interrupted.format(run=run, command=again, out=out)}")
        sys.exit(status_of(stopped))
    except (ModuleNotFoundError, BrokenPipeError):
        raise  # for `four_seasons_env.__main__`, which names the extra, and `standard_streams`
    except EXPECTED_ERRORS as error:
        complain(f"error: {one_line(error)}")
        for note in getattr(error, "__notes__", ()):
            complain(note)
        if _is_of_other_code(error.__cause__):
            traceback.print_exception(error.__cause__)
        sys.exit(USAGE_ERROR)


def _is_of_other_code(cause: BaseException | None) -> bool:
    """Whether code outside this package raised an error or called what raised it, in this process.

    A syntax error names its own place.
    """
    # Frames of this package are our own checks, which the one line explains.
    frames = traceback.extract_tb(cause.__traceback__) if cause else []
    outside = any(not each.filename.startswith(_NOT_OTHER) for each in frames)
    return outside or isinstance(cause, SyntaxError)


def _refuse_repeated_flags(arguments: Sequence[str]) -> None:
    """Reject a flag that is given twice, because tyro ignores the first values.

    Raises:
        ValueError: naming the flag.
    """
    flags = [each.partition("=")[0] for each in arguments if each.startswith("--")]
    for flag in flags:
        if flags.count(flag) > 1:
            raise ValueError(f"{flag} must be given once, with all its values")


def one_line(error: BaseException) -> str:
    """The text of an error in one line; errors of the operating system include the file."""
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, OSError) and error.errno:
        return f"cannot write: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


LOG_SECONDS = 60.0
"""Seconds between two lines of a log."""


class _Bar(Progress):
    """rich's progress bar; where there is no terminal, a line a minute instead, for log files."""

    _logged: float | None = None

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """See rich's."""
        super().update(task_id, **changes)
        self._log(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """See rich's."""
        super().advance(task_id, advance)
        self._log(task_id)

    def _log(self, task_id: TaskID) -> None:
        """Write a line, if the last one is a minute old: "playing: 1,230 of 10,000, 3 min left"."""
        now = self.get_time()
        self._logged = now if self._logged is None else self._logged
        if not self.disable or now - self._logged < LOG_SECONDS:
            return
        self._logged = now
        (task,) = (each for each in self.tasks if each.id == task_id)
        total = task.total or 1.0
        share = f"{task.completed:,.0f} of {total:,.0f}" if total > 1 else f"{task.percentage:.0f}%"
        left = "" if task.time_remaining is None else f", {task.time_remaining / 60:,.0f} min left"
        complain(f"{task.description}: {share}{left}")


def progress_bar(transient: bool = False) -> Progress:
    """A progress bar on stderr, or a line a minute in a file; results belong on stdout.

    Args:
        transient: whether the bar disappears at its end, on a terminal, too.
    """
    console = Console(stderr=True)
    return _Bar(
        console=console,
        transient=transient,
        disable=not (console.is_terminal or console.is_jupyter),
        # Lines appear above the bar, unless they go elsewhere.
        redirect_stdout=sys.stdout.isatty(),
        speed_estimate_period=10 * LOG_SECONDS,
    )


def check_stored_seed(seed: Any, name: str = "--seed") -> int:
    """A seed as an int.

    Raises:
        ValueError: unless it is a whole number from 0 to 2^63 - 1, as files of results hold.
    """
    if not isinstance(seed, Integral) or not 0 <= int(seed) < 2**63:
        raise ValueError(f"{name} must be a whole number from 0 to 2^63 - 1, not {seed!r}")
    return int(seed)


def rule_set_names(names: Iterable[str]) -> list[str]:
    """The full names of rule sets; ["all"] means all of them.

    Raises:
        ValueError: for an unknown rule set, with the nearest one.
    """
    names = list(names)
    return list(RULES) if names == ["all"] else [get_rules(name).name for name in names]
