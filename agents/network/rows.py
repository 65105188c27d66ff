"""The observation `places` as sums of table rows, the first layer of networks over moves.

A position is about seventy rows of one table, and the layer's output is their sum. That is the same
as a dense layer over one-hot inputs, at a tenth of the work. Piles carry no number, because their
order has no meaning: a card's place is the card that it lies on.

==========  ===================================================================================
rows        meaning
==========  ===================================================================================
52 x 9      for each card that is not in the stock: on its foundation, in the waste, at the
            bottom of a pile, on a card of clubs, spades, hearts or diamonds (its rank follows from
            packing), or in the reserve; the first is unused
52 x 8      for each card of a pile: cards that lie on it, 0 to 7 and more
52 x 12     for each card of the waste: cards that lie on it, in 12 steps
52 x 12     for each card of a known stock: cards that are dealt before it, in 12 steps
13          base rank
53          cards in the stock
13          spaces
3           redeals left
==========  ===================================================================================

Row 0 is none: it fills the room that a position does not need.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.observations import IN_FOUNDATION, IN_PILES, IN_STOCK, IN_WASTE
from four_seasons_env.rules import Rules

# What a card lies on or in. On a card: LIES_ON + the suit of that card.
_UP, _WASTE, _BOTTOM, _ON, _RESERVE = 1, 2, 3, 4, 8
_STATES, _COVERS = 9, 8
_STEPS = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 9, 9, 9, *[10] * 5, *[11] * 35])
"""The step of a number of cards, 0 to 52: exact for few cards."""
_STEP_COUNT = 12

_STATE = 1  # the first row of each part of the table; row 0 is none
_COVER = _STATE + NO_CARD * _STATES
_DEPTH = _COVER + NO_CARD * _COVERS
_ORDER = _DEPTH + NO_CARD * _STEP_COUNT
_BASE = _ORDER + NO_CARD * _STEP_COUNT
_STOCK = _BASE + 13
_SPACES = _STOCK + 53
_REDEALS = _SPACES + 13
ROWS = _REDEALS + 3
"""Rows of the table."""

MOST_ROWS = 2 * NO_CARD + 4
"""Rows of a position at most."""


def rows_of(places: NDArray[np.uint8], rules: Rules) -> NDArray[np.int16]:
    """The rows of observations of shape (n, slots), int16 of shape (n, MOST_ROWS)."""
    rows = np.zeros((len(places), MOST_ROWS), np.int16)
    reserve = -1 if rules.reserve_pile is None else rules.reserve_pile
    write_rows(places, rules.ranks, rules.piles, reserve, rows)
    return rows


@jit
def write_rows(places, ranks, piles, reserve, rows):
    """Write the rows of positions.

    Args:
        places: uint8 (n, slots), the observation `places` of a rule set.
        ranks: of the rule set.
        piles: of the rule set.
        reserve: its reserve pile, or -1.
        rows: int16 (n, MOST_ROWS), all 0; rows come first.
    """
    cards = 4 * ranks
    at = np.empty((piles, 53), np.int64)  # [pile, cards that lie on it] -> card
    for i in range(len(places)):
        where, counts, out = places[i, :cards], places[i, cards : 2 * cards], rows[i]
        at[:] = NO_CARD
        for card in range(cards):
            if where[card] >= IN_PILES:
                at[where[card] - IN_PILES, counts[card]] = card
        n = 0
        for card in range(cards):
            place, count = np.int64(where[card]), np.int64(counts[card])
            state = 0
            if place == IN_FOUNDATION:
                state = _UP
            elif place == IN_WASTE:
                state = _WASTE
                out[n] = _DEPTH + _STEP_COUNT * card + _STEPS[count]
                n += 1
            elif place >= IN_PILES:
                host = at[place - IN_PILES, count + 1]
                state = _BOTTOM if host == NO_CARD else _ON + host // ranks
                if place - IN_PILES == reserve:
                    state = _RESERVE
                out[n] = _COVER + _COVERS * card + min(int(count), _COVERS - 1)
                n += 1
            elif place == IN_STOCK and count:
                out[n] = _ORDER + _STEP_COUNT * card + _STEPS[count - 1]
                n += 1
            if state:
                out[n] = _STATE + _STATES * card + state
                n += 1
        spaces = 0
        for pile in range(piles):
            spaces += at[pile, 0] == NO_CARD
        out[n] = _BASE + places[i, 2 * cards]
        out[n + 1] = _STOCK + places[i, 2 * cards + 1]
        out[n + 2] = _SPACES + spaces
        out[n + 3] = _REDEALS + places[i, 2 * cards + 2]


@jit
def sum_rows(rows, table, sums):
    """Write the sum of each position's rows.

    Args:
        rows: int16 (n, MOST_ROWS), as `write_rows` writes them.
        table: float32 (ROWS, width).
        sums: float32 (n, width), written.
    """
    for i in range(len(rows)):
        out = sums[i]
        out[:] = np.float32(0)
        for j in range(rows.shape[1]):
            row = np.uintp(rows[i, j])
            if row == 0:
                break
            for k in range(len(out)):
                out[k] += table[row, k]


@jit
def add_slopes(rows, slopes, gradient):
    """Add the gradient of each position's sum to the gradients of its rows; see `sum_rows`."""
    for i in range(len(rows)):
        slope = slopes[i]
        for j in range(rows.shape[1]):
            row = np.uintp(rows[i, j])
            if row == 0:
                break
            for k in range(len(slope)):
                gradient[row, k] += slope[k]
