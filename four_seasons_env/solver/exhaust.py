"""Complete depth-first search of the game itself, for small games and late positions.

The search meets every position that can be reached once (recognized by `hashing.position_keys`).
Safe cards go up at once, and lost positions are not expanded. If no position is won, the game is
lost. Games of 52 cards have far too many positions at their start. Near their end, or with fewer
cards, this search decides games that beams cannot decide because they leave positions out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import lowest
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.rules import Rules
from four_seasons_env.solver.features import WEIGHTS, score_position
from four_seasons_env.solver.hash_table import is_new, rehash
from four_seasons_env.solver.safe_moves import play_safe

EXHAUST = np.dtype([("waiting", "i8"), ("seen", "i8"), ("positions", "i8"), ("status", "i8")])
"""How many positions wait, are in the table, and have been expanded; and the status."""
SEARCHING, WINNABLE, LOST, FULL = range(4)
_1, _3 = np.uint64(1), np.uint64(3)


@jit
def search(states, rules, frames, weights, stack, table, words, quota):
    """Continue a search and set its status when it ends.

    Args:
        states: EXHAUST (1,).
        stack: GAME: positions that wait; the last comes next.
        table: uint64 (a power of two): keys of the positions seen, 0 where there is none.
        words: a row of mask words.
        quota: positions to expand, at most.
    """
    state, rule, frame = states[0], rules[0], frames[0]
    for _ in range(quota):
        if state.waiting == 0:
            state.status = LOST
            return
        most = rule.actions  # successors of a position
        if 2 * (state.seen + most) > len(table) or state.waiting + most > len(stack):
            state.status = FULL
            return
        state.waiting -= 1
        state.positions += 1
        here = stack[state.waiting]
        if kernel.is_won(here, rule):
            state.status = WINNABLE
            return
        kernel.legal(here, rule, True, words)
        spare = len(stack) - 1  # the position is kept there while others take its place
        stack[spare] = here
        for w in range(len(words)):
            flags = words[w]
            while flags:
                move = 8 * w + np.int64(lowest(flags) >> _3)
                flags &= flags - _1
                stack[state.waiting] = stack[spare]
                g = stack[state.waiting]
                kernel.play(g, rule, move)
                play_safe(g, rule, frame)
                key, _ = position_keys(g, rule)
                if is_new(table, max(key, _1)):
                    state.seen += 1
                    _, is_lost = score_position(g, rule, frame, weights)
                    if not is_lost:
                        state.waiting += 1


class Exhaustive:
    """One such search, which runs in slices.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        memory: bytes that its arrays may take.
    """

    def __init__(self, record: Any, rules: Rules, frames: NDArray[np.void], memory: int) -> None:
        self._rules = kernel.compile_rules(rules)
        self._frames = frames
        self._memory = memory
        self._words = kernel.new_masks(1, rules)[0][0]
        self._table = np.zeros(2**12, np.uint64)
        self._stack = np.zeros(2**10, kernel.GAME)
        self._stack[0] = record
        self.states = np.zeros(1, EXHAUST)
        self.states["waiting"] = 1

    @property
    def positions(self) -> int:
        """Positions expanded so far."""
        return int(self.states["positions"][0])

    @property
    def status(self) -> int:
        """SEARCHING, or how it ended: WINNABLE, LOST (proved), FULL (no memory)."""
        return int(self.states["status"][0])

    def go_on(self, quota: int) -> None:
        """Continue the search; expand ``quota`` positions at most."""
        search(
            self.states, self._rules, self._frames, WEIGHTS, self._stack, self._table, self._words,
            quota,
        )  # fmt: skip
        if self.status == FULL and 3 * self._table.nbytes + 2 * self._stack.nbytes <= self._memory:
            self.grow()
            self.states["status"] = SEARCHING

    def grow(self) -> None:
        """Double the table of positions seen, or the stack where that is full."""
        if 4 * self.states["waiting"][0] > len(self._stack):
            stack = np.zeros(2 * len(self._stack), kernel.GAME)
            stack[: len(self._stack)] = self._stack
            self._stack = stack
        if 4 * self.states["seen"][0] > len(self._table):
            table = np.zeros(2 * len(self._table), np.uint64)
            rehash(self._table, table)
            self._table = table
