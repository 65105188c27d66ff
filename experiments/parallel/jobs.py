"""`run_tasks`: one function on many tasks, on this machine or a cluster.

A task that fails does not stop the others. The result file of a task shows that it is done, so a
restart skips the task on any backend.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from four_seasons_env.agents.answers import AnswerError
from four_seasons_env.experiments.command_line import one_line, own_traceback
from four_seasons_env.experiments.parallel.workers import Workers

T = TypeVar("T")


@dataclass
class Failure:
    """A task that failed."""

    name: str
    reason: str
    """The error in one line."""
    details: str
    """The traceback; "" if the reason is enough."""


def run_tasks(
    function: Callable[[T], Any], tasks: Sequence[T], names: Sequence[str], workers: Workers
) -> Iterator[tuple[str, Failure | None]]:
    """Call a function with each task, several at once.

    Args:
        function: called with a task. Workers import it by name; its return value is ignored.
        tasks: arguments of the calls.
        names: names of the tasks, for failures.
        workers: workers that call the function.

    Yields:
        The name of each task, with None if it has finished or a Failure, in the order in which they
        end (with Ray: all at the end).

    Raises:
        ValueError: see `Workers.check`.
    """
    from joblib import Parallel, delayed

    with workers.started():
        kind = "list" if workers.backend == "ray" else "generator_unordered"
        calls = zip(tasks, names, strict=True)
        yield from Parallel(return_as=kind)(
            delayed(_attempt)(function, task, name) for task, name in calls
        )


def _attempt(function: Callable[[T], Any], task: T, name: str) -> tuple[str, Failure | None]:
    """Run a task, and return its name and its error as data that a worker can send."""
    try:
        function(task)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        details = own_traceback(error.__cause__) or own_traceback(error)
        # An error in this package is a fault, which needs the whole traceback.
        if not (details or error.__cause__ or isinstance(error, AnswerError)):
            details = "".join(traceback.format_exception(error)).rstrip()
        return name, Failure(name, reason, details)
    return name, None
