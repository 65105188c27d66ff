"""`Pool`: workers that live as long as a run and get many small tasks.

A worker loads and compiles only once. For tasks that run once, each with its own
result file, use `four_seasons_env.experiments.parallel.jobs`.
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
"""Arrays of this many bytes or more are shared between the workers of a machine, not sent to
each."""


class Pool:
    """Long-lived workers, made by `started_pool`.

    Args:
        parallel: joblib's, started.
        size: how many tasks run at once; a single one runs in this process.
        backend: its name.

    Attributes:
        core_seconds: processor time that tasks have taken in other processes.
    """

    def __init__(self, parallel: Parallel, size: int, backend: str) -> None:
        self.size = size
        self.core_seconds = 0.0
        self._parallel, self._backend = parallel, backend

    def __str__(self) -> str:
        """Where tasks run."""
        return "in this process" if self.size == 1 else f"by {self.size} workers ({self._backend})"

    def map(
        self, function: Callable[..., T], tasks: Iterable[Any], *shared: NDArray[Any]
    ) -> list[T]:
        """Call ``function(task, *shared)`` for each task, several at once.

        Args:
            function: of a module, so that workers can import it.
            tasks: start in this order, so the longest should stand first.
            shared: arrays that all tasks read, sent once per call (with Ray: once per task).

        Returns:
            The return values, in the order of the tasks.

        Raises:
            RuntimeError: if a worker has died.
        """
        # joblib recognises an array that it has sent by its identity: copies carry present values.
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
                "a worker was killed, perhaps for lack of memory: resume, with fewer (--n-jobs)"
            ) from None
        return results

    def over_deals(
        self, function: Callable[..., T], about: Any, deals: Any, *shared: NDArray[Any]
    ) -> list[T]:
        """Call ``function((about, part), *shared)`` for parts of the deals.

        Each part is half of a worker's share of the remaining deals: workers end together. A
        single worker plays all deals at once.

        Args:
            function: see `map`.
            about: what else a task needs to know.
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
