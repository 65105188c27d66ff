"""A hash of what a player knows, the same under any names of piles and suits.

It is Zobrist hashing with sums instead of xor: each card that is visible adds a random number for
itself and the card below it. So piles have no names, and their order does not count.

Suits are labels: if they are exchanged throughout, the game is the same, as long as packing does
not depend on them. Where packing depends on colours, only suits of one colour are exchanged. Ranks
are counted from the base, and the packing table says what King and Ace may do, so games with the
same table (`Rules` and FRAME field ``packs``) share their keys.

Example, packing regardless of suit: piles 7C 6D and 4H, waste 9S. With hearts and clubs exchanged
everywhere, and the piles in another order: 4C and 7H 6D, waste 9S. The key is the same. The cards
of each suit are hashed without names of suits, which sorts the suits. Their places in this order
are the names under which they are hashed again.

Where nothing packs and no card is turned over (FRAME field ``chains``), a suit is only a chain of
the cards that are not up, which are counted from the next one on. Cards at the bottom of the waste
that end their suits count as gone (`_cards_that_matter`).
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import ONE, ZERO, popcount
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.analysis.relaxation import SUIT, cards_up

_NOTHING = 52  # no card, in place of a card's place
_ALL = 99  # no limit of cards

_rng = np.random.default_rng(1883)  # any seed would do: keys live in memory only


def _table(*shape: int) -> np.ndarray:
    return _rng.integers(0, 2**64, shape, np.uint64)


_LEFT = _table(4, 14)  # [suit, cards that are not up]
_STOCK = _table(3, 53)  # [redeals left, cards in the stock]
_ON = _table(53, 53)  # [card in the tableau, the card below it]
_RESERVED = _table(53, 53)  # the same for the reserve, which differs from other piles
_UNDER = _table(53, 53)  # [card in the waste, the card below it]
_AFTER = _table(53, 53)  # [card in a known stock, the one before it]


@jit
def shared_key(g, rule, frame, suits, names):
    """A hash of what the player knows, the same for positions that differ in names; never 0.

    Two suits with equal hashes may get either name. Then two positions that could share a key may
    have different ones, which costs time, but no two share one wrongly.

    Args:
        g: a GAME record, ``rule`` its RULE record and ``frame`` its FRAME record.
        suits: scratch, uint64 (4,).
        names: scratch, int64 (4,).
    """
    matter = _cards_that_matter(g, frame)
    # 1. Hash each suit's cards with the same name for all suits.
    names[:] = 0
    _hash_suits(g, rule, frame, suits, names, matter)
    # 2. A suit's new name is the number of suits with smaller hashes, among those that may be
    # exchanged with it.
    for suit in range(4):
        names[suit] = suit & 2 if frame.by_colour else 0
        for other in range(4):
            if not (frame.by_colour and (other ^ suit) & 2):
                is_equal = suits[other] == suits[suit]
                names[suit] += suits[other] < suits[suit] or (is_equal and other < suit)
    # 3. Hash again under the new names, and add up.
    _hash_suits(g, rule, frame, suits, names, matter)
    return max(_STOCK[g.redeals, kernel.stock_size(g)] + suits.sum(), ONE)


@jit
def _cards_that_matter(g, frame):
    """How many cards of the waste matter, from its top, and the set of all cards that matter.

    Where suits are chains, take cards from the bottom of the waste up as long as each is the last
    of its suit. No other card waits for one of these, and they cover only each other. Once all
    others are up, they go up from the waste, one after the other. So they decide nothing.
    """
    cards = frame.cards & ~cards_up(g.level)
    if not frame.chains:
        return _ALL, cards
    # 1. All cards that are neither up nor in the waste matter.
    passed, card = cards, g.top[WASTE]
    while card != NO_CARD:
        passed ^= ONE << np.uint64(frame.place[card])
        card = g.below[card]
    # 2. From the top of the waste down: a card matters if a later card of its suit lies above it or
    # outside of the waste, and so do all cards above it.
    cards, matter, depth, card = passed, 0, 1, g.top[WASTE]
    while card != NO_CARD:
        bit = ONE << np.uint64(frame.place[card])
        is_last = passed & (SUIT << np.uint64(card & 3)) & ~(bit - ONE) == ZERO
        passed |= bit
        if not is_last:
            cards, matter = passed, depth
        card = g.below[card]
        depth += 1
    return matter, cards


@jit
def _hash_suits(g, rule, frame, suits, names, matter):
    """Write a hash of each suit's visible cards, under the suits' new names."""
    in_waste, cards = matter
    for suit in range(4):
        suits[suit] = _LEFT[names[suit], popcount(cards & (SUIT << np.uint64(suit)))]
    for pile in range(rule.piles):
        table = _RESERVED if pile == rule.reserve else _ON
        _hash_pile(g, pile, _ALL, table, frame, suits, names)
    _hash_pile(g, WASTE, in_waste, _UNDER, frame, suits, names)
    if kernel.stock_is_known(g, rule):
        before = np.int64(_NOTHING)
        for i in range(g.dealt, g.deck_size):
            at = _renamed(g.deck[i], g, frame, names)
            suits[g.deck[i] & 3] += _AFTER[at, before]
            before = at


@jit
def _hash_pile(g, pile, limit, table, frame, suits, names):
    """Add up to ``limit`` cards of a pile, from its top, to the hashes of their suits.

    Args:
        table: uint64 [card, card below it].
    """
    card = g.top[pile]
    at = _renamed(card, g, frame, names)
    while card != NO_CARD and limit > 0:
        limit -= 1
        host = _renamed(g.below[card], g, frame, names)
        suits[card & 3] += table[at, host if limit else _NOTHING]
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
