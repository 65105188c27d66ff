"""Threads that share the games of a batch: each takes a few games, until none are left.

To wake a thread takes 20 to 100 microseconds. So a thread that has finished looks for the next call
for a while before it sleeps. And the caller does not wait for threads that sleep: it plays, and one
that wakes late finds less to do, or nothing. Numba's own parallel loops would need a threading
layer that aborts the process when two threads of Python enter it.
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
from numpy.typing import NDArray

from four_seasons_env.engine.jit import inlined, jit
from four_seasons_env.engine.masks import intrinsic

_FINISHED, _SUM, _TAKEN = range(3)
"""The numbers of a ticket: games finished, the sum of all results, and from the third on how many
parts of each thread's share are taken. Each call has a ticket of its own, so a thread that wakes
after its end finds it used up."""

_BY_OTHERS = 1 << 32
"""A part that another thread has taken adds this to its share's number; its owner adds 1."""

_SPINS = 1_000_000
"""Looks at a ticket: 0.2 to 1 ms, a few times as long as it takes to wake."""


@intrinsic
def _add(typing_context: Any, address: Any, number: Any) -> Any:
    """Add to the int64 at an address in one step, also for other threads; returns it as it was."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = context.get_value_type(types.CPointer(types.int64))
        return builder.atomic_rmw(
            "add", builder.inttoptr(args[0], pointer), args[1], ordering="seq_cst"
        )

    return types.int64(types.uintp, types.int64), generate


@intrinsic
def _read(typing_context: Any, address: Any) -> Any:
    """The int64 at an address, as another thread may have written it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = context.get_value_type(types.CPointer(types.int64))
        return builder.load_atomic(builder.inttoptr(args[0], pointer), "acquire", 8)

    return types.int64(types.uintp), generate


@jit
def take(ticket, own, games, size):
    """Take games that no thread has taken: of the thread's own share, or else of another's.

    A thread's own games are in its processor's cache from the last call, and to fetch them takes
    longer than to play them. So it takes its own from the first on and another's from the last on,
    which are about the same in each call, and leaves the last eighth to an owner that has begun.

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
        first, end = share * games // shares, (share + 1) * games // shares
        parts = (end - first + size - 1) // size
        address = np.uintp(ticket.ctypes.data + 8 * (_TAKEN + share))
        if k:
            by_owner, by_others = _split(_read(address))
            if by_owner and 8 * (by_owner + by_others) > 7 * parts:
                continue
        by_owner, by_others = _split(_add(address, _BY_OTHERS if k else 1))
        if by_owner + by_others < parts:
            first += size * (parts - 1 - by_others if k else by_owner)
            return first, min(first + size, end)
    return games, games


@inlined
def _split(taken):
    """How many parts of a share its owner and the others have taken."""
    return taken % _BY_OTHERS, taken // _BY_OTHERS


@jit
def finish(ticket, size, result):
    """Report that ``size`` games are finished, with a number to add to the sum of all results."""
    _add(np.uintp(ticket.ctypes.data + 8 * _SUM), result)
    _add(np.uintp(ticket.ctypes.data + 8 * _FINISHED), size)


@jit
def _reaches(ticket, at, number):
    """Whether the number at a place of a ticket is at least ``number``; looks for a while."""
    address = np.uintp(ticket.ctypes.data + 8 * at)
    looks = 0
    while looks < _SPINS and _read(address) < number:
        looks += 1
    return looks < _SPINS


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
        self._next = self._new_ticket()
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
        ticket, self._next = self._next, self._new_ticket()
        self._task[:] = function, owns, ticket, self._next, arguments
        for wake in self._wakes:
            if wake.locked():  # else it is about to look for a task
                wake.release()
        try:
            function(owns[-1], ticket, self.count - 1, *arguments)
        finally:  # after Ctrl-C, too
            while ticket.any() and not _reaches(ticket, _FINISHED, games):
                time.sleep(0)  # lets other threads of Python run
            self._task.clear()  # else it would keep the arrays
        return int(ticket[_SUM])

    def _new_ticket(self) -> NDArray[np.int64]:
        """A ticket of which nothing is taken; the caller's share is the last."""
        return np.zeros(_TAKEN + self.count, np.int64)

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
            case function, owns, ticket, following, arguments:
                function(owns[i], ticket, i, *arguments)
                del function, owns, ticket, arguments
                _reaches(following, len(following) - 1, 1)  # the caller has taken its first games
            case (None,):
                return


def _end(wakes: Sequence[threading.Lock], task: list[Any]) -> None:
    """Wake threads to end them."""
    task[:] = [None]
    for wake in wakes:
        if wake.locked():
            wake.release()
