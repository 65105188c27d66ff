"""Hashes of positions: a random uint64 for each fact that holds, added up.

Equal facts give equal sums; that different ones do is so unlikely (2^-64 a pair) that searches and
plans take equal hashes for equal positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.deals import mix
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import NO_PILE, stock_size

_ZERO, _FACTOR = np.uint64(0), np.uint64(0x9E3779B97F4A7C15)
_rng = np.random.default_rng(2026)


def _table(*shape: int) -> NDArray[np.uint64]:
    return _rng.integers(0, 2**64, shape, np.uint64)


_LINK = _table(53, 53)  # [card, the card below it]
_CARD = _table(53)  # [card in the tableau]
_LEVEL = _table(4, 14)  # [suit, cards on its foundation]
_STOCK = _table(3, 53)  # [redeals left, cards in the stock]
_TOP = _table(13, 53)  # [pile, or the waste, its top card]
_BASE = _table(4, 13)  # [suit, the rank that its foundation starts from]
_CLASS = _table(53)  # [class of a card in a pile]


@jit
def _common(g):
    """Of the foundations and of how far the stock is dealt."""
    total = _STOCK[g.redeals, stock_size(g)]
    for suit in range(4):
        total += _LEVEL[suit, g.level[suit]]
    return total


@jit
def position_keys(g, rule):
    """Two hashes that tell the positions of one game apart, whichever order its piles stand in
    (a reserve aside, which is like no other pile).

    The first tells arrangements of the tableau's cards apart, the second does not. Levels and the
    cards of the tableau say what lies in waste and stock; all of that is in the order of the deck,
    also after a redeal, so the size of the stock says which is which.
    """
    arranged = unarranged = _common(g)
    if rule.reserve != NO_PILE:
        reserved = _TOP[rule.reserve, g.top[rule.reserve]]
        arranged += reserved
        unarranged += reserved
    for pile in range(rule.piles):
        card = g.top[pile]
        while card != NO_CARD:
            host = g.below[card]
            arranged += _LINK[card, host]
            unarranged += _CARD[card]
            card = host
    return arranged, unarranged


@jit
def class_key(g, rule, classes):
    """As the first of `position_keys`, but cards of one class may change places in the tableau.

    Args:
        classes: uint8 (53,), [card] -> its class.
    """
    total = _common(g)
    if rule.reserve != NO_PILE:
        total += _TOP[rule.reserve, classes[g.top[rule.reserve]]]
    for pile in range(rule.piles):
        card = g.top[pile]
        if card == NO_CARD:
            continue
        sequence = _ZERO
        while card != NO_CARD:
            total += _CARD[card]
            sequence = (sequence + _CLASS[classes[card]]) * _FACTOR
            card = g.below[card]
        total += mix(sequence)
    return total


@jit
def public_key(g):
    """A hash of what the player sees of a position of any deal, the order of the piles included."""
    total = _common(g)
    for suit in range(4):
        total += _BASE[suit, g.base[suit]]
    for place in range(13):
        card = g.top[place]
        total += _TOP[place, card]
        while card != NO_CARD:
            total += _LINK[card, g.below[card]]
            card = g.below[card]
    return total
