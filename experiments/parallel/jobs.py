"""`run_tasks`: one function on many tasks, on this machine or a cluster.

A task that fails does not stop the others. Only a task's result file shows whether it is done, so a
restart skips it on any backend.
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
    """In one line."""
    details: str
    """The traceback; "" if the reason says all."""


def run_tasks(
    function: Callable[[T], Any], tasks: Sequence[T], names: Sequence[str], workers: Workers
) -> Iterator[Failure | None]:
    """Run a function on each task, several at once.

    Args:
        function: of a module, so that workers can import it; its return value is dropped.
        tasks: its arguments.
        names: of the tasks, for failures.
        workers: where they run.

    Yields:
        None for each task that is done, a Failure for each that is not, as they end (with Ray: all
        at the end).

    Raises:
        ValueError: see `Workers.check`.
    """
    from joblib import Parallel, delayed

    with workers.started():
        kind = "generator_unordered" if workers.reports_each_task else "list"
        calls = zip(tasks, names, strict=True)
        yield from Parallel(return_as=kind)(
            delayed(_attempt)(function, task, name) for task, name in calls
        )


def _attempt(function: Callable[[T], Any], task: T, name: str) -> Failure | None:
    """Run a task, and return its error in a form that a worker can send."""
    try:
        function(task)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return Failure(name, reason, _details(error))
    return None


def _details(error: Exception) -> str:
    """See `Failure.details`: of the user's own code, or else of the error as a whole."""
    own = own_traceback(error.__cause__) or own_traceback(error)
    if own or isinstance(error, AnswerError) or error.__cause__:
        return own
    return "".join(traceback.format_exception(error)).rstrip()
