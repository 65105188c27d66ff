"""Pairs of cards in the waste: which card must leave it before which.

A card of the waste is out of reach until all that lie on it have left. What that costs depends on
both cards: a nine that lies on an eight leaves first, and can take it; a six on the five of its
suit waits for what it covers. So each card has a row of a table with each card under it, by both
ranks, whether they are of one suit, and how far apart they lie.

Between two deals the waste only loses cards from its top. So the rows of the whole waste are summed
once for each height (`note_waste`), and a position that is reached reads the sum of its own height.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import relative_rank
from four_seasons_env.engine.moves import WASTE

_NEAR = 6  # cards apart: 1; fewer than this; more
PAIR_ROWS = 3 * 2 * 13 * 13
_HEIGHTS = 53  # of a waste: 0 to 52 cards


class Waste(NamedTuple):
    """A waste, and the sums of its pairs' rows for each height that it may be played down to."""

    cards: NDArray[np.int64]  # (53,) from the bottom up
    sums: NDArray[np.float32]  # (53, width) of the table


def new_waste(width: int) -> Waste:
    """Buffers for a waste, and for a table of rows of this width."""
    return Waste(np.zeros(_HEIGHTS, np.int64), np.zeros((_HEIGHTS, width), np.float32))


@jit
def _pair_row(g, rule, upper, lower, apart):
    """The row of a card with one that lies so many cards under it."""
    distance = 0 if apart == 1 else 1 if apart < _NEAR else 2
    one_suit = np.int64((upper & 3) == (lower & 3))
    ranks = 13 * relative_rank(g, rule, upper) + relative_rank(g, rule, lower)
    return 169 * (2 * distance + one_suit) + ranks


@jit
def _list_waste(g, cards):
    """Write the cards of the waste, from the bottom up; returns how many there are."""
    height = np.int64(g.height[WASTE])
    card = g.top[WASTE]
    for i in range(height - 1, -1, -1):
        cards[i] = card
        card = g.below[card]
    return height


@jit
def note_waste(g, rule, table, waste):
    """Sum the rows of a position's waste for each height.

    Args:
        g: the position; the sums hold for all that follow it until the next card is dealt.
        table: rows of pairs, float32 of shape (PAIR_ROWS, width).
        waste: `Waste`; written.
    """
    cards, sums = waste.cards, waste.sums
    height = _list_waste(g, cards)
    sums[0] = 0
    for upper in range(height):
        into = sums[upper + 1]
        into[:] = sums[upper]
        for lower in range(upper):
            row = table[_pair_row(g, rule, cards[upper], cards[lower], upper - lower)]
            for k in range(len(into)):
                into[k] += row[k]


@jit
def add_to_pairs(g, rule, waste, what, table):
    """Add a vector to the row of each pair, as often as the waste holds it.

    Args:
        waste: `Waste`, which `note_waste` wrote for ``g``.
        what: float32 of shape (width,).
        table: changed.
    """
    cards = waste.cards
    for upper in range(np.int64(g.height[WASTE])):
        for lower in range(upper):
            row = table[_pair_row(g, rule, cards[upper], cards[lower], upper - lower)]
            for k in range(len(what)):
                row[k] += what[k]
