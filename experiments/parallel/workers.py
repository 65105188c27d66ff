"""`Workers`: where tasks run and how many at once, as flags that commands share."""

from __future__ import annotations

import importlib
import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

_MODULES = {"loky": "joblib", "dask": "distributed", "ray": "ray"}


@dataclass(frozen=True)
class Workers:
    """Where tasks run, and how many at once."""

    backend: Literal["loky", "dask", "ray"] = "loky"
    """Backend of parallel tasks: loky (processes on this machine), dask or ray."""
    n_jobs: int = -1
    """Number of tasks at once; -1: one per core, or all cores of the cluster."""
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
            raise ValueError(f"--n-jobs is 1 or more, or -1 for one per core: not {self.n_jobs}")
        if self.cluster is not None and self.backend == "loky":
            raise ValueError("loky works on this machine alone: a --cluster is for dask or ray")
        importlib.import_module(_MODULES[self.backend])

    @contextmanager
    def started(self) -> Iterator[None]:
        """Let `joblib.Parallel` use these workers within a block.

        Raises:
            ValueError: see `check`.
        """
        self.check()
        start = {"loky": _loky, "dask": _dask, "ray": _ray}[self.backend]
        with start(self):
            yield


@contextmanager
def _loky(workers: Workers) -> Iterator[None]:
    from joblib import parallel_config

    # Ctrl-C reaches every process of the terminal. Workers ignore it; the command ends them.
    ignore = {"initializer": signal.signal, "initargs": (signal.SIGINT, signal.SIG_IGN)}
    with parallel_config(backend="loky", n_jobs=workers.n_jobs, **ignore):
        yield


@contextmanager
def _dask(workers: Workers) -> Iterator[None]:
    from distributed import Client, LocalCluster
    from joblib import effective_n_jobs, parallel_config

    cluster, n_jobs = workers.cluster, workers.n_jobs
    client = (
        Client(cluster)
        if cluster
        else LocalCluster(
            n_workers=effective_n_jobs(n_jobs),
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
    from joblib import effective_n_jobs, parallel_config
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
