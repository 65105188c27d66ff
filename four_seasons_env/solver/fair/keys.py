"""A hash of what a player knows, the same under any names of piles and suits.

Suits are labels: if they are exchanged throughout, the game is the same, as long as packing does
not depend on them. Where packing depends on colours, only suits of one colour are exchanged. Ranks
are counted from the base, and the packing table says what King and Ace may do, so games with the
same table (`Rules` and FRAME field ``packs``) share their keys.

Where nothing packs and no card is turned over (FRAME field ``chains``), a suit is only a chain of
the cards that are not up, which are counted from the next one on.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import NO_PILE
from four_seasons_env.engine.moves import WASTE

_1 = np.uint64(1)
_NOTHING = 52  # in place of a card's place

_rng = np.random.default_rng(1883)


def _table(*shape: int) -> np.ndarray:
    return _rng.integers(0, 2**64, shape, np.uint64)


_LEFT = _table(4, 14)  # [suit, cards on its foundation, or left of its chain]
_STOCK = _table(3, 53)  # [redeals left, cards in the stock]
_RESERVE = _table(53)  # [card of the reserve]
_ON = _table(53, 53)  # [card in the tableau, the card below it]
_UNDER = _table(53, 53)  # [card in the waste, the card below it]
_AFTER = _table(53, 53)  # [card in a known stock, the one before it]


@jit
def shared_key(g, rule, frame, suits, names):
    """A hash of what the player knows, the same for positions that differ in names; never 0.

    Suits get their names in the order of the hashes of their cards, in which no suit has a name.
    Two suits with equal hashes may get either name. Then two positions that could share a key may
    have different ones, which costs time, but no two share one wrongly.

    Args:
        suits: scratch, uint64 (4,).
        names: scratch, int64 (4,).
    """
    names[:] = 0
    _hash_suits(g, rule, frame, suits, names)
    for suit in range(4):
        names[suit] = suit & 2 if frame.by_colour else 0
        for other in range(4):
            if not (frame.by_colour and (other ^ suit) & 2):
                is_equal = suits[other] == suits[suit]
                names[suit] += suits[other] < suits[suit] or (is_equal and other < suit)
    _hash_suits(g, rule, frame, suits, names)
    return max(_STOCK[g.redeals, kernel.stock_size(g)] + suits.sum(), _1)


@jit
def _hash_suits(g, rule, frame, suits, names):
    """Write a hash of each suit's visible cards, under the suits' new names."""
    for suit in range(4):
        left = rule.ranks - g.level[suit] if frame.chains else g.level[suit]
        suits[suit] = _LEFT[names[suit], left]
    if rule.reserve != NO_PILE and g.top[rule.reserve] != NO_CARD:
        card = g.top[rule.reserve]
        suits[card & 3] += _RESERVE[_renamed(card, g, frame, names)]
    for pile in range(rule.piles):
        _hash_pile(g, pile, _ON, frame, suits, names)
    _hash_pile(g, WASTE, _UNDER, frame, suits, names)
    if kernel.stock_is_known(g, rule):
        before = np.int64(_NOTHING)
        for i in range(g.dealt, g.deck_size):
            at = _renamed(g.deck[i], g, frame, names)
            suits[g.deck[i] & 3] += _AFTER[at, before]
            before = at


@jit
def _hash_pile(g, pile, table, frame, suits, names):
    """Add the cards of a pile to the hashes of their suits, by a table [card, card below]."""
    card = g.top[pile]
    at = _renamed(card, g, frame, names)
    while card != NO_CARD:
        host = _renamed(g.below[card], g, frame, names)
        suits[card & 3] += table[at, host]
        card, at = g.below[card], host


@jit
def _renamed(card, g, frame, names):
    """A card's place in the foundations' order, with its suit's new name.

    Places count from the base card on, or from the next card on.
    """
    if card == NO_CARD:
        return np.int64(_NOTHING)
    rank = np.int64(frame.place[card]) >> 2
    if frame.chains:
        rank -= np.int64(g.level[card & 3])
    return 4 * rank + names[card & 3]
