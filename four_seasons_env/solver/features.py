"""The features that order a beam. A position's score is their weighted sum: larger is better.

The difficulty lies in the order of the waste: it is played off from the top, and a card that cannot
go up must be parked in the tableau. So most features look at the waste, card by card from the top.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.bits import popcount
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.relaxation import (
    FOUR,
    ONE,
    SUIT,
    ZERO,
    cards_up,
    never_up,
    next_cards,
    piles_needed,
)

FEATURES = (
    "waste",  # cards in the waste
    "piles",  # piles that are no spaces
    "up",  # cards on the foundations
    "above_next",  # waste cards above those that the foundations take next
    "tops",  # sum of the places of the piles' top cards, each 0 to 1
    "needed",  # piles that the tableau's cards need at least
    "inversions",  # pairs of waste cards of which the upper is of a higher place
    "suit_inversions",  # the same within a suit
    "worst",  # piles needed at least, at the worst moment of playing off the waste
    "parked",  # waste cards that must be parked in the tableau at least
    "lowest",  # level of the lowest foundation
    "covered",  # tableau cards above those that the foundations take next
)
WEIGHTS = np.array([-0.23, -0.21, 1.93, -0.18, -2.0, 0.37, -0.25, 0.38, -0.17, -0.31, -0.47, -0.33])
"""Found by the cross-entropy method on training deals of `four-seasons` (a beam of width 60)."""

_3 = np.uint64(3)


@jit
def score_position(g, rule, frame, weights):
    """A position's score, and whether it is seen to be lost (see `proof.waste_is_stuck`)."""
    up = cards_up(g.level)
    left = frame.cards & ~up
    ready = next_cards(up)
    stock = ZERO
    for i in range(g.dealt, g.deck_size):
        stock |= ONE << np.uint64(frame.place[g.deck[i]])

    # The tableau: what lies where, and what covers the cards that go up next.
    piles = tops = covered = 0
    tableau = ZERO
    for pile in range(rule.piles):
        card = g.top[pile]
        if card == NO_CARD:
            continue
        piles += 1
        tops += frame.place[card] >> 2
        depth = 0
        while card != NO_CARD:
            bit = ONE << np.uint64(frame.place[card])
            tableau |= bit
            if bit & ready:
                covered += depth
            depth += 1
            card = g.below[card]
    needed = piles_needed(tableau, tableau, frame)

    # The waste from the top down, as it must be played off. The whole stock counts as available, so
    # a card that still cannot go up must be parked. So `worst` is a bound that can prove a loss.
    reached = up | tableau | stock
    never = never_up(left, reached)
    above = ZERO
    lying = tableau
    size = above_next = parked = 0
    inversions = suit_inversions = np.int64(0)
    worst = needed
    card = g.top[WASTE]
    while card != NO_CARD:
        place = np.uint64(frame.place[card])
        bit = ONE << place
        suit = SUIT << (place & _3)
        rank = np.int64(place >> np.uint64(2))
        higher = above & ~((ONE << (FOUR * np.uint64(rank + 1))) - ONE)
        inversions += np.int64(popcount(higher))
        suit_inversions += np.int64(popcount(higher & suit))
        if bit & ready:
            above_next += size
        lying |= bit
        own = never & suit
        if own & (~own + ONE) == bit:  # the lowest barred card of its suit
            reached |= bit
            never = never_up(left, reached)
        else:
            parked += 1
            worst = max(worst, piles_needed(lying & never, reached, frame))
            reached |= bit
        above |= bit
        size += 1
        card = g.below[card]
    lowest = min(g.level[0], g.level[1], g.level[2], g.level[3])
    score = (
        weights[0] * size
        + weights[1] * piles
        + weights[2] * g.cards_up
        + weights[3] * above_next
        + weights[4] * tops / rule.ranks
        + weights[5] * needed
        + weights[6] * inversions
        + weights[7] * suit_inversions
        + weights[8] * worst
        + weights[9] * parked
        + weights[10] * lowest
        + weights[11] * covered
    )
    return score, frame.one_way and worst > rule.piles
