"""The planner's search: the positions before the next card is turned, by what they are worth to it.

The position that its network values most is expanded next, until all are or a limit is reached.
Once nothing is hidden, `find_win` looks for a win instead, by the hand-made score of the
environment. Moves have a price: games have a limit of moves.
"""

from __future__ import annotations

import numpy as np

from agents.planner.value_network import value_of
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import nothing_hidden, play
from four_seasons_env.next_deal.enumeration import ADVICE, find_win
from four_seasons_env.next_deal.reach import (
    NOT_YET,
    UNTIL_HIDDEN,
    WON,
    begin,
    expand_best,
    goes_on,
    wait,
)

_PRICE = np.float32(0.0002)
"""Of a move, in value."""


@jit
def _value(row, rule, network, work, search):
    """Value a position, and price the moves that lead there."""
    if search.values[row] != WON:
        search.values[row] = value_of(search.positions[row], rule, network, work)
    search.worths[row] = search.values[row] - _PRICE * np.float32(search.depths[row])


@jit
def reach(g, rule, free, network, work, search, most, expansions):
    """Search what can be reached from a position before a hidden card is turned.

    Args:
        free: the rule set with `spaces="optional"`, under which moves turn no cards.
        network: values positions about to turn a card.
        most: positions to hold at most.
        expansions: positions to expand at most.

    Returns:
        The number of the position to decide for, and how many there are. Position 0 is ``g``.
    """
    begin(g, rule, UNTIL_HIDDEN, most, expansions, search)
    _value(0, rule, network, work, search)
    wait(0, search)
    best = 0
    while goes_on(search):
        first, end = expand_best(rule, free, UNTIL_HIDDEN, search)
        for new in range(first, end):
            _value(new, rule, network, work, search)
            if search.values[new] == WON:
                return new, new + 1
            if search.turns[new] <= 0:
                wait(new, search)
            stops, stopped = search.turns[new] != NOT_YET, search.turns[best] != NOT_YET
            if stops and (not stopped or search.worths[new] > search.worths[best]):
                best = new
    return best, search.state[0].count


@jit
def reach_or_win(g, rule, free, network, work, search, limits):
    """`reach` while cards are hidden, `find_win` once none are.

    Args:
        limits: positions to hold and to expand, while cards are hidden and once none are.

    Returns:
        The number of the position to decide for, and whether nothing was hidden.
    """
    if nothing_hidden(g, rule):
        return find_win(g, rule, ADVICE, limits[2], limits[3], search), True
    best, _ = reach(g, rule, free, network, work, search, limits[0], limits[1])
    return best, False


@jit
def turn(search, chosen, rule, game):
    """Play a decision in a GAME array of one, up to and with the move that turns a hidden card."""
    move = search.turns[chosen]
    game[0] = search.positions[search.parents[chosen] if move > 0 else chosen]
    play(game[0], rule, move)
