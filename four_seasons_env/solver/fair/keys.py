"""A hash of what a player knows, the same under any names of piles and suits.

Suits are labels: if they are exchanged throughout, the game is the same, as long as packing does
not depend on them. Where packing depends on colours, only exchanges that keep the colours together
are allowed. Ranks are counted from the base, and the packing table says what King and Ace may do,
so games with the same table (`Rules` and FRAME field ``packs``) share their keys.

Where nothing packs and no card is turned over (FRAME field ``chains``), a suit is only a chain of
the cards that are not up, which are counted from the next one on. Cards at the bottom of the waste
that end their suits count as gone (`_cards_that_matter`).
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import NO_PILE
from four_seasons_env.engine.masks import popcount
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.analysis.relaxation import SUIT, cards_up

_0, _1 = np.uint64(0), np.uint64(1)
_NOTHING = 52  # in place of a card's place

_rng = np.random.default_rng(1883)


def _table(*shape: int) -> np.ndarray:
    return _rng.integers(0, 2**64, shape, np.uint64)


_LEVEL = _table(4, 14)  # [suit, cards on its foundation]
_LEFT = _table(4, 14)  # [suit, cards of its chain]
_STOCK = _table(3, 53)  # [redeals left, cards in the stock]
_RESERVE = _table(53)  # [card of the reserve]
_ON = _table(53, 53)  # [card in the tableau, the card below it]
_UNDER = _table(53, 53)  # [card in the waste, the card below it]
_AFTER = _table(53, 53)  # [card in a known stock, the one before it]

_OWN_LEVEL = _table(14)  # of a suit alone, the same for all: [cards on its foundation]
_OWN_LEFT = _table(14)  # [cards of its chain]
_OWN_ON = _table(14, 14)  # [place of a card in the tableau, that of the card below it]
_OWN_WASTE = _table(14, 53)  # [place of a card, how deep it lies in the waste]
_OWN_STOCK = _table(14, 53)  # [place of a card, how deep it lies in a known stock]
_OWN_RESERVE = _table(14)  # [place]

_ORDERS = np.array(list(permutations(range(4))), np.uint8)
_KEEPING_COLOURS = np.array(
    [order for order in permutations(range(4)) if (order[0] ^ order[1]) == 1], np.uint8
)


@jit
def _rank_of(card, g, frame):
    """A card's place in its suit's order: from the base card on, or from the next card on."""
    rank = np.int64(frame.place[card]) >> 2
    return rank - np.int64(g.level[card & 3]) if frame.chains else rank


@jit
def _piles_for(card, below, g, frame):
    """The most piles that are needed to play off a card of the waste and those below it, if all
    others are up. For games in which nothing packs.

    Args:
        card: the first.
        below: bit set of it and those below it.
    """
    lying, most = _0, np.uint64(0)
    while card != NO_CARD:
        bit = _1 << np.uint64(frame.place[card])
        below ^= bit
        lying |= bit
        stuck = np.uint64(0)
        for suit in range(4):
            own = below & (SUIT << np.uint64(suit))
            if own:
                stuck += popcount(lying & (SUIT << np.uint64(suit)) & ~((own & (~own + _1)) - _1))
        most = max(most, stuck)
        card = g.below[card]
    return most


@jit
def _cards_that_matter(g, rule, frame):
    """How many cards of the waste matter, from its top, and the set of cards that do at all.

    Take cards from the bottom of the waste up as long as each suit without them is still a chain
    from its next card on. No other card waits for one of these, and they cover only each other. So
    play that wins without them wins with them, if they can be played off once all others are up.
    And play that wins with them wins without. They count as gone, unless no other cards are left.
    """
    rest = frame.cards & ~cards_up(g.level)
    if not frame.chains:
        return 99, rest
    waste = _0
    card = g.top[WASTE]
    while card != NO_CARD:
        waste |= _1 << np.uint64(frame.place[card])
        card = g.below[card]
    outside = passed = rest & ~waste
    first = card = g.top[WASTE]
    depth = matter = 0
    while card != NO_CARD:
        bit = _1 << np.uint64(frame.place[card])
        passed |= bit
        depth += 1
        if outside & (SUIT << np.uint64(card & 3)) & ~(bit - _1):
            outside, matter, first = passed, depth, g.below[card]
        card = g.below[card]
    if outside == _0 or _piles_for(first, rest & ~outside, g, frame) > rule.piles:
        return 99, rest
    return matter, outside


@jit
def _describe_suits(g, rule, frame, is_ordered, own, matter):
    """Write a hash of each suit's visible cards, the same under any name of the suit."""
    in_waste, cards = matter
    for suit in range(4):
        if frame.chains:
            own[suit] = _OWN_LEFT[popcount(cards & (SUIT << np.uint64(suit)))]
        else:
            own[suit] = _OWN_LEVEL[g.level[suit]]
    for pile in range(rule.piles):
        card = g.top[pile]
        if pile == rule.reserve and card != NO_CARD:
            own[card & 3] += _OWN_RESERVE[_rank_of(card, g, frame)]
        while card != NO_CARD:
            host = g.below[card]
            below = 13 if host == NO_CARD else _rank_of(host, g, frame)
            own[card & 3] += _OWN_ON[_rank_of(card, g, frame), below]
            card = host
    card = g.top[WASTE]
    depth = 0
    while card != NO_CARD and depth < in_waste:
        own[card & 3] += _OWN_WASTE[_rank_of(card, g, frame), depth]
        card = g.below[card]
        depth += 1
    if is_ordered:
        for i in range(g.dealt, g.deck_size):
            card = g.deck[i]
            own[card & 3] += _OWN_STOCK[_rank_of(card, g, frame), i - g.dealt]


@jit
def _is_before(own, one, other):
    """Compare two orders of the suits by the hashes of their visible cards: -1, 0 or 1."""
    for i in range(4):
        if own[one[i]] != own[other[i]]:
            return -1 if own[one[i]] < own[other[i]] else 1
    return 0


@jit
def _renamed(card, g, frame, names):
    """A card's place in the foundations' order, with its suit's new name."""
    return _NOTHING if card == NO_CARD else 4 * _rank_of(card, g, frame) + names[card & 3]


@jit
def _hash_pile(g, pile, most, table, frame, names):
    """A hash of at most this many cards of a pile, from its top, by a table [card, card below]."""
    total = np.uint64(0)
    card = g.top[pile]
    while card != NO_CARD and most > 0:
        most -= 1
        host = g.below[card]
        at = _renamed(card, g, frame, names)
        total += table[at, _renamed(host, g, frame, names) if most else _NOTHING]
        card = host
    return total


@jit
def _hash_named(g, rule, frame, is_ordered, names, matter):
    """A hash of the visible cards, with the suits under new names."""
    in_waste, cards = matter
    total = _STOCK[g.redeals, kernel.stock_size(g)]
    for suit in range(4):
        if frame.chains:
            total += _LEFT[names[suit], popcount(cards & (SUIT << np.uint64(suit)))]
        else:
            total += _LEVEL[names[suit], g.level[suit]]
    if rule.reserve != NO_PILE:
        total += _RESERVE[_renamed(g.top[rule.reserve], g, frame, names)]
    for pile in range(rule.piles):
        total += _hash_pile(g, pile, 99, _ON, frame, names)
    total += _hash_pile(g, WASTE, in_waste, _UNDER, frame, names)
    if is_ordered:
        before = _NOTHING
        for i in range(g.dealt, g.deck_size):
            at = _renamed(g.deck[i], g, frame, names)
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
    matter = _cards_that_matter(g, rule, frame)
    _describe_suits(g, rule, frame, is_ordered, own, matter)
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
            key = max(key, _hash_named(g, rule, frame, is_ordered, names, matter))
    return key
