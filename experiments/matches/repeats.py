"""A guard against repeated positions, for deterministic players.

A deterministic player that reaches a position again plays the same move again, until the game is
given up. In evaluation it may not move back to a position of the current run of reversible moves:
those since the last card from the waste, from the stock or to a foundation. This loses no game: a
win from a repeated position was possible when the position first occurred. The guard is not a rule
of the game and not used in training.
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
    """Whether later moves could undo a move; cards never return to the waste or the stock."""
    source = rule.source[move]
    if source in (WASTE, STOCK):
        return False
    return rule.target[move] != FOUNDATION or rule.worrying_back


@jit
def _forbid(games, rows, rules, masks, seen, counts, scratch):
    """Store each position, and mask the moves back to stored ones if other moves remain.

    Args:
        games: GAME (n,).
        rows: int64 (n,), row of each game in ``seen`` and ``counts``.
        rules: RULE (1,).
        masks: int8 (n, A), written to.
        seen: uint64 (N, M), keys of the current run of reversible moves.
        counts: int64 (N,), number of these keys.
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
    """Forget the stored positions after a move that cannot be undone."""
    for i in range(len(moves)):
        if not _is_reversible(rules[0], moves[i]):
            counts[rows[i]] = 0


class RepeatGuard:
    """Keeps games that are played in lockstep from repeating positions.

    Args:
        count: number of games.
        rules: the rule set from `kernel.compile_rules`.
        max_moves: most moves of a game.
    """

    def __init__(self, count: int, rules: NDArray[np.void], max_moves: int) -> None:
        self._rules = rules
        self._seen = np.zeros((count, max_moves + 1), np.uint64)
        self._counts = np.zeros(count, np.int64)
        self._scratch = np.zeros(1, GAME)

    def forbid(self, games: NDArray[Any], rows: NDArray[np.int64], masks: NDArray[np.int8]) -> None:
        """Mask the moves that lead back to stored positions.

        If every legal move leads back, all stay allowed.

        Args:
            games: GAME (n,).
            rows: int64 (n,), indices of these games among all.
            masks: int8 (n, A), written to.
        """
        _forbid(games, rows, self._rules, masks, self._seen, self._counts, self._scratch)

    def played(self, rows: NDArray[np.int64], moves: NDArray[np.int64]) -> None:
        """Forget the positions of games ``rows`` after irreversible ``moves``; both int64 (n,)."""
        _forget(moves, rows, self._rules, self._counts)
