"""What a player knows, as a hash: the same whatever the piles and the suits are called.

Suits are labels: with them exchanged throughout, all that can happen happens likewise, as long as
packing does not look at them. Where it looks at colours, only exchanges that keep the colours
together are free. Ranks are counted from the base, and what King and Ace may do is in the packing
table, so games of one table (`Rules` and FRAME field ``packs``) share their keys.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import NO_PILE
from four_seasons_env.engine.moves import WASTE

_1, _2, _3 = np.uint64(1), np.uint64(2), np.uint64(3)
_NOTHING = 52  # in place of a card's place

_rng = np.random.default_rng(1883)


def _table(*shape: int) -> np.ndarray:
    return _rng.integers(0, 2**64, shape, np.uint64)


_LEVEL = _table(4, 14)  # [suit, cards on its foundation]
_STOCK = _table(3, 53)  # [redeals left, cards in the stock]
_RESERVE = _table(53)  # [card of the reserve]
_ON = _table(53, 53)  # [card in the tableau, the card below it]
_UNDER = _table(53, 53)  # [card in the waste, the card below it]
_AFTER = _table(53, 53)  # [card in a known stock, the one before it]

_OWN_LEVEL = _table(14)  # of a suit alone, the same for all: [cards on its foundation]
_OWN_ON = _table(14, 14)  # [place of a card in the tableau, that of the card below it]
_OWN_WASTE = _table(14, 53)  # [place of a card, how deep it lies in the waste]
_OWN_STOCK = _table(14, 53)  # [place of a card, how deep it lies in a known stock]
_OWN_RESERVE = _table(14)  # [place]

_ORDERS = np.array(list(permutations(range(4))), np.uint8)
_KEEPING_COLOURS = np.array(
    [order for order in permutations(range(4)) if (order[0] ^ order[1]) == 1], np.uint8
)


@jit
def _describe_suits(g, rule, frame, is_ordered, own):
    """Write a hash of what is seen of each suit's cards, whatever the suit is called."""
    for suit in range(4):
        own[suit] = _OWN_LEVEL[g.level[suit]]
    for pile in range(rule.piles):
        card = g.top[pile]
        if pile == rule.reserve and card != NO_CARD:
            own[card & 3] += _OWN_RESERVE[frame.place[card] >> 2]
        while card != NO_CARD:
            host = g.below[card]
            below = 13 if host == NO_CARD else np.int64(frame.place[host] >> 2)
            own[card & 3] += _OWN_ON[frame.place[card] >> 2, below]
            card = host
    card = g.top[WASTE]
    depth = 0
    while card != NO_CARD:
        own[card & 3] += _OWN_WASTE[frame.place[card] >> 2, depth]
        card = g.below[card]
        depth += 1
    if is_ordered:
        for i in range(g.dealt, g.deck_size):
            card = g.deck[i]
            own[card & 3] += _OWN_STOCK[frame.place[card] >> 2, i - g.dealt]


@jit
def _is_before(own, one, other):
    """Compare two orders of the suits by what is seen of them: -1, 0 or 1."""
    for i in range(4):
        if own[one[i]] != own[other[i]]:
            return -1 if own[one[i]] < own[other[i]] else 1
    return 0


@jit
def _renamed(card, frame, names):
    """A card's place in the foundations' order, with its suit's new name."""
    return _NOTHING if card == NO_CARD else np.int64(frame.place[card] & 60) | names[card & 3]


@jit
def _hash_chain(g, card, table, frame, names):
    """A hash of a card and all below it, by a table of [card, the card below it]."""
    total = np.uint64(0)
    at = _renamed(card, frame, names)
    while card != NO_CARD:
        card = g.below[card]
        host = _renamed(card, frame, names)
        total += table[at, host]
        at = host
    return total


@jit
def _hash_named(g, rule, frame, is_ordered, names):
    """A hash of what is seen, with the suits under new names."""
    total = _STOCK[g.redeals, kernel.stock_size(g)]
    for suit in range(4):
        total += _LEVEL[names[suit], g.level[suit]]
    if rule.reserve != NO_PILE:
        total += _RESERVE[_renamed(g.top[rule.reserve], frame, names)]
    for pile in range(rule.piles):
        total += _hash_chain(g, g.top[pile], _ON, frame, names)
    total += _hash_chain(g, g.top[WASTE], _UNDER, frame, names)
    if is_ordered:
        before = _NOTHING
        for i in range(g.dealt, g.deck_size):
            at = _renamed(g.deck[i], frame, names)
            total += _AFTER[at, before]
            before = at
    return max(total, _1)


@jit
def shared_key(g, rule, frame, is_ordered, own, names):
    """A hash of what the player knows, the same for positions that differ in names; never 0.

    Args:
        is_ordered: whether the order of the stock is known.
        own: scratch, uint64 (4,).
        names: scratch, int64 (4,).
    """
    is_ordered = is_ordered or kernel.stock_is_known(g, rule)
    _describe_suits(g, rule, frame, is_ordered, own)
    orders = _KEEPING_COLOURS if frame.by_colour else _ORDERS
    first = 0
    for i in range(1, len(orders)):
        if _is_before(own, orders[i], orders[first]) < 0:
            first = i
    key = np.uint64(0)
    for i in range(first, len(orders)):
        if _is_before(own, orders[i], orders[first]) == 0:
            for at in range(4):
                names[orders[i, at]] = at
            key = max(key, _hash_named(g, rule, frame, is_ordered, names))
    return key
