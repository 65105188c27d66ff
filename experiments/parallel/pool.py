"""`Pool`: workers that stay for the length of a run, and are given small tasks again and again.

What a worker has loaded and compiled for a task is there for the next. For tasks that are done
once, each with a result file of its own, there is `four_seasons_env.experiments.parallel.jobs`.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from four_seasons_env.experiments.parallel.processes import deaf_workers, end_with_the_command
from four_seasons_env.experiments.parallel.workers import Workers, reports_as_they_end

T = TypeVar("T")

_SHARED_FROM = "16K"
"""Bytes from which on an array is shared between the workers of a machine, not sent to each."""


class Pool:
    """Workers that stay; `started_pool` makes it.

    Args:
        parallel: joblib's, started.
        deaf: whether processes may start during a call, which are not to hear signals.
        size: how many tasks run at once; a single one runs in this process.
        backend: its name.

    Attributes:
        core_seconds: processor time that tasks have taken in other processes.
    """

    def __init__(self, parallel: Parallel, deaf: bool, size: int, backend: str) -> None:
        self.size = size
        self.core_seconds = 0.0
        self._parallel, self._deaf, self._backend = parallel, deaf, backend

    def __str__(self) -> str:
        """Where tasks run."""
        return "in this process" if self.size == 1 else f"by {self.size} workers ({self._backend})"

    def map(
        self, function: Callable[..., T], tasks: Iterable[Any], *shared: NDArray[Any]
    ) -> list[T]:
        """Call ``function(task, *shared)`` for each task, several at once.

        Args:
            function: of a module, so that workers can import it.
            tasks: are begun in this order: the longest should stand first.
            shared: what all tasks read, as it is now. Sent once a call, not once a task (with
                Ray: once a task).

        Returns:
            What was returned, in the order of the tasks.

        Raises:
            RuntimeError: if a worker has died.
        """
        now = [each.copy() for each in shared]  # an array is sent once, however it changes
        results = []
        calls = (delayed(_timed)(function, task, *now) for task in tasks)
        try:
            with deaf_workers() if self._deaf else nullcontext():
                answers = self._parallel(calls)
            for result, seconds, process in answers:
                results.append(result)
                if process != _this_process():
                    self.core_seconds += seconds
        except BrokenExecutor:
            raise RuntimeError(
                "a worker was killed, perhaps for lack of memory: resume, with fewer (--n-jobs)"
            ) from None
        return results


@contextmanager
def started_pool(workers: Workers) -> Iterator[Pool]:
    """Workers that stay until the end of the block.

    Raises:
        ValueError: see `Workers.check`.
    """
    with workers.started():
        as_they_end = reports_as_they_end()
        parallel = Parallel(
            return_as="generator" if as_they_end else "list",
            batch_size=1,
            pre_dispatch="all",
            max_nbytes=_SHARED_FROM,
        )
        with ExitStack() as stack:
            with deaf_workers() if as_they_end else nullcontext():  # some start here, some later
                stack.enter_context(parallel)
            yield Pool(parallel, as_they_end, effective_n_jobs(workers.n_jobs), workers.backend)


def _this_process() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _timed(function: Callable[..., T], task: Any, *shared: Any) -> tuple[T, float, tuple[str, int]]:
    """What a function returns, its processor seconds, and where it ran."""
    end_with_the_command()
    before = time.process_time()
    result = function(task, *shared)
    return result, time.process_time() - before, _this_process()
