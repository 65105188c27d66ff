"""`find_stops`: the positions in which the next card can be turned, for `Game.stops`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import STOCK, Move, all_moves
from four_seasons_env.positions.enumeration import ADVICE, HELD, LARGEST_SEARCH, enumerate_positions
from four_seasons_env.positions.reach import DEEPEST, UNTIL_HIDDEN, new_search, turn_at, write_path
from four_seasons_env.rules import Rules


def find_stops(
    game: NDArray[Any], rules: Rules, expansions: int
) -> list[tuple[NDArray[Any], list[Move], Move]]:
    """The positions in which the next card can be turned, the most promising first.

    Args:
        game: GAME array of shape (1,).
        rules: its rule set.
        expansions: positions that the search expands at most.

    Returns:
        For each, a GAME array of shape (1,), the moves that lead there, and the move that takes a
        card from the stock or turns the waste over.

    Raises:
        ValueError: for expansions out of range.
    """
    if check_positive("expansions", expansions) > LARGEST_SEARCH:
        raise ValueError(f"expansions must be at most {LARGEST_SEARCH:,}, not {expansions:,}")
    most = int(HELD * expansions)
    search = new_search(rules, most + 1)
    rule, free = compile_rules(rules)[0], compile_rules(rules.without_refills)[0]
    count, _ = enumerate_positions(
        game[0], rule, free, UNTIL_HIDDEN, ADVICE, most, int(expansions), search
    )
    moves = all_moves(rules)
    takes = np.array([move.source == STOCK for move in moves])
    path = np.zeros(DEEPEST + 1, np.int64)
    found = []
    rows = np.argsort(-search.worths[:count], kind="stable")
    for row, at, turn in zip(rows.tolist(), *_turns(search, rows).tolist(), strict=True):
        turns = [turn]
        if at == row:
            legal = search.masks[row].view(np.int8)[: len(moves)]
            turns = np.flatnonzero(legal & takes).tolist()
        length = write_path(at, search.parents, search.moves, path) if turns else 0
        found += [
            (search.positions[at : at + 1].copy(), [moves[i] for i in path[:length]], moves[each])
            for each in turns
        ]
    return found


@jit
def _turns(search, rows):
    """`turn_at` for each row; int64 of shape (2, n)."""
    turns = np.zeros((2, len(rows)), np.int64)
    for i in range(len(rows)):
        turns[0, i], turns[1, i] = turn_at(search, rows[i])
    return turns
