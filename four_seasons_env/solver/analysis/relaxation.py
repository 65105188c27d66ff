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

Example: T = {7C, 7H, 6D, 2S} with packing regardless of suit. Two Sevens and no Eight: both begin a
run. One Six and two Sevens to host it: no excess. One Two and no Three: a run. So T needs 3 piles.
If 6D has just been moved, the sum is the same; if 7C has, one Seven is left as a host, and it is
enough for 6D.

Safe moves are cards that can go up at once without regret, so a search plays nothing else first.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import ONE, ZERO
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE

FOUR = np.uint64(4)
SUIT = np.uint64(0x1111111111111)  # the thirteen cards of the first suit
WASTE_UP = 1
"""The number of the move W>F; those of Ti>F follow."""
MAX_SAFE = 52
"""Maximum number of safe moves in a row: every card goes up once."""

_2, _3, _7, _15, _56 = (np.uint64(n) for n in (2, 3, 7, 15, 56))
_IN_TWOS = np.uint64(0x5555555555555)
_IN_FOURS = np.uint64(0x3333333333333)
_IN_EIGHTS = np.uint64(0x0F0F0F0F0F0F0F0F)
_EIGHTS = np.uint64(0x8888888888888)
_BYTES = np.uint64(0x0101010101010101)


@jit
def _excess(count, hosts, frame):
    """Sum over the places of how many more cards than hosts there are, as far as positive.

    All thirteen places are counted at once (SIMD within a register): a 64-bit word holds a number
    of 4 bits, 0 to 4, for each place.
    """
    # The hosts of a place are the cards of the next one; those of the last place, the base cards.
    hosts = ((hosts >> FOUR) | ((hosts & _15) << frame.turn)) & frame.packs
    difference = (count | _EIGHTS) - hosts  # per place 8 + count - hosts: none borrows
    positive = (difference >> _3) & SUIT  # 1 in each place where the difference is not negative
    difference &= positive * _7
    # Add neighbours, and then all bytes by one multiplication: its highest byte is their sum.
    pairs = (difference & _IN_EIGHTS) + ((difference >> FOUR) & _IN_EIGHTS)
    return np.int64((pairs * _BYTES) >> _56)


@jit
def piles_needed(cards, hosts, frame):
    """The least number of packed runs that a set of cards makes, with these hosts for them.

    Args:
        cards: bit set of the cards to be arranged.
        hosts: bit set of the cards that others may lie on.
    """
    # Population counts of pairs of bits: clubs and spades in bits 0-1, hearts and diamonds in 2-3.
    count = cards - ((cards >> ONE) & _IN_TWOS)
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
    """The cards that cannot go up while only ``reachable`` ones can move: bit sets of cards.

    In each suit these are the first card out of reach and all higher ones.
    """
    never = ZERO
    for suit in range(4):
        of_suit = cards & (SUIT << np.uint64(suit))
        buried = of_suit & ~reachable
        if buried:
            first = buried & (~buried + ONE)
            never |= of_suit & ~(first - ONE)
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
def is_safe(p, up, frame):
    """Whether a card of place p that its foundation takes next can go up at once without regret.

    A card x of place p is useful in the tableau only as a host for cards of place p - 1. If all
    foundations have reached place p - 2, any such card can go up itself instead of on x, and the
    cards that it would have hosted are up already. The base cards (p = 0) may host the last place,
    if King goes on Ace there. So for p = 1 the cards of place 0 must be up, because they are useful
    hosts themselves. Where no card of place p - 1 goes on x, x is useless in the tableau.
    """
    if p == 0:
        return not frame.base_hosts
    if (frame.packs >> np.uint64(4 * (p - 1))) & _15 == ZERO:
        return True
    level = max(p - 1, np.int64(frame.base_hosts))  # that all must have reached
    below = (ONE << np.uint64(4 * level)) - ONE
    return up & below == below


@jit
def safe_move(g, rule, frame):
    """The number of a safe move to a foundation, or -1 (`is_safe`)."""
    for i in range(rule.piles + 1):
        card = g.top[WASTE if i == 0 else i - 1]
        place = np.int64(frame.place[card]) >> 2
        if kernel.goes_up(g, rule, card) and is_safe(place, cards_up(g.level), frame):
            return WASTE_UP + i
    return -1


@jit
def play_safe(g, rule, frame):
    """Play all safe moves."""
    while frame.safe:
        move = safe_move(g, rule, frame)
        if move < 0:
            return
        kernel.play(g, rule, move)
