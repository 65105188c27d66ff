"""`Workers`: where a command's tasks run and how many at once; the same flags for every command."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend

from four_seasons_env.experiments.parallel.processes import deaf_to
from four_seasons_env.rules import nearest


@dataclass(frozen=True)
class Workers:
    """Where tasks run, and how many at once."""

    backend: str = "loky"
    """What runs tasks side by side: loky (this machine), dask or ray."""
    n_jobs: int = -1
    """How many tasks run at once; -1: one a core, or all that the cluster has."""
    cluster: str | None = None
    """Address of a running Dask scheduler or Ray head; without one, dask and ray start workers on
    this machine."""

    def check(self) -> None:
        """Refuse an unknown backend, a cluster that it cannot use, or no jobs at all.

        Raises:
            ValueError: with the nearest backend.
        """
        if self.backend not in BACKENDS:
            raise ValueError(f"unknown backend {self.backend!r}: {nearest(self.backend, BACKENDS)}")
        if self.n_jobs < 1 and self.n_jobs != -1:
            raise ValueError(f"--n-jobs is 1 or more, or -1 for one a core: not {self.n_jobs}")
        if self.cluster is not None and self.backend == "loky":
            raise ValueError("loky works on this machine alone: a --cluster is for dask or ray")

    def started(self) -> AbstractContextManager[None]:
        """Let joblib's `Parallel` use these workers within a block.

        Raises:
            ValueError: see `check`.
        """
        self.check()
        return BACKENDS[self.backend](self)


@contextmanager
def _loky(workers: Workers) -> Iterator[None]:
    with parallel_config(backend="loky", n_jobs=workers.n_jobs):
        yield


@contextmanager
def _dask(workers: Workers) -> Iterator[None]:
    from distributed import Client, LocalCluster

    cluster, n_jobs = workers.cluster, workers.n_jobs
    count = effective_n_jobs(n_jobs)
    with deaf_to(signal.SIGINT):
        client = (
            Client(cluster)
            if cluster
            else LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                dashboard_address=None,
                silence_logs=logging.ERROR,
            ).get_client()
        )
    with client:
        with parallel_config(backend="dask", n_jobs=-1 if cluster and n_jobs < 0 else n_jobs):
            yield
        if not cluster:
            client.shutdown()


@contextmanager
def _ray(workers: Workers) -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

    if workers.cluster:
        ray.init(address=workers.cluster)
    else:
        ray.init(num_cpus=effective_n_jobs(workers.n_jobs), include_dashboard=False)
    try:
        register_ray()
        with parallel_config(backend="ray", n_jobs=workers.n_jobs):
            yield
    finally:
        ray.shutdown()


BACKENDS: dict[str, Callable[[Workers], AbstractContextManager[None]]] = {
    "loky": _loky,
    "dask": _dask,
    "ray": _ray,
}


def reports_as_they_end() -> bool:
    """Whether started workers report each task when it ends; Ray's do when all have ended."""
    backend, _ = get_active_backend()
    return bool(getattr(backend, "supports_return_generator", False))
