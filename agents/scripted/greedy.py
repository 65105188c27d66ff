"""`greedy`: a fixed order of preference, as for a beginner.

0. to a foundation
1. a lone card to another pile, which makes a space
2. from the waste to a pile
3. from the waste to a space
4. the next card
"""

from __future__ import annotations

from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import inlined, jit
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE

_NEVER = 9
"""Not in the list: a move that only shifts cards between piles, or worries a card back."""


@inlined
def _place_in_list(g, rule, move):
    """The place of a move in the list, 0 to 4, or `_NEVER`."""
    source, target = rule.source[move], rule.target[move]
    if target == STOCK or (source == STOCK and target == WASTE):
        return 4
    if target == FOUNDATION:
        return 0
    if source < WASTE:
        alone = g.below[g.top[source]] == NO_CARD
        return 1 if alone and g.top[target] != NO_CARD else _NEVER
    if source in (WASTE, STOCK):
        return 2 if g.top[target] != NO_CARD else 3
    return _NEVER


@jit
def greedy_move(g, rule, mask):
    """The legal move that comes first in the list, -1 if there is none; mask has a byte a move."""
    best, place = -1, _NEVER + 1
    for move in range(rule.actions):
        if mask[move]:
            here = _place_in_list(g, rule, move)
            if here < place:
                best, place = move, here
    return best
