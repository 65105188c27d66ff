"""Many tasks at once, on this machine or a cluster: joblib with loky, Dask or Ray behind it.

A task that fails does not stop the others. What a task has done is known by its result file alone,
so that a restart skips it, whatever the backend.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from rich.progress import Progress

from four_seasons_env.rules import nearest

T = TypeVar("T")

BACKENDS = ("loky", "dask", "ray")


@dataclass
class Failure:
    """A task that failed."""

    name: str
    reason: str
    """In one line."""
    details: str
    """The traceback."""


def check_backend(backend: str, cluster: str | None) -> None:
    """Refuse a backend that there is not.

    Raises:
        ValueError: with the nearest one; also for a cluster that the backend cannot have.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}: {nearest(backend, BACKENDS)}")
    if cluster is not None and backend == "loky":
        raise ValueError("loky works on this machine alone: a --cluster is for dask or ray")


def run_tasks(
    function: Callable[[T], Any],
    tasks: Sequence[T],
    names: Sequence[str],
    backend: str = "loky",
    n_jobs: int = -1,
    cluster: str | None = None,
) -> Iterator[Failure | None]:
    """Run a function on each task, several at once.

    Args:
        function: of a module, so that workers can import it; what it returns is dropped.
        tasks: its arguments.
        names: of the tasks, for failures.
        backend: one of `BACKENDS`.
        n_jobs: how many at once; -1: one a core, or all that the cluster has.
        cluster: address of a running Dask scheduler or Ray head; without one, dask and ray start
            workers on this machine.

    Yields:
        None for each task that is done, a Failure for each that is not, as they end (with Ray: all
        at the end).

    Raises:
        ValueError: see `check_backend`.
    """
    check_backend(backend, cluster)
    if not tasks:
        return
    with _BACKENDS[backend](n_jobs, cluster):
        # Ray's backend tells nothing before all is done.
        backend_now, _ = get_active_backend()
        as_they_end = getattr(backend_now, "supports_return_generator", False)
        parallel = Parallel(return_as="generator_unordered" if as_they_end else "list")
        calls = (
            delayed(_attempt)(function, task, name) for task, name in zip(tasks, names, strict=True)
        )
        yield from parallel(calls)


def run_blocks(
    function: Callable[[T], Any],
    tasks: Sequence[T],
    names: Sequence[str],
    told: str,
    done: int = 0,
    backend: str = "loky",
    n_jobs: int = -1,
    cluster: str | None = None,
) -> None:
    """`run_tasks` under a progress bar.

    Args:
        told: what the bar says.
        done: tasks that were done before; the bar counts them.

    Raises:
        ValueError: see `check_backend`.
        RuntimeError: if a task failed, once all others are done.
    """
    total = done + len(tasks)
    failures = []
    with Progress() as bar:
        shown = bar.add_task(told, total=total, completed=done)
        for failure in run_tasks(function, tasks, names, backend, n_jobs, cluster):
            bar.advance(shown)
            if failure:
                failures.append(failure)
    if failures:
        reasons = "\n".join(f"  {each.name}: {each.reason}" for each in failures)
        raise RuntimeError(f"{len(failures)} of {total} blocks failed:\n{reasons}")


def _attempt(function: Callable[[T], Any], task: T, name: str) -> Failure | None:
    """Run a task, and make of an error something that travels."""
    try:
        function(task)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        return Failure(name, reason, traceback.format_exc())
    return None


@contextmanager
def _on_loky(n_jobs: int, _: str | None) -> Iterator[None]:
    with parallel_config(backend="loky", n_jobs=n_jobs):
        yield


@contextmanager
def _on_dask(n_jobs: int, cluster: str | None) -> Iterator[None]:
    from distributed import Client, LocalCluster

    workers = effective_n_jobs(n_jobs)
    with (
        Client(cluster)
        if cluster
        else LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None
        ).get_client() as client
    ):
        with parallel_config(backend="dask", n_jobs=-1 if cluster and n_jobs < 0 else n_jobs):
            yield
        if not cluster:
            client.shutdown()


@contextmanager
def _on_ray(n_jobs: int, cluster: str | None) -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

    if cluster:
        ray.init(address=cluster)
    else:
        ray.init(num_cpus=effective_n_jobs(n_jobs), include_dashboard=False)
    try:
        register_ray()
        with parallel_config(backend="ray", n_jobs=n_jobs):
            yield
    finally:
        ray.shutdown()


_BACKENDS: dict[str, Callable[[int, str | None], AbstractContextManager[None]]] = {
    "loky": _on_loky,
    "dask": _on_dask,
    "ray": _on_ray,
}
