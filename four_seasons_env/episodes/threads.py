"""`Threads`: compiled calls in several threads, each for its share of a batch's games."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import Bundle


class Threads:
    """Threads that share the games of a batch.

    Games do not depend on each other, so the results do not depend on the number of threads.

    Attributes:
        shares: each thread's games.

    Args:
        count: number of threads.
        games: number of games.
    """

    def __init__(self, count: int, games: int) -> None:
        # A share is a run of neighbouring games, so threads share cache lines only at its edges.
        edges = np.linspace(0, games, count + 1).astype(int).tolist()
        self.shares = [slice(first, last) for first, last in pairwise(edges)]
        self._pool: ThreadPoolExecutor | None = None
        self._process = 0

    def call(
        self, function: Callable[..., int | None], bundles: Sequence[Bundle], *arrays: NDArray[Any]
    ) -> int:
        """Call a function once for each share.

        Args:
            function: takes a bundle and the arrays.
            bundles: one for each share.
            *arrays: of shape (n, ...).

        Returns:
            The sum of what the calls return, if these are numbers.
        """
        first, *others = [
            (bundle, *[array[share] for array in arrays])
            for bundle, share in zip(bundles, self.shares, strict=True)
        ]
        # The calling thread works on the first share; it would only wait otherwise. The compiled
        # functions release the GIL.
        pending = [self._started().submit(function, *each) for each in others]
        return (function(*first) or 0) + sum(each.result() or 0 for each in pending)

    def _started(self) -> ThreadPoolExecutor:
        if self._pool is None or self._process != os.getpid():  # a fork has no threads
            self._pool = ThreadPoolExecutor(len(self.shares) - 1)
            self._process = os.getpid()
        return self._pool

    def close(self) -> None:
        """End the threads, if there are any."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None
