"""No position twice: a guard for greedy play, which could shuttle a card to and fro for ever.

A player that leaves nothing to chance plays the same move when it meets a position again, until its
moves run out. At evaluation it is kept from any move that leads back to a position of the current
run of reversible moves, that is since the last card from the waste, from the stock or to a
foundation. No game is lost by it: whatever can be won from a position could be won when it was
there first. It is no rule of the game, and no part of training.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, play
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE


@jit
def _is_reversible(rule, move):
    """Whether a move could be taken back by other moves: cards of the waste and stock never are."""
    source = rule.source[move]
    if source in (WASTE, STOCK):
        return False
    return rule.target[move] != FOUNDATION or rule.worrying_back


@jit
def _forbid(games, rows, rules, masks, seen, counts, scratch):
    """Note each position, and take from its mask the moves back to noted ones, if others are left.

    Args:
        games: GAME (n,).
        rows: int64 (n,), each game's row in ``seen`` and ``counts``.
        rules: RULE (1,).
        masks: int8 (n, A), written to.
        seen: uint64 (N, M), keys of the current run of reversible moves.
        counts: int64 (N,), how many there are.
        scratch: GAME (1,).
    """
    rule = rules[0]
    for i in range(len(games)):
        row = rows[i]
        seen[row, counts[row]] = position_keys(games[i], rule)[0]
        counts[row] += 1
        if counts[row] == 1:
            continue
        left = 0
        for move in range(masks.shape[1]):
            if masks[i, move] and _is_reversible(rule, move):
                scratch[0] = games[i]
                play(scratch[0], rule, move)
                key = position_keys(scratch[0], rule)[0]
                for k in range(counts[row]):
                    if seen[row, k] == key:
                        masks[i, move] = -1
                        break
            left += masks[i, move] == 1
        for move in range(masks.shape[1]):
            if masks[i, move] == -1:
                masks[i, move] = left == 0


@jit
def _forget(moves, rows, rules, counts):
    """Forget the run after a move that cannot be taken back."""
    for i in range(len(moves)):
        if not _is_reversible(rules[0], moves[i]):
            counts[rows[i]] = 0


class RepeatGuard:
    """Keeps games played side by side from going round.

    Args:
        count: number of games.
        rules: the rule set, as `kernel.compile_rules` makes it.
        max_moves: moves of a game at most.
    """

    def __init__(self, count: int, rules: NDArray[np.void], max_moves: int) -> None:
        self._rules = rules
        self._seen = np.zeros((count, max_moves + 1), np.uint64)
        self._counts = np.zeros(count, np.int64)
        self._scratch = np.zeros(1, GAME)

    def forbid(self, games: NDArray[Any], rows: NDArray[np.int64], masks: NDArray[np.int8]) -> None:
        """Take the moves that lead back from the masks; rows are the games' numbers, int64 (n,).

        Where every legal move leads back, all stay.
        """
        _forbid(games, rows, self._rules, masks, self._seen, self._counts, self._scratch)

    def played(self, rows: NDArray[np.int64], moves: NDArray[np.int64]) -> None:
        """Take note of the moves that are played in the games ``rows``."""
        _forget(moves, rows, self._rules, self._counts)
