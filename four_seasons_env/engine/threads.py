"""Threads that share the games of a batch: each takes a few games, until none are left.

To wake a thread takes 20 to 100 microseconds. So a thread that has finished looks for the next call
for a while before it sleeps, and each that wakes begins by waking two others. None of them waits
for the GIL, which they could take only one after another: they run compiled code from their start
to their end. And the caller does not wait for threads that sleep: it plays, and one that wakes late
finds less to do, or nothing. Numba's own parallel loops would need a threading layer that aborts
the process when two threads of Python enter it.
"""

from __future__ import annotations

import contextlib
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numpy.typing import NDArray

from four_seasons_env.engine.jit import external, inlined, jit, merged
from four_seasons_env.engine.masks import intrinsic

_LINE = 8
"""Numbers of a line of a board, which is as long as a line of a processor's cache: threads that
write into one line wait for each other."""

_CALL, _WHAT, _ACTIONS, _OUT = range(4)
"""On the first line of a board: the number of the present call, or `_END`; what it asks for."""

_FINISHED, _SUM, _GAMES = range(_LINE, _LINE + 3)
"""On the second line: games finished, the sum of all results, games in all."""

_TAKEN, _LOCK = range(2 * _LINE, 2 * _LINE + 2)
"""On the line of each thread, from the third on: how many parts of its share are taken, and the
lock on which it sleeps. Thread 0 is the caller, which nobody wakes."""

_END = -1

_BY_OTHERS = 1 << 32
"""A part that another thread has taken adds this to its share's number; its owner adds 1."""

_SPINS = 1_000_000
"""Looks at a board: 0.2 to 1 ms, a few times as long as it takes to wake."""

_FOR_EVER, _AT_ONCE, _A_WHILE = -1, 0, 100  # microseconds

_new_lock = external("PyThread_allocate_lock", types.uintp())
_free_lock = external("PyThread_free_lock", types.void(types.uintp))
_acquire = external(
    "PyThread_acquire_lock_timed", types.int32(types.uintp, types.int64, types.int32)
)
_release = external("PyThread_release_lock", types.void(types.uintp))


def _atomic(operation: str) -> Callable[..., Any]:
    """A function of the address of an int64 and a number, which no other thread interrupts."""

    def of(typing_context: Any, address: Any, number: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], context.get_value_type(types.CPointer(types.int64)))
            return builder.atomic_rmw(operation, pointer, args[1], ordering="seq_cst")

        return types.int64(types.uintp, types.int64), generate

    return intrinsic(of)


_add, _set = _atomic("add"), _atomic("xchg")  # both return the number before


@intrinsic
def _read(typing_context: Any, address: Any) -> Any:
    """The int64 at an address, as another thread may have written it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = context.get_value_type(types.CPointer(types.int64))
        return builder.load_atomic(builder.inttoptr(args[0], pointer), "acquire", 8)

    return types.int64(types.uintp), generate


@intrinsic
def _pointer(typing_context: Any, address: Any, like: Any) -> Any:
    """An address as a pointer to elements like those of an array."""
    kind = types.CPointer(like.dtype)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.uintp, like), generate


@inlined
def _at(board, number):
    """The address of a number of a board."""
    return np.uintp(board.ctypes.data + 8 * number)


@merged
def _sleep(board, own, microseconds):
    """Sleep until somebody wakes this thread, for so many microseconds at most."""
    _acquire(np.uintp(board[_LOCK + _LINE * own]), microseconds, 0)


@merged
def _wake(board, own):
    """Wake two other threads, or keep them awake the next time that they are about to sleep.

    Only a lock that is held may be released. It is: by this thread, or by the one that is asleep or
    about to be. In the meantime that one can at most wake once too often.
    """
    for thread in range(2 * own + 1, min(2 * own + 3, len(board) // _LINE - 2)):
        lock = np.uintp(board[_LOCK + _LINE * thread])
        _acquire(lock, _AT_ONCE, 0)
        _release(lock)


@merged
def next_call(board, own, games, call):
    """Wait for the next call, or begin it in the caller; and wake two other threads.

    Args:
        board: of the threads.
        own: the thread's number.
        games: number of games in all.
        call: number of the last call; 0 for none.

    Returns:
        The number of the call; -1 for the end.
    """
    if own == 0:
        board[_GAMES] = games
        _set(_at(board, _FINISHED), 0)
        _set(_at(board, _SUM), 0)
        # Last: from now on, threads may take games, also one that is still on its way to an earlier
        # call. It plays in this one. When it then sees the new number, it finds no games left.
        for taken in range(_TAKEN, len(board), _LINE):
            _set(_at(board, taken), 0)
        call = _add(_at(board, _CALL), 1) + 1
    else:
        looks, last = 0, call
        while call == last:
            if looks == _SPINS:
                _sleep(board, own, _FOR_EVER)
                looks = 0
            call = _read(_at(board, _CALL))
            looks += 1
    _wake(board, own)
    return call


@merged
def take(board, own, games, size):
    """Take games that no thread has taken: of the thread's own share, or else of another's.

    A thread's own games are in its processor's cache from the last call, and to fetch them takes
    longer than to play them. So it takes its own from the first on and another's from the last on,
    which are about the same in each call, and leaves the last eighth to an owner that has begun.

    Args:
        board: of the threads.
        own: the thread's number.
        games: number of games in all.
        size: the most to take.

    Returns:
        The first game, and the one after the last. If none are left, both are ``games``.
    """
    shares = len(board) // _LINE - 2
    for k in range(shares):
        share = (own + k) % shares
        first, end = share * games // shares, (share + 1) * games // shares
        parts = (end - first + size - 1) // size
        address = _at(board, _TAKEN + _LINE * share)
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


@inlined
def asked(board, like):
    """What the present call asks for, its actions, and its array for observations.

    Only for a thread that has taken games and not finished them: until then the call goes on.

    Args:
        board: of the threads.
        like: array of the shape and dtype of the observations.
    """
    actions = carray(_pointer(np.uintp(board[_ACTIONS]), board), (len(like),))
    return board[_WHAT], actions, carray(_pointer(np.uintp(board[_OUT]), like), like.shape)


@merged
def finish(board, own, size, result):
    """Report that ``size`` games are finished, with a number to add to the sum of all results.

    The caller waits here until all games are. In compiled code Ctrl-C does not interrupt it, so
    the arrays of a call outlive it.
    """
    _add(_at(board, _SUM), result)
    _add(_at(board, _FINISHED), size)
    looks = 0
    while own == 0 and _read(_at(board, _FINISHED)) < board[_GAMES]:
        looks += 1
        if looks >= _SPINS:
            _sleep(board, own, _A_WHILE)


@jit
def _make_locks(board):
    """Give each thread a lock that is held."""
    for thread in range(len(board) // _LINE - 2):
        board[_LOCK + _LINE * thread] = _new_lock()
        _sleep(board, thread, _AT_ONCE)


@jit
def _free(locks):
    """Free locks that nobody uses any more."""
    for lock in locks:
        _free_lock(np.uintp(lock))


@jit
def _end(board):
    """End all threads but the caller, each as soon as it has finished what it has taken."""
    _set(_at(board, _CALL), _END)
    _wake(board, 0)


def cores() -> int:
    """How many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class Threads:
    """Threads for calls of a compiled function, in which they share the games of a batch.

    They start after the first call, also in a forked process, and end with this object. No two
    threads of Python may call it at once.

    Attributes:
        count: threads in all, with the caller's.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._process = 0
        self._owns: Sequence[Any] = ()

    def call(
        self,
        function: Callable[..., None],
        owns: Sequence[Any],
        what: int,
        actions: NDArray[np.int64],
        out: NDArray[Any],
    ) -> int:
        """Take one action in each game, with the same ``function`` in each thread.

        Args:
            function: called as ``function(own, board, number)`` with the number of the thread. It
                waits for a call, and takes games and finishes them until none are left
                (`next_call`, `take`, `asked`, `finish`); and so on until the end, but in the caller
                only once.
            owns: the first argument of each thread; for another object there are new threads.
            what: passed on.
            actions: int64 (n,) and contiguous, passed on by its address.
            out: contiguous, of the shape and dtype that `asked` is told; passed on by its address.

        Returns:
            The sum of the results.
        """
        is_new = self._process != os.getpid() or self._owns is not owns
        if is_new:
            self._renew()
        board = self._board
        board[_WHAT], board[_ACTIONS], board[_OUT] = what, actions.ctypes.data, out.ctypes.data
        function(owns[0], board, 0)
        if is_new:  # not before: the caller compiles the function, which Ctrl-C can interrupt
            with contextlib.suppress(RuntimeError):  # a thread cannot start: the others play all
                for i in range(1, self.count):
                    threading.Thread(target=function, args=(owns[i], board, i), daemon=True).start()
            self._owns = owns
        return int(board[_SUM])

    def _renew(self) -> None:
        """End the threads, and make a new board for others."""
        self.close()
        board = np.zeros((2 + self.count) * _LINE, np.int64)
        _make_locks(board)
        # Whoever uses a lock holds the board, too: this runs in the thread that is the last to end.
        # Nothing runs at the exit of Python, where threads sleep on.
        weakref.finalize(board, _free, board[_LOCK::_LINE].copy()).atexit = False
        end = weakref.finalize(self, _end_in, process := os.getpid(), board)
        end.atexit = False
        self._board, self._end, self._process = board, end, process

    def close(self) -> None:
        """End the threads, if there are any; another call starts new ones."""
        self._owns = ()  # first: each line may be the last before Ctrl-C
        if self._process:
            _end_in(self._process, self._board)
            self._end.detach()


def _end_in(process: int, board: NDArray[np.int64]) -> None:
    """End the threads of a process.

    A process forked from it has none, and a copy of a lock may have been caught half taken.
    """
    if process == os.getpid():
        _end(board)
