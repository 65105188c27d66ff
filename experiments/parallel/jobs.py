"""`run_tasks`: one function on many tasks, on this machine or a cluster.

A task that fails does not stop the others. Whether a task is done shows in its result file alone,
so that a restart skips it, whatever the backend.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from multiprocessing import resource_tracker
from typing import Any, TypeVar

from joblib import Parallel, delayed
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from joblib.parallel import get_active_backend

from experiments.command_line import one_line
from experiments.parallel.workers import Workers

T = TypeVar("T")
_QUIET = "ignore:resource_tracker"


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
        calls = (
            delayed(_attempt)(function, task, name) for task, name in zip(tasks, names, strict=True)
        )
        yield from call_in_workers(calls, "generator_unordered")


def call_in_workers(calls: Iterable[Any], return_as: str = "generator") -> Iterable[Any]:
    """Have joblib's present workers make calls; Ctrl-C is for the command alone, not for them.

    Args:
        calls: each of joblib's `delayed`.
        return_as: of `Parallel`: "generator" for results in the order of the calls,
            "generator_unordered" for as they come (with Ray: all at the end, in order).

    Returns:
        The results; the calls have been handed out.
    """
    # Ray's backend reports nothing before all calls are done.
    backend, _ = get_active_backend()
    as_they_end = getattr(backend, "supports_return_generator", False)
    parallel = Parallel(return_as=return_as if as_they_end else "list")
    results: Iterable[Any]
    with _workers_deaf_to_ctrl_c() if as_they_end else nullcontext():
        results = parallel(calls)
    return results


@contextmanager
def _workers_deaf_to_ctrl_c() -> Iterator[None]:
    """Processes that start within the block do not hear Ctrl-C, which is for the command alone."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    _start_trackers()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start the processes that clean up what workers leave: later, they would undo the mask.

    They say nothing of what Ctrl-C made the workers leave.
    """
    filters = os.environ.get("PYTHONWARNINGS", "")
    if _QUIET not in filters:
        os.environ["PYTHONWARNINGS"] = f"{filters},{_QUIET}".lstrip(",")
    for tracker in (resource_tracker, loky_tracker):
        tracker.ensure_running()


def _attempt(function: Callable[[T], Any], task: T, name: str) -> Failure | None:
    """Run a task, and return its error in a form that can be sent from a worker."""
    _end_with_the_command()
    try:
        function(task)
    except Exception as error:
        reason = f"{type(error).__name__}: {one_line(error)}"
        return Failure(name, reason, traceback.format_exc())
    return None


@cache
def _end_with_the_command() -> None:
    """From now on, a worker on this machine whose command was killed ends within a second."""
    command = multiprocessing.parent_process()
    if command is not None and command.pid == os.getppid():
        threading.Thread(target=_end_after, args=(command.pid,), daemon=True).start()


def _end_after(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
