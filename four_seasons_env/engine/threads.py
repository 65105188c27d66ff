"""Threads that share the games of a batch: each takes a few games, until none are left.

To wake a thread takes 20 to 100 microseconds, so the caller does not wait for that: it plays, and a
thread that wakes late finds less to do, or nothing. Numba's own parallel loops would need a
threading layer that aborts the process when two threads of Python enter it.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.masks import intrinsic

_FINISHED, _SUM, _TAKEN = range(3)
"""The numbers of a ticket: games finished, the sum of all results, and from the third on the games
taken of each thread's share. Each call has a ticket of its own, so a thread that wakes after its
end finds it used up."""

_SPINS = 2000  # looks at a ticket, about 10 microseconds


@intrinsic
def _add(typing_context: Any, address: Any, number: Any) -> Any:
    """Add to the int64 at an address in one step, also for other threads; returns it as it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = context.get_value_type(types.CPointer(types.int64))
        return builder.atomic_rmw(
            "add", builder.inttoptr(args[0], pointer), args[1], ordering="seq_cst"
        )

    return types.int64(types.uintp, types.int64), generate


@jit
def take(ticket, own, games, size):
    """Take games that no thread has taken: of the thread's own share, or else of another's.

    A thread's own games are in its processor's cache from the last call.

    Args:
        ticket: of the call.
        own: the thread's number.
        games: number of games in all.
        size: the most to take.

    Returns:
        The first game, and the one after the last. If none are left, both are ``games``.
    """
    shares = len(ticket) - _TAKEN
    for k in range(shares):
        share = (own + k) % shares
        end = (share + 1) * games // shares
        taken = _add(np.uintp(ticket.ctypes.data + 8 * (_TAKEN + share)), size)
        first = share * games // shares + taken
        if first < end:
            return first, min(first + size, end)
    return games, games


@jit
def finish(ticket, size, result):
    """Report that ``size`` games are finished, with a number to add to the sum of all results."""
    _add(np.uintp(ticket.ctypes.data + 8 * _SUM), result)
    _add(np.uintp(ticket.ctypes.data + 8 * _FINISHED), size)


@jit
def _is_finished(ticket, games):
    """Whether all games are finished; looks for a while."""
    for _ in range(_SPINS):
        if _add(np.uintp(ticket.ctypes.data + 8 * _FINISHED), 0) >= games:
            return True
    return False


def cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class Threads:
    """Threads for calls of compiled functions that release the GIL.

    They start with the first call, also in a forked process, and end with this object.

    Attributes:
        count: threads in all, with the caller's.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._process = 0
        self._end: Callable[[], object] = lambda: None

    def call(
        self, function: Callable[..., None], owns: Sequence[Any], games: int, *arguments: Any
    ) -> int:
        """Call ``function(own, ticket, number, *arguments)`` in each thread.

        Args:
            function: takes games and finishes them until none are left (`take`, `finish`).
            owns: the first argument of each thread.
            games: number of games.
            *arguments: the same for all threads.

        Returns:
            The sum of the results.
        """
        if self._process != os.getpid():
            self._start()
        ticket = np.zeros(_TAKEN + self.count, np.int64)
        self._task[:] = function, owns, ticket, arguments
        for wake in self._wakes:
            if wake.locked():  # else it is about to look for a task
                wake.release()
        try:
            function(owns[-1], ticket, self.count - 1, *arguments)
        finally:  # after Ctrl-C, too
            while ticket.any() and not _is_finished(ticket, games):
                time.sleep(0)  # lets other threads of Python run
            self._task.clear()  # else it would keep the arrays
        return int(ticket[_SUM])

    def _start(self) -> None:
        self._process = os.getpid()
        self._task: list[Any] = []
        self._wakes = [threading.Lock() for _ in range(self.count - 1)]
        for i, wake in enumerate(self._wakes):
            wake.acquire()
            threading.Thread(target=_serve, args=(i, wake, self._task), daemon=True).start()
        self._end = weakref.finalize(self, _end, self._wakes, self._task)

    def close(self) -> None:
        """End the threads, if there are any."""
        self._end()
        self._process = 0


def _serve(i: int, wake: threading.Lock, task: list[Any]) -> None:
    """The life of a thread: do its part of a task each time that it is woken."""
    while True:
        wake.acquire()
        match tuple(task):
            case function, owns, ticket, arguments:
                function(owns[i], ticket, i, *arguments)
                del function, owns, ticket, arguments
            case (None,):
                return


def _end(wakes: Sequence[threading.Lock], task: list[Any]) -> None:
    """Wake threads to end them."""
    task[:] = [None]
    for wake in wakes:
        if wake.locked():
            wake.release()
