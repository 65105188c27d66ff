"""How many cores there are, and a pool of threads that share the games of a batch."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, starmap
from pathlib import Path
from threading import Lock, main_thread
from typing import Any

_LIMITS = {"": ["cpu.max"], "cpu": ["cpu.cfs_quota_us", "cpu.cfs_period_us"]}  # v2, v1


def cores(root: Path = Path("/")) -> int:
    """How many cores this process may use, by its affinity and the quotas of its cgroups."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    # The smallest of these counts.
    limits: list[float] = [len(affinity(0)) if affinity else os.cpu_count() or 1]
    cgroups = root / "proc/self/cgroup"
    for line in cgroups.read_text(encoding="utf-8").splitlines() if cgroups.is_file() else ():
        _, controllers, path = line.split(":", 2)
        for controller in _LIMITS.keys() & controllers.split(","):
            own = root / "sys/fs/cgroup" / controller / path.lstrip("/")
            # Up to the top: a container has only that, though the path may be the one outside.
            for folder in (own, *own.parents):
                try:
                    texts = [
                        (folder / name).read_text(encoding="utf-8") for name in _LIMITS[controller]
                    ]
                    quota, period = map(float, " ".join(texts).split())
                    limits += [quota / period] if quota > 0 else []  # -1: no limit
                except (OSError, ValueError):  # no such files, or "max": no limit
                    continue
    return max(int(min(limits)), 1)


class Threads:
    """A pool of ``count`` threads, the caller's included, for compiled code without the GIL."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._process = 0
        self._pool: ThreadPoolExecutor | None = None

    def call(self, steps: Sequence[Callable[[int, int], int]], games: int) -> int:
        """Play all games: each function plays games first to last - 1 in a thread of its own.

        Returns the sum of their results. After Ctrl-C, it first plays to the end (not after two
        signals of different kinds at once). Where no thread can start, the caller's goes on alone,
        with a warning.
        """
        pool = self._pool
        # A forked process has no threads, and none may start once the main thread has ended.
        if not pool or self._process != os.getpid() or not main_thread().is_alive():
            result = steps[0](0, games)  # this may compile, which Ctrl-C may interrupt
            self._pool, self._process = ThreadPoolExecutor(self.count - 1), os.getpid()
            return result
        # 1. Four parts for each thread, of games that lie together: a thread that wakes late leaves
        # some to the others. Not more, because each part costs a call from Python.
        parts = list(pairwise(games * i // (4 * self.count) for i in range(4 * self.count + 1)))
        shares = [deque[Any](parts[i : i + 4]) for i in range(0, len(parts), 4)]
        busy, results = [Lock() for _ in steps], [list[int]() for _ in steps]

        def work(thread: int) -> None:
            with busy[thread]:
                # First its own share, which the core's cache may hold. Others may wake late.
                for share in shares[thread:] + shares[:thread]:
                    share.appendleft(None)  # the end
                    # In one instruction of Python: between two, Ctrl-C would lose a part.
                    results[thread].extend(starmap(steps[thread], iter(share.pop, None)))

        # 2. Play. Ctrl-C may come at any line, and a thread may fail to start: then the pool is
        # closed, and this thread plays what is left, so that no batch is ever half a step ahead.
        interrupts, failures = list[BaseException](), list[RuntimeError]()
        while True:
            try:
                if interrupts or failures:
                    self.close()
                else:
                    for thread in range(1, self.count):
                        pool.submit(work, thread)
                for thread in range(self.count):
                    work(thread)  # after 0, the caller's, this waits for the others
                break
            except RuntimeError as error:  # no thread can start
                failures.append(error)
            except BaseException as error:  # Ctrl-C, maybe again
                interrupts.append(error)
        # 3. Every part has a result, or a thread has failed.
        if interrupts:
            raise interrupts[0]
        if sum(map(len, results)) < len(parts):
            raise RuntimeError("a thread failed") from next(iter(failures), None)
        if failures:
            warnings.warn(
                f"one thread plays all games, because no other can start: {failures[0]}",
                RuntimeWarning,
                stacklevel=5,
            )
        return sum(map(sum, results))

    def close(self) -> None:
        """End the threads, if there are any; another call starts new ones."""
        pool, self._pool = self._pool, None
        if pool:
            pool.shutdown(wait=False)
