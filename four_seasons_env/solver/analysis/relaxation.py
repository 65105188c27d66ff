"""The relaxed game: a game without piles, easier than any of the family, to prove deals lost.

All piles of the tableau are packed runs, because cards come one at a time and only by packing.
Forget how the tableau's cards are arranged and keep the set T of them. A set can be arranged in
packed runs only if enough of its cards have a host: with n cards of one place in the foundation's
order and h of the next, at least n - h of the n begin a run. The sum of these excesses over all
places is the least number of piles that T needs (`piles_needed`). A card x that has just been
moved, or is about to move, lies uncovered and hosts no card. So the same sum, without x among the
hosts, must not exceed the number of piles either.

The relaxed game has the moves

- deal: the next card of the stock to the waste;
- W>T: the waste's top card x joins T, if T with x uncovered fits into the piles;
- W>F, and T>F for any card x of T that fits with x uncovered: to the foundation.

Every move of a real game is one of these or leaves T, waste, stock and foundations as they are (a
move within the tableau); a forced refill from the stock is deal and W>T, one from the waste is W>T.
So a real win is a relaxed win, and where the relaxed game cannot be won, the real one cannot. Not
covered are redeals that are left and worrying back (FRAME field ``one_way``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.masks import highest, popcount

ZERO, ONE, FOUR = np.uint64(0), np.uint64(1), np.uint64(4)
SUIT = np.uint64(0x1111111111111)  # the thirteen cards of the first suit
KEY_POSITIONS = 47
"""Positions of the deck that a key has room for, from the first that matters (`relaxed_key`)."""
RELAXED = np.dtype(
    [
        ("waste", "u8"),  # bit set of positions in the deck
        ("tableau", "u8"),  # bit set of cards
        ("up", "u8"),  # bit set of cards
        ("dealt", "i8"),
    ]
)
"""A position of the relaxed game."""


class Deck(NamedTuple):
    """The cards and rules of the relaxed game of a position."""

    cards: NDArray[np.uint64]  # (52,) in dealing order, as bit numbers
    size: int | np.int64  # cards
    first: int | np.int64  # position of the first that is in waste or stock at the start
    piles: int | np.int64  # of the tableau


MOST_RELAXED_MOVES = 7
"""Moves of the relaxed game from one position, at most: a deal, four T>F, W>T and W>F."""
_2, _3, _7, _14, _15, _56 = (np.uint64(n) for n in (2, 3, 7, 14, 15, 56))
_IN_TWOS = np.uint64(0x5555555555555)
_IN_FOURS = np.uint64(0x3333333333333)
_IN_EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)
_EIGHTS = np.uint64(0x8888888888888)
_BYTES = np.uint64(0x0101010101010101)


@jit
def _excess(count, hosts, frame):
    """Sum over the places of how many more cards than hosts there are; 4-bit counts, 0 to 4."""
    hosts = ((hosts >> FOUR) | ((hosts & _15) << frame.turn)) & frame.packs
    difference = (count | _EIGHTS) - hosts  # per place 8 + count - hosts: none borrows
    positive = (difference >> _3) & SUIT
    difference &= positive * _7
    pairs = (difference & _IN_EIGHTS) + ((difference >> FOUR) & _IN_EIGHTS)
    return np.int64((pairs * _BYTES) >> _56)


@jit
def piles_needed(cards, hosts, frame):
    """The least number of packed runs that a set of cards makes, with these hosts for them.

    Args:
        cards: bit set of the cards to be arranged.
        hosts: bit set of the cards that others may lie on.
    """
    count = cards - ((cards >> ONE) & _IN_TWOS)  # cards of each colour: black in bits 0-1
    host = hosts - ((hosts >> ONE) & _IN_TWOS)
    black, red = count & _IN_FOURS, (count >> _2) & _IN_FOURS
    black_hosts, red_hosts = host & _IN_FOURS, (host >> _2) & _IN_FOURS
    if frame.by_colour:
        return _excess(black, red_hosts, frame) + _excess(red, black_hosts, frame)
    return _excess(black + red, black_hosts + red_hosts, frame)


@jit
def cards_up(level):
    """Bit set of the cards on the foundations of four levels."""
    up = ZERO
    for suit in range(4):
        below = (ONE << (FOUR * np.uint64(level[suit]))) - ONE
        up |= below & (SUIT << np.uint64(suit))
    return up


@jit
def never_up(cards, reachable):
    """Those of a set of cards that cannot go up while only some of them can be reached at all."""
    never = ZERO
    for suit in range(4):
        own = cards & (SUIT << np.uint64(suit))
        barred = own & ~reachable
        if barred:
            first = barred & (~barred + ONE)
            never |= own & ~(first - ONE)
    return never


@jit
def next_cards(up):
    """Bit set of the cards that the foundations take next: in each suit the lowest not yet up."""
    cards = ZERO
    for suit in range(4):
        left = ~up & (SUIT << np.uint64(suit))
        cards |= left & (~left + ONE)
    return cards


@jit
def is_safe(bit, up, frame):
    """Whether a card that is next on its foundation can go up at once without regret.

    A card x of place p is useful in the tableau only as a host for cards of place p - 1. If all
    foundations have reached place p - 2, any such card can go up itself instead of on x, and the
    cards that it would have hosted are up already. The base cards (p = 0) may host the last place,
    if King goes on Ace there. So for p = 1 the cards of place 0 must be up, because they are useful
    hosts themselves. Where no card of place p - 1 goes on x, x is useless in the tableau.
    """
    p = np.int64(highest(bit)) >> 2
    if p == 0:
        return not frame.base_hosts
    if (frame.packs >> np.uint64(4 * (p - 1))) & _15 == ZERO:
        return True
    level = max(p - 1, np.int64(frame.base_hosts))  # that all must have reached
    below = (ONE << np.uint64(4 * level)) - ONE
    return up & below == below


@jit
def play_safe_cards(waste, tableau, up, deck, frame):
    """Play up all safe cards in any place (`is_safe`).

    Args:
        waste: bit set of positions in the deck.
        tableau: bit set of cards, as ``up``.

    Returns:
        Waste, tableau and cards up after that.
    """
    again = True
    while again:
        again = False
        ready = next_cards(up) & frame.cards
        while ready:
            card = ready & (~ready + ONE)
            ready ^= card
            if not is_safe(card, up, frame):
                continue
            if tableau & card:
                tableau ^= card
            elif waste and ONE << np.uint64(deck.cards[highest(waste)]) == card:
                waste ^= ONE << highest(waste)
            else:
                continue
            up |= card
            again = True
    return waste, tableau, up


@jit
def relaxed_moves(here, deck, frame, after):
    """Write the positions that one move of the relaxed game leads to; returns how many there are.

    Args:
        here: waste, tableau, cards up and number of cards dealt, as in `RELAXED`.
        after: RELAXED (MOST_RELAXED_MOVES,), written. If a card can be dealt, that comes first.
    """
    waste, tableau, up, dealt = here
    count = 0
    if dealt < deck.size:
        turned = waste | (ONE << np.uint64(dealt))
        count = _write(after, count, turned, tableau, up, dealt + 1)
    ready = next_cards(up) & frame.cards
    moving = ready & tableau
    while moving:
        card = moving & (~moving + ONE)
        moving ^= card
        if piles_needed(tableau, tableau ^ card, frame) <= deck.piles:
            count = _write(after, count, waste, tableau ^ card, up | card, dealt)
    if waste:
        rest = waste ^ (ONE << highest(waste))
        card = ONE << np.uint64(deck.cards[highest(waste)])
        if piles_needed(tableau | card, tableau, frame) <= deck.piles:
            count = _write(after, count, rest, tableau | card, up, dealt)
        if ready & card:
            count = _write(after, count, rest, tableau, up | card, dealt)
    return count


@jit
def _write(after, count, waste, tableau, up, dealt):
    """Write one position; returns how many there are now."""
    position = after[count]
    position.waste, position.tableau = waste, tableau
    position.up, position.dealt = up, dealt
    return count + 1


@jit
def relaxed_key(waste, up, dealt, first):
    """A relaxed position as one word, never 0: the waste, a bit that marks the end of what is
    dealt, and the levels as a number of base 14.

    Args:
        waste: bit set of positions in the deck.
        up: bit set of cards.
        dealt: cards dealt.
        first: position of the first card in waste or stock at the start; `KEY_POSITIONS` at most
            from there to the end of the deck.
    """
    levels = ZERO
    for suit in range(4):
        levels = levels * _14 + popcount(up & (SUIT << np.uint64(suit)))
    marked = (waste | (ONE << np.uint64(dealt))) >> np.uint64(first)
    return levels << np.uint64(KEY_POSITIONS + 1) | marked
