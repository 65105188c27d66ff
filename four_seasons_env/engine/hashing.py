"""Hashes of positions: the sum of a random uint64 for each fact that holds (Zobrist hashing).

Zobrist joins the numbers by exclusive or; here they are added, and subtracted where a fact no
longer holds. A move changes few facts, so the hash after it follows from the hash before it
(`key_change`): where the AC leaves a space for the 2D, it changes by LINK[AC, 2D] - LINK[AC, 52].

    hash              equal for positions that                 used by
    ----------------  ---------------------------------------  -----------------------------------
    `position_keys`   differ in the order of their piles; of   searches of one game: candidates,
                      one game only, whose deck both have      endings, chances, fair values, the
                                                               solver
    `key_change`      as above: the change by one move         the mask `no_repeats`
    `public_key`      a player cannot tell apart, of any       planned moves, `Game.key`
                      deal; in the same order of piles,
                      because a planned move names a pile
    `shared_key`      a player could play alike, of any        the table of fair values
    (`solver.fair`)   deal: suits and piles have no names

The records are positions: those from outside have been checked before (`validation`), because a
chain of cards without an end would be followed for ever. `Game.key` is for everybody.

Equal facts give equal sums. Different facts do with a probability of 2^-64 for each pair, so
searches treat equal hashes as equal positions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import internal, jit
from four_seasons_env.engine.moves import FOUNDATION

_rng = np.random.default_rng(2026)  # any seed would do, if it is the same in every process


def _table(*shape: int) -> NDArray[np.uint64]:
    return _rng.integers(0, 2**64, shape, np.uint64)


LINK = _table(53, 53)
"""[card, the card below it]"""
_CARD = _table(53)  # [card in the tableau]
_LEVEL = _table(4, 14)  # [suit, cards on its foundation]
_STOCK = _table(3, 53)  # [redeals left, cards in the stock]
_TOP = _table(13, 53)  # [pile, or the waste, its top card]
_BASE = _table(4, 13)  # [suit, the rank that its foundation starts from]
_NEXT = _table(52, 52)  # [place in a known stock, card]


@internal
def _common(g):
    """A hash of the foundations and of how far the stock is dealt."""
    total = _STOCK[g.redeals, kernel.stock_size(g)]
    for suit in range(4):
        total += _LEVEL[suit, g.level[suit]]
    return total


@jit
def position_keys(g, rule):
    """Two hashes of a position among those of one game, the same in any order of its piles.

    A reserve is hashed apart, because it differs from other piles. The first hash depends on how
    the tableau's cards are arranged, the second does not. Neither needs to read waste and stock:
    they hold the cards that are not in the tableau and not up, in the order of the deck (also after
    a redeal), and the size of the stock says where the waste ends.
    """
    arranged = unarranged = _common(g)
    if rule.reserve != kernel.NO_PILE:
        reserved = _TOP[rule.reserve, g.top[rule.reserve]]
        arranged += reserved
        unarranged += reserved
    for pile in range(rule.piles):
        card = g.top[pile]
        while card != NO_CARD:
            host = g.below[card]
            arranged += LINK[card, host]
            unarranged += _CARD[card]
            card = host
    return arranged, unarranged


@internal
def key_change(g, rule, move):
    """The change of the first of `position_keys` by a legal move that leaves stock and waste as is.

    Returns also the card that changes its place. A move changes one link, and a foundation's level
    or the reserve's top card.
    """
    source, target = np.int64(rule.source[move]), np.int64(rule.target[move])
    card = kernel.moved_card(g, rule, source, target)
    suit, level = card & 3, np.int64(g.level[card & 3])
    if source >= FOUNDATION:  # worried back: its link is new, and the foundation is lower
        change = _LEVEL[suit, level - 1] - _LEVEL[suit, level]
        return change + LINK[card, g.top[target]], card
    if target == FOUNDATION:
        change = _LEVEL[suit, level + 1] - _LEVEL[suit, level]
    else:
        change = LINK[card, g.top[target]]
    if source == rule.reserve:
        change += _TOP[source, g.below[card]] - _TOP[source, card]
    return change - LINK[card, g.below[card]], card


@jit
def public_key(g, rule):
    """A hash of what the player knows of a position of any deal, with the order of the piles."""
    total = _common(g)
    for suit in range(4):
        total += _BASE[suit, g.base[suit]]
    for place in range(13):
        card = g.top[place]
        total += _TOP[place, card]
        while card != NO_CARD:
            total += LINK[card, g.below[card]]
            card = g.below[card]
    if kernel.stock_is_known(g, rule):
        for i in range(g.dealt, g.deck_size):
            total += _NEXT[i - g.dealt, g.deck[i]]
    return total
