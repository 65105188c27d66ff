"""`shorten`: a simple pass that removes moves from a solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.game import Game


@jit
def _wins(games, rules, moves, words):
    """Whether moves, played on a copy of a game, are all legal and win."""
    copy = games.copy()
    g, rule = copy[0], rules[0]
    for move in moves:
        kernel.legal(g, rule, False, words)
        if not (words[move >> 3] >> np.uint64(8 * (move & 7))) & np.uint64(1):
            return False
        kernel.play(g, rule, move)
    return kernel.is_won(g, rule)


def _shorter(
    moves: list[Move], i: int, by_places: dict[tuple[int, int], Move]
) -> Iterator[list[Move]]:
    """Lines without move i: without it alone, or joined with the next move from its target."""
    move = moves[i]
    yield moves[:i] + moves[i + 1 :]
    for j in range(i + 1, len(moves)):
        if moves[j].source == move.target:
            between = moves[i + 1 : j]
            yield moves[:i] + between + moves[j + 1 :]
            direct = by_places.get((move.source, moves[j].target))
            if direct:
                yield [*moves[:i], direct, *between, *moves[j + 1 :]]
                yield [*moves[:i], *between, direct, *moves[j + 1 :]]
            return


def shorten(game: Game, moves: Sequence[Move]) -> list[Move]:
    """A solution without some of its unnecessary moves.

    A move is removed, alone or with the next move from its target, or the two are replaced by one
    direct move, if the remaining moves still win. This is repeated until it finds nothing more.
    """
    rules = kernel.compile_rules(game.rules)
    words = kernel.new_masks(1, game.rules)[0][0]
    games = game.record.copy()
    by_places = {(move.source, move.target): move for move in all_moves(game.rules)}
    best = list(moves)
    found = True
    while found:
        found = False
        i = 0
        while i < len(best):
            for line in _shorter(best, i, by_places):
                numbers: NDArray[np.int64] = np.array([move.number for move in line], np.int64)
                if _wins(games, rules, numbers, words):
                    best = line
                    found = True
                    break
            else:
                i += 1
    return best
