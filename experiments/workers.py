"""Where tasks run. Two parts:

1. `Workers`, the flags: the backend, and how many tasks at once. `joblib.Parallel` uses it.
2. A `Pool` of them, which lives as long as a training and gets many small tasks whose return values
   it needs; its workers load and compile only once.
"""

import importlib
import logging
import os
import platform
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from numpy.typing import NDArray

T = TypeVar("T")

_MODULES = {"loky": "joblib", "dask": "distributed", "ray": "ray"}


@dataclass(frozen=True)
class Workers:
    """Where tasks run, and how many at once."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    """What runs the tasks: loky (processes on this machine), dask or ray."""
    n_jobs: int = -1
    """Number of tasks at once. -1 stands for one per core, of this machine or of the cluster."""
    cluster: str | None = None
    """Address of a running Dask scheduler or Ray head.
    Without this flag, dask and ray start workers on this machine."""

    def check(self) -> None:
        """Reject flags that contradict each other, and a backend that is not installed.

        Raises:
            ValueError: for a number of jobs below 1, or a cluster with loky.
            ModuleNotFoundError: if the backend is not installed.
        """
        if self.n_jobs < 1 and self.n_jobs != -1:
            raise ValueError(
                f"--n-jobs must be 1 or more, or -1 for one per core, not {self.n_jobs}"
            )
        if self.cluster is not None and self.backend == "loky":
            raise ValueError("--backend must be dask or ray for a --cluster, not loky")
        importlib.import_module(_MODULES[self.backend])

    @property
    def share_this_machine(self) -> bool:
        """Whether several processes of this machine work, which share its compiled code."""
        return self.cluster is None and effective_n_jobs(self.n_jobs) > 1

    @contextmanager
    def started(self) -> Iterator[None]:
        """Let `joblib.Parallel` use these workers, once checked, within a block."""
        self.check()
        about: dict[str, Any] = {}
        with ExitStack() as at_the_end:
            if self.backend == "loky":
                about = {"initializer": _start_worker, "initargs": (os.getpid(),)}
            elif self.backend == "dask":
                self._start_dask(at_the_end)
            else:
                self._start_ray(at_the_end)
            at_the_end.enter_context(parallel_config(self.backend, n_jobs=self.n_jobs, **about))
            yield

    def _start_dask(self, at_the_end: ExitStack) -> None:
        from distributed import Client, LocalCluster

        scheduler: Any = self.cluster  # which serves others, too: it stays
        if scheduler is None:
            scheduler = at_the_end.enter_context(
                LocalCluster(
                    # Processes, because two threads of one process would wait for each other.
                    n_workers=effective_n_jobs(self.n_jobs),
                    threads_per_worker=1,
                    dashboard_address=None,  # a page on an open port
                    silence_logs=logging.ERROR,
                )
            )
        at_the_end.enter_context(Client(scheduler))

    def _start_ray(self, at_the_end: ExitStack) -> None:
        import ray
        from ray.util.joblib import register_ray

        at_the_end.callback(ray.shutdown)
        handler = signal.getsignal(signal.SIGTERM)
        if self.cluster:
            ray.init(address=self.cluster)
        else:
            ray.init(num_cpus=effective_n_jobs(self.n_jobs), include_dashboard=False)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)  # Ray sets one of its own
        register_ray()


def _start_worker(parent: int) -> None:
    """Ignore signals that may reach all processes of a command: it ends its workers itself."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    if os.name == "posix":  # elsewhere a process keeps the number of its dead parent
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """End this worker soon after its parent, which may be killed and end nothing."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


@dataclass
class Pool:
    """Long-lived workers, made by `started_pool`."""

    parallel: Parallel
    """A started one."""
    size: int
    """Number of tasks that run at once; with 1, tasks run in this process."""
    core_seconds: float = 0.0
    """Processor time of tasks in other processes."""

    def over_deals(
        self, function: Callable[..., T], about: Any, deals: Any, shared: dict[str, NDArray[Any]]
    ) -> list[T]:
        """Call ``function((about, part), shared)`` for parts of the deals, several at once.

        Args:
            function: the function. Workers import it by name.
            about: other data that each call needs.
            deals: a range or an array.
            shared: arrays that all calls read, by name.

        Returns:
            The return values, in the order of the deals.

        Raises:
            RuntimeError: if a worker has died.
        """
        # Copies, because Dask recognises a sent array by identity, whatever its values.
        now = {name: each.copy() for name, each in shared.items()}
        # joblib returns results in the order of the calls, whoever is first.
        results = []
        calls = (delayed(_timed)(function, (about, part), now) for part in self._parts(deals))
        try:
            for result, seconds, process in self.parallel(calls):
                results.append(result)
                # The clock of a run counts the processor time of this process already.
                if process != _this_process():
                    self.core_seconds += seconds
        except BrokenExecutor:
            raise RuntimeError(
                "a worker was killed, perhaps for lack of memory: resume with fewer (--n-jobs)"
            ) from None
        return results

    def _parts(self, deals: Any) -> Iterator[Any]:
        """Parts of the deals, the largest first; a single worker plays all at once."""
        least = max(min(len(deals) // self.size, 4), 1)  # sending a part takes a millisecond
        while len(deals):
            # Half of a worker's share of the rest: games in lockstep are faster in large parts, and
            # the small parts at the end let all workers finish at about the same time.
            count = max(len(deals) // (2 * self.size), least) if self.size > 1 else len(deals)
            yield deals[:count]
            deals = deals[count:]


@contextmanager
def started_pool(workers: Workers) -> Iterator[Pool]:
    """Workers that live until the end of the block."""
    with workers.started():
        size = effective_n_jobs(workers.n_jobs)
        # Tasks are few and long, so joblib must not group them or hold some back. Arrays travel
        # with them: the files of joblib would fill the disk in a long training.
        with Parallel(batch_size=1, pre_dispatch="all", max_nbytes=None) as parallel:
            yield Pool(parallel, size)


def _this_process() -> tuple[str, int]:
    return platform.node(), os.getpid()


def _timed(function: Callable[..., T], task: Any, shared: Any) -> tuple[T, float, tuple[str, int]]:
    """The return value of a function, its processor seconds, and where it ran."""
    # Not the clock: workers may wait for a core, and waiting is not learning.
    before = time.process_time()
    result = function(task, shared)
    return result, time.process_time() - before, _this_process()
