"""Games that the planner plays against itself, and what it is to learn from them.

Each decision of a game leaves a position about to deal. Its target is the lambda-return: the
values of the positions that followed, the later ones weighing less and less, and at the end whether
the game was won.
"""

from __future__ import annotations

import numpy as np

from agents.planner.reach import reach, turn
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import nothing_hidden, start
from four_seasons_env.next_deal.reach import NOT_YET, WON

LONGEST = 64
"""More decisions than a game has: one a card of the stock, and the last."""


@jit
def play_games(deals, rule, free, network, work, search, limits, trace, game, positions, targets):
    """Play deals, and write the positions that were decided for and their targets.

    Args:
        free: see `reach`.
        limits: positions and openings of a search, while cards are hidden and once none are.
        trace: lambda, float32.
        game: GAME array of one.
        positions: GAME array, and ``targets``, float32, with room for `LONGEST` a deal.

    Returns:
        How many positions were written, and how many games were won.
    """
    written = won_games = 0
    for deal in deals:
        start(game[0], rule, deal)
        first = written
        while True:
            over = nothing_hidden(game[0], rule)
            most, openings = (limits[2], limits[3]) if over else (limits[0], limits[1])
            best, _ = reach(game[0], rule, free, network, work, search, most, openings)
            won = search.values[best] == WON
            over = over or won or search.turns[best] == NOT_YET
            positions[written] = game[0] if over else search.positions[best]
            targets[written] = np.float32(won) if over else search.values[best]
            written += 1
            if over:
                break
            turn(search, best, rule, game)
        won_games += won
        following = np.float32(won)
        for i in range(written - 1, first - 1, -1):
            value = targets[i]
            targets[i] = following
            following = trace * following + (np.float32(1) - trace) * value
    return written, won_games
