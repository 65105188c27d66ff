"""`Pool`: workers that live as long as a run and get many small tasks.

A worker loads and compiles only once. For tasks with result files of their own, use
`four_seasons_env.experiments.parallel.jobs`.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray

from four_seasons_env.experiments.parallel.workers import Workers

T = TypeVar("T")

_SHARED_FROM = "16K"
"""Arrays of at least this many bytes are shared between the workers of a machine."""


class Pool:
    """Long-lived workers, made by `started_pool`.

    Args:
        parallel: a started `joblib.Parallel`.
        size: number of tasks that run at once; with 1, tasks run in this process.
        backend: name of the backend.

    Attributes:
        core_seconds: processor time of tasks in other processes.
    """

    def __init__(self, parallel: Parallel, size: int, backend: str) -> None:
        self.size = size
        self.core_seconds = 0.0
        self._parallel, self._backend = parallel, backend

    def __str__(self) -> str:
        """Where tasks run, for people."""
        return "in this process" if self.size == 1 else f"by {self.size} workers ({self._backend})"

    def map(
        self, function: Callable[..., T], tasks: Iterable[Any], *shared: NDArray[Any]
    ) -> list[T]:
        """Call ``function(task, *shared)`` for each task, several at once.

        Args:
            function: the function. Workers import it by name.
            tasks: arguments; they start in this order, so the longest should come first.
            shared: arrays that all tasks read, sent once per call (with Ray: once per task).

        Returns:
            The return values, in the order of the tasks.

        Raises:
            RuntimeError: if a worker has died.
        """
        # joblib sends an array once and recognises it by identity. A copy has the present values.
        now = [each.copy() for each in shared]
        results = []
        calls = (delayed(_timed)(function, task, *now) for task in tasks)
        try:
            for result, seconds, process in self._parallel(calls):
                results.append(result)
                if process != _this_process():
                    self.core_seconds += seconds
        except BrokenExecutor:
            raise RuntimeError(
                "a worker was killed, perhaps for lack of memory: resume with fewer (--n-jobs)"
            ) from None
        return results

    def over_deals(
        self, function: Callable[..., T], about: Any, deals: Any, *shared: NDArray[Any]
    ) -> list[T]:
        """Call ``function((about, part), *shared)`` for parts of the deals.

        Each part is half of a worker's share of the remaining deals, so workers end at about the
        same time. A single worker plays all deals at once.

        Args:
            function: see `map`.
            about: other data that each task needs.
            deals: a range or an array.
            shared: see `map`.

        Returns:
            The return values, in the order of the deals.
        """
        parts = []
        while len(deals):
            count = max(len(deals) // (2 * self.size), 1) if self.size > 1 else len(deals)
            parts.append((about, deals[:count]))
            deals = deals[count:]
        return self.map(function, parts, *shared)


@contextmanager
def started_pool(workers: Workers) -> Iterator[Pool]:
    """Workers that live until the end of the block.

    Raises:
        ValueError: see `Workers.check`.
    """
    with workers.started():
        parallel = Parallel(batch_size=1, pre_dispatch="all", max_nbytes=_SHARED_FROM)
        with parallel:
            yield Pool(parallel, effective_n_jobs(workers.n_jobs), workers.backend)


def _this_process() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _timed(function: Callable[..., T], task: Any, *shared: Any) -> tuple[T, float, tuple[str, int]]:
    """The return value of a function, its processor seconds, and where it ran."""
    before = time.process_time()
    result = function(task, *shared)
    return result, time.process_time() - before, _this_process()
