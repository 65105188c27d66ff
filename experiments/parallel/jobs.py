"""`run_tasks`: one function on many tasks, on this machine or a cluster.

A task that fails does not stop the others. Whether a task is done shows in its result file alone,
so that a restart skips it, whatever the backend.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

from joblib import Parallel, delayed

from four_seasons_env.experiments.command_line import one_line
from four_seasons_env.experiments.parallel.processes import deaf_workers, end_with_the_command
from four_seasons_env.experiments.parallel.workers import Workers, reports_as_they_end

T = TypeVar("T")


@dataclass
class Failure:
    """A task that failed."""

    name: str
    reason: str
    """In one line."""
    details: str
    """The traceback."""


def run_tasks(
    function: Callable[[T], Any], tasks: Sequence[T], names: Sequence[str], workers: Workers
) -> Iterator[Failure | None]:
    """Run a function on each task, several at once.

    Args:
        function: of a module, so that workers can import it; what it returns is dropped.
        tasks: its arguments.
        names: of the tasks, for failures.
        workers: where they run.

    Yields:
        None for each task that is done, a Failure for each that is not, as they end (with Ray: all
        at the end).

    Raises:
        ValueError: see `Workers.check`.
    """
    workers.check()
    if not tasks:
        return
    with workers.started():
        calls = ((function, task, name) for task, name in zip(tasks, names, strict=True))
        yield from call_in_workers(_attempt, calls, "generator_unordered")


def call_in_workers(
    function: Callable[..., Any], calls: Iterable[Sequence[Any]], return_as: str = "generator"
) -> Iterable[Any]:
    """Have joblib's present workers call a function; Ctrl-C is for the command alone, not for them.

    Args:
        function: of a module, so that workers can import it.
        calls: the arguments of each call.
        return_as: of `Parallel`: "generator" for results in the order of the calls,
            "generator_unordered" for as they come (with Ray: all at the end, in order).

    Returns:
        The results; the calls have been handed out.
    """
    as_they_end = reports_as_they_end()
    parallel = Parallel(return_as=return_as if as_they_end else "list")
    results: Iterable[Any]
    with deaf_workers() if as_they_end else nullcontext():
        results = parallel(delayed(_followed)(function, *each) for each in calls)
    return results


def _followed(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function in a worker, which ends with its command."""
    end_with_the_command()
    return function(*arguments)


def _attempt(function: Callable[[T], Any], task: T, name: str) -> Failure | None:
    """Run a task, and return its error in a form that can be sent from a worker."""
    try:
        function(task)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return Failure(name, reason, traceback.format_exc())
    return None
