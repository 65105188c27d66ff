"""Looking over the next cards: what a decision is worth once they are seen.

The value of a position about to deal is a guess by a network. It can be looked behind: turn the
next card in imagined worlds, decide again, go on like that for a few cards, and average (with one
card, expectimax; to the end of the stock, rollouts of the planner). All candidates face the same
worlds. Half of them, those that do worst so far, drop out after each round (sequential halving:
Karnin, Koren and Somekh 2013).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.planner.reach import reach_or_win, turn
from agents.search.determinization import imagine
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, play
from four_seasons_env.next_deal.enumeration import choose as choose_stops
from four_seasons_env.next_deal.reach import NOT_YET, WON

CANDIDATES = 16
"""At most."""


class Outlook(NamedTuple):
    """Buffers of a look ahead."""

    game: NDArray[Any]  # GAME (1,) that is played on
    chosen: NDArray[np.int64]  # (CANDIDATES,) their numbers in the search, best first
    totals: NDArray[np.float64]  # (CANDIDATES,) sum of what they were worth


def new_outlook() -> Outlook:
    """Buffers for `look_ahead`."""
    return Outlook(
        np.zeros(1, GAME),
        np.zeros(CANDIDATES, np.int64),
        np.zeros(CANDIDATES, np.float64),
    )


@jit
def choose(search, count, most, margin, chosen):
    """Write the numbers of the positions of most worth, best first, and return how many.

    Args:
        most: of them at most, and none worth less than the best by more than ``margin``.
    """
    found = choose_stops(count, search, chosen, most, False)
    while found > 1 and search.worths[chosen[found - 1]] < search.worths[chosen[0]] - margin:
        found -= 1
    return found


@jit
def _play_on(game, rule, free, network, work, search, limits, cards):
    """Play a GAME array of one on for so many cards, and return what it is worth then."""
    while True:
        best, over = reach_or_win(game[0], rule, free, network, work, search, limits)
        if search.values[best] == WON:
            return 1.0
        if over or search.turns[best] == NOT_YET:
            return 0.0
        cards -= 1
        if cards == 0:
            return np.float64(search.worths[best])
        turn(search, best, rule, game)


@jit
def look_ahead(rule, free, network, work, search, count, best, seed, inner, limits, outlook, plan):
    """Decide among the best positions of a search by looking over the next cards.

    Args:
        search: what `reach` has found from a forgotten position (`agents.search.determinization`),
            ``count`` positions, ``best`` of which it has decided for.
        seed: uint64, of the worlds.
        inner: buffers for the searches in thought, and ``limits`` as in `self_play.play_games`.
        plan: candidates at most; those worth so much less than the best are none; worlds in the
            first round, of which each later one has twice as many; cards to turn in each.

    Returns:
        The number of the position to decide for.
    """
    most, margin, worlds, cards = plan
    chosen, totals, game = outlook.chosen, outlook.totals, outlook.game
    left = choose(search, count, most, margin, chosen)
    chosen[0] = chosen[0] if left else best
    totals[:left] = 0
    number = 0
    while left > 1:
        for _ in range(worlds):
            for i in range(left):
                candidate = chosen[i]
                move = search.turns[candidate]
                game[0] = search.positions[search.parents[candidate] if move > 0 else candidate]
                imagine(game[0], rule, seed + np.uint64(number), number)
                play(game[0], rule, move)
                totals[i] += _play_on(game, rule, free, network, work, inner, limits, cards)
                totals[i] += np.float64(search.worths[candidate] - search.values[candidate])
            number += 1
        for i in range(1, left):
            at = i
            while at > 0 and totals[at - 1] < totals[at]:
                totals[at - 1], totals[at] = totals[at], totals[at - 1]
                chosen[at - 1], chosen[at] = chosen[at], chosen[at - 1]
                at -= 1
        left = left // 2
        worlds *= 2
    return chosen[0]
