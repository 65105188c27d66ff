"""The planner's search: the positions before the next card is turned, by what they are worth to it.

The position that its network values most is expanded next, until all are or a limit is reached.
Once nothing is hidden, the same search looks for a win, by the hand-made score of the environment.
Moves have a price: games have a limit of moves.
"""

from __future__ import annotations

import numpy as np

from agents.planner.value_network import value_of
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import nothing_hidden, play
from four_seasons_env.next_deal.enumeration import advice
from four_seasons_env.next_deal.reach import (
    NOT_YET,
    UNTIL_END,
    UNTIL_HIDDEN,
    WON,
    begin,
    expand,
    pop,
    push,
)

_PRICE = np.float32(0.0002)
"""Of a move, in value; a score of `advice` is some hundred times as coarse."""


@jit
def _value(row, rule, open_now, network, work, search):
    """Value a position, and price the moves that lead there."""
    if search.values[row] != WON:
        g = search.positions[row]
        search.values[row] = advice(g, rule) if open_now else value_of(g, rule, network, work)
    price = _PRICE * np.float32(100 if open_now else 1)
    search.worths[row] = search.values[row] - price * np.float32(search.depths[row])


@jit
def reach(g, rule, free, network, work, search, most, openings):
    """Search what can be reached from a position before a hidden card is turned.

    Args:
        free: the rule set with `spaces="optional"`, under which moves turn no cards.
        network: values positions about to turn a card; where nothing is hidden a score does.
        most: positions to hold at most.
        openings: positions to expand at most.

    Returns:
        The number of the position to decide for, and how many there are. Position 0 is ``g``.
    """
    open_now = nothing_hidden(g, rule)
    until = UNTIL_END if open_now else UNTIL_HIDDEN
    begin(g, rule, until, search)
    _value(0, rule, open_now, network, work, search)
    best = 0
    count = 1
    waiting = push(search, 0, 0)
    while openings > 0 and waiting > 0 and count < most:
        row, waiting = pop(search, waiting)
        openings -= 1
        first, count = count, expand(row, rule, free, until, most, count, search)
        for new in range(first, count):
            _value(new, rule, open_now, network, work, search)
            if search.values[new] == WON:
                return new, new + 1
            if search.turns[new] <= 0:
                waiting = push(search, waiting, new)
            decides = open_now or search.turns[new] != NOT_YET
            was = open_now or search.turns[best] != NOT_YET
            if decides and (not was or search.worths[new] > search.worths[best]):
                best = new
    return best, count


@jit
def turn(search, chosen, rule, game):
    """Play a decision in a GAME array of one, up to and with the move that turns a hidden card."""
    move = search.turns[chosen]
    game[0] = search.positions[search.parents[chosen] if move > 0 else chosen]
    play(game[0], rule, move)
