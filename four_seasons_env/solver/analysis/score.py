"""The features that order a beam. A position's score is their weighted sum: larger is better.

The difficulty lies in the order of the waste: it is played off from the top, and a card that cannot
go up must be parked in the tableau. So most features describe the waste, card by card from the top.
Some describe when cards can go up: not before all lower cards of their suit have been dealt.

Example: all bases are Aces, no card is up, and the waste holds 5C 2C 7C, with 7C on top.

- 7C lies on two cards of its suit that have to go up before it, and 2C on none:
  `inversions` and `suit_inversions` are 2.
- 7C waits until AC, 3C, 4C and 6C have been dealt. If 6C comes last, 2C and 5C could go up sooner,
  but wait below 7C: `waste_late` is 2, and `waste_delay` is the sum of the deals that they lose.

Bit sets of cards are ordered by the foundations (`root`): bit 4 * place + suit.

The features, by the index of their weight:

     0  waste            cards in the waste
     1  piles            piles that are no spaces
     2  up               cards on the foundations
     3  above_next       waste cards above those that the foundations take next
     4  tops             sum of the places of the piles' top cards, each 0 to 1
     5  needed           piles that the tableau's cards need at least
     6  inversions       pairs of waste cards of which the upper is of a higher place
     7  suit_inversions  the same within a suit
     8  worst            piles needed at least, at the worst moment of playing off the waste
     9  parked           waste cards that must be parked in the tableau at least
    10  lowest           level of the lowest foundation
    11  covered          tableau cards above those that the foundations take next
    12  waste_delay      deals that waste cards wait for those above them (FRAME field `ready`)
    13  waste_late       waste cards with one above them that waits for longer
    14  waste_wait       deals until the last waste card can go up
    15  pile_late        tableau cards with one above them that waits for longer
    16  pile_wait        deals until the last card of a pile can go up, summed over the piles
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.bits import ONE, ZERO, popcount
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import inlined, jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.analysis import relaxation
from four_seasons_env.solver.analysis.relaxation import FOUR, SUIT

WEIGHTS = np.array(
    [-0.23, -0.21, 1.93, -0.18, -2.0, 0.37, -0.25, 0.38, -0.17, -0.31, -0.47, -0.33, 0, 0, 0, 0, 0]
)
"""For a narrow beam, in the order above; 0: not used.

Found by the cross-entropy method on training deals of `four-seasons`."""
WIDE_WEIGHTS = np.array([
    -0.22, -0.22, 1.61, -0.14, -2.72, 0.43, -0.23, 0.40, -0.17, -0.32, -0.43, -0.48,
    -0.062, -0.18, 0.052, -0.52, -0.012,
])  # fmt: skip
"""For hard deals; found on deals that a beam of width 30 with `WEIGHTS` does not win."""

_2, _3 = np.uint64(2), np.uint64(3)


@inlined
def _wait_of(place, dealt, frame):
    """Deals until a card of a place can go up, as far as the stock decides it (FRAME `ready`)."""
    return max(np.int64(frame.ready[place]) - dealt, 0)


@inlined
def _score_waste(g, tableau, stock, up, needed, frame, weights):
    """The part of the score that does not depend on how the tableau is arranged.

    A thought experiment plays the waste off from its top, with the whole stock at hand in any
    order. A card that still cannot go up must be parked in the tableau. The cards of tableau and
    waste that cannot have gone up by then must fit into the piles together with it. All cards
    reached so far count as hosts, which is generous. So the piles needed at the worst moment are a
    lower bound, which can prove a loss (docs/explanation/solver.md, step 5).

    Args:
        tableau: bit set of cards, like ``stock`` and ``up``.
        needed: piles that the tableau's cards need at least.

    Returns:
        The score, and the piles needed at the worst moment.
    """
    ready, dealt = relaxation.next_cards(up), np.int64(g.dealt)
    size = above_next = parked = delay = late = longest = 0
    inversions = suit_inversions = np.int64(0)
    worst, above = needed, ZERO  # bit set of the waste cards so far
    # The cards that cannot go up, because they or a lower card of their suit are still buried.
    never = relaxation.never_up(frame.cards & ~up, tableau | stock | up)
    card = g.top[WASTE]
    while card != NO_CARD:
        place = np.uint64(frame.place[card])
        bit, suit = ONE << place, SUIT << (place & _3)
        # 1. The order of the waste: how many cards above this one have to go up after it?
        higher = above & ~((ONE << (FOUR * ((place >> _2) + ONE))) - ONE)
        inversions += np.int64(popcount(higher))
        suit_inversions += np.int64(popcount(higher & suit))
        above_next += size if bit & ready else 0
        # 2. Up or parked? If this is the lowest card of its suit that was out of reach (x & -x is
        # the lowest bit), all lower ones can be up by now, and it goes up, too. It may free higher
        # cards of its suit.
        blocked = never & suit
        if blocked & (~blocked + ONE) == bit:
            never = relaxation.never_up(frame.cards & ~up, tableau | stock | above | bit | up)
        else:
            parked += 1
            # The card has just moved and lies uncovered, so it hosts none.
            lying, hosts = tableau | above | bit, tableau | stock | above
            worst = max(worst, relaxation.piles_needed(lying & never, hosts, frame))
        # 3. Time: a card above that has to wait for more deals delays this one.
        wait = _wait_of(place, dealt, frame)
        delay += max(longest - wait, 0)
        late += longest > wait
        longest = max(longest, wait)
        above |= bit
        size += 1
        card = g.below[card]
    score = (
        weights[0] * size
        + weights[2] * np.int64(popcount(up))
        + weights[3] * above_next
        + weights[5] * needed
        + weights[6] * inversions
        + weights[7] * suit_inversions
        + weights[8] * worst
        + weights[9] * parked
        + weights[10] * min(g.level[0], g.level[1], g.level[2], g.level[3])
        + weights[12] * delay
        + weights[13] * late
        + weights[14] * longest
    )
    return score, worst


@jit
def score_position(g, rule, frame, weights):
    """The score of a position, and whether a bound proves it lost.

    The score is the sum of the features times their weights; larger is better.

    Args:
        g: a GAME record, ``rule`` its RULE record and ``frame`` its FRAME record.
        weights: float64 (features,).
    """
    # 1. Bit sets of the cards on the foundations, next for them, and in the stock.
    up = relaxation.cards_up(g.level)
    ready = relaxation.next_cards(up)
    stock = ZERO
    for i in range(g.dealt, g.deck_size):
        stock |= ONE << np.uint64(frame.place[g.deck[i]])
    # 2. The tableau, pile by pile from the top card down.
    dealt = np.int64(g.dealt)
    piles = tops = covered = late = waits = 0
    tableau = ZERO
    for pile in range(rule.piles):
        card = g.top[pile]
        if card == NO_CARD:
            continue
        piles += 1
        tops += frame.place[card] >> 2
        depth = longest = 0
        while card != NO_CARD:
            bit = ONE << np.uint64(frame.place[card])
            tableau |= bit
            if bit & ready:  # the next card of its foundation, below `depth` others
                covered += depth
            depth += 1
            wait = _wait_of(frame.place[card], dealt, frame)
            late += longest > wait
            longest = max(longest, wait)
            card = g.below[card]
        waits += longest
    # 3. The waste, which also gives the bound. It is no proof where cards can come back.
    needed = relaxation.piles_needed(tableau, tableau, frame)
    score, worst = _score_waste(g, tableau, stock, up, needed, frame, weights)
    score += weights[1] * piles + weights[4] * tops / rule.ranks + weights[11] * covered
    score += weights[15] * late + weights[16] * waits
    return score, frame.one_way and worst > rule.piles
