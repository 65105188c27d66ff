"""`RepeatGuard`: masks the moves that lead back to earlier positions of a game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE


class RepeatGuard:
    """Keeps games that are played in lockstep from repeating positions.

    A deterministic player that reaches a position again plays the same move again, until the game
    is given up. In evaluation and in hints it may not move back to a position of the current run of
    reversible moves: those since the last card from the waste, from the stock or to a foundation.
    This loses no game: a win from a repeated position was possible when the position first
    occurred. The guard is not a rule of the game and not used in training.

    Args:
        count: number of games.
        rules: the rule set from `kernel.compile_rules`.
        max_moves: maximum number of moves of a game.
    """

    def __init__(self, count: int, rules: NDArray[np.void], max_moves: int) -> None:
        self._rules = rules
        self._seen = np.zeros((count, max_moves + 1), np.uint64)
        self._counts = np.zeros(count, np.int64)
        self._scratch = np.zeros(1, kernel.GAME)

    def forbid(
        self, games: NDArray[Any], rows: NDArray[np.int64], masks: NDArray[np.int8]
    ) -> NDArray[np.bool_]:
        """Mask the moves that lead back to stored positions, and store these positions.

        If every legal move leads back, all stay allowed.

        Args:
            games: GAME (n,).
            rows: int64 (n,), indices of these games among all.
            masks: int8 (n, A), written to.

        Returns:
            bool (n,), whether every legal move leads back.
        """
        stuck = np.zeros(len(games), np.bool_)
        _forbid(games, rows, self._rules, masks, self._seen, self._counts, self._scratch, stuck)
        return stuck

    def played(self, rows: NDArray[np.int64], moves: NDArray[np.int64]) -> None:
        """Forget the positions of games ``rows`` after irreversible ``moves``; both int64 (n,)."""
        _forget(moves, rows, self._rules, self._counts)


@jit
def _is_reversible(rule: Any, move: int) -> bool:
    """Whether later moves could undo a move; cards never return to the waste or the stock."""
    source = rule.source[move]
    if source in (WASTE, STOCK):
        return False
    return bool(rule.target[move] != FOUNDATION or rule.worrying_back)


@jit
def _forbid(
    games: NDArray[Any],
    rows: NDArray[np.int64],
    rules: NDArray[Any],
    masks: NDArray[np.int8],
    seen: NDArray[np.uint64],
    counts: NDArray[np.int64],
    scratch: NDArray[Any],
    stuck: NDArray[np.bool_],
) -> None:
    """Store each position, and mask the moves back to stored ones if other moves remain.

    Args:
        games: GAME (n,).
        rows: (n,), row of each game in ``seen`` and ``counts``.
        rules: RULE (1,).
        masks: (n, A), written to.
        seen: (N, M), keys of the current run of reversible moves.
        counts: (N,), number of these keys.
        scratch: GAME (1,).
        stuck: (n,), becomes true for games without other moves.
    """
    rule = rules[0]
    for i in range(len(games)):
        row = rows[i]
        seen[row, counts[row]] = position_keys(games[i], rule)[0]
        counts[row] += 1
        if counts[row] == 1:
            continue  # a new run: there is nothing to return to
        # Whether a move remains is known at the end: until then, -1 marks those that lead back.
        left = 0
        for move in range(masks.shape[1]):
            if masks[i, move] and _is_reversible(rule, move):
                scratch[0] = games[i]
                kernel.play(scratch[0], rule, move)
                key = position_keys(scratch[0], rule)[0]
                for k in range(counts[row]):
                    if seen[row, k] == key:
                        masks[i, move] = -1
                        break
            left += masks[i, move] == 1
        for move in range(masks.shape[1]):
            if masks[i, move] == -1:
                masks[i, move] = left == 0
        stuck[i] = left == 0


@jit
def _forget(
    moves: NDArray[np.int64],
    rows: NDArray[np.int64],
    rules: NDArray[Any],
    counts: NDArray[np.int64],
) -> None:
    """Forget the stored positions after a move that cannot be undone."""
    for i in range(len(moves)):
        if not _is_reversible(rules[0], moves[i]):
            counts[rows[i]] = 0
