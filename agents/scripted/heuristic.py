"""`heuristic`: a rule of thumb, thirty weights on features of a move that players look at.

Every piece of advice is a feature of the position (`FEATURES`). The player looks one move ahead: a
move is worth the weighted sum of the changes in the features. The best move is played if it is
worth more than dealing; otherwise the next card is dealt. Because every move but dealing must
improve the position, play never cycles. With an empty stock, the least bad move that reduces the
waste is played. The player uses only what it may see: which cards are unseen, never their order.

The weights change linearly from a full stock to an empty one. They were found on training deals
only, by the cross-entropy method (Rubinstein 1999).

An example of `blocked_by`: the base is 5, hearts are up to the 8 and spades to the 5. In a pile,
the 8 of spades lies on the 9 of hearts. The 9 can go up now, the 8 only after two more spades. So
the 8 blocks by two levels.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import ONE, ZERO, popcount
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, all_moves
from four_seasons_env.rules import Rules

FEATURES = (
    *("cards_up", "lead", "one_space", "two_spaces", "three_spaces"),
    *("in_suit", "blocked", "blocked_by", "waste", "waste_blocked"),
    *("next_buried", "hosts", "waste_hosts", "tops", "deal"),
)
"""Names of the pieces of advice in `heuristic.json`."""

(
    _CARDS_UP,  # cards on the foundations: play up early
    # Levels by which suits are ahead of the lowest by more than two: a card that is up can no
    # longer take cards in the tableau.
    _LEAD,
    _ONE_SPACE,  # at least one space: it gets a buried card out
    _TWO_SPACES,  # at least two
    _THREE_SPACES,  # at least three
    _IN_SUIT,  # cards lying on the next card of their suit: such piles peel off as a whole
    _BLOCKED,  # cards lying on one that goes up earlier
    _BLOCKED_BY,  # by how many levels the card below goes up earlier, summed
    _WASTE_SIZE,  # cards in the waste
    _WASTE_BLOCKED,  # waste cards lying on one that goes up at the same level or earlier
    _NEXT_BURIED,  # cards on top of those that can go up next
    _HOSTS,  # unseen cards that some pile would take: keep the tops different
    _WASTE_HOSTS,  # the waste's top card has somewhere to go
    _TOPS,  # levels that the piles' top cards are away from going up, summed
    _DEAL,  # dealing: how much better another move must be
) = range(len(FEATURES))
_TUNED = Path(__file__).with_name("heuristic.json")


@jit
def _levels_left(g, rule, card):
    """Cards of its suit that go up before a card: 0 if it goes now."""
    return kernel.relative_rank(g, rule, card) - np.int64(g.level[card & 3])


@jit
def _column(g, rule, place, is_waste, f):
    """Add the features of one pile, or of the waste, from its top card down.

    A card that lies on one that goes up earlier has to leave first: it blocks.
    """
    card = g.top[place]
    above = 0
    while card != NO_CARD:
        left = _levels_left(g, rule, card)
        if left == 0:
            f[_NEXT_BURIED] += above
        host = g.below[card]
        if host != NO_CARD:
            # Levels by which the card below goes up first.
            early = left - _levels_left(g, rule, host)
            if is_waste:
                f[_WASTE_BLOCKED] += early >= 0
            else:
                f[_IN_SUIT] += early == -1 and (card & 3) == (host & 3)
                f[_BLOCKED] += early > 0
                f[_BLOCKED_BY] += max(early, 0)
        above += 1
        card = host


@jit
def _features(g, rule, unseen, f):
    """Write the features of a position; unseen is the bit set of the cards in the stock."""
    f[:] = 0.0
    # 1. Foundations: how many cards are up, and by how much suits are ahead.
    lowest = rule.ranks
    for suit in range(4):
        lowest = min(lowest, np.int64(g.level[suit]))
    for suit in range(4):
        f[_LEAD] += max(np.int64(g.level[suit]) - lowest - 2, 0)
    f[_CARDS_UP] = g.cards_up
    # 2. Piles, from the top: spaces, order, and the bit set of the cards that some pile would take.
    spaces = 0
    takes = ZERO
    accepts = rule.accepts[g.base[0]]
    for pile in range(rule.piles):
        top = g.top[pile]
        if top == NO_CARD:
            spaces += 1
        else:
            takes |= accepts[top]
            f[_TOPS] += _levels_left(g, rule, top)
            _column(g, rule, pile, False, f)
    f[_ONE_SPACE] = spaces >= 1
    f[_TWO_SPACES] = spaces >= 2
    f[_THREE_SPACES] = spaces >= 3
    # 3. The waste as a pile.
    f[_WASTE_SIZE] = g.height[WASTE]
    _column(g, rule, WASTE, True, f)
    # 4. What can be played onto the piles: cards still to come, and the waste's top card.
    f[_HOSTS] = popcount(takes & unseen)
    waste_card = g.top[WASTE]
    if waste_card != NO_CARD:
        has_host = (takes >> np.uint64(waste_card)) & ONE != 0
        f[_WASTE_HOSTS] = has_host or _levels_left(g, rule, waste_card) == 0


@jit
def _value(g, rule, unseen, weights, f):
    """The weighted sum of a position's features, without the threshold."""
    _features(g, rule, unseen, f)
    value = 0.0
    for i in range(_DEAL):
        value += weights[i] * f[i]
    return value


class HeuristicBuffers(NamedTuple):
    """The tuned weights, and buffers of `choose_move`."""

    tuned: NDArray[np.float64]  # (2, features), with the stock full, and empty
    game: NDArray[Any]  # GAME (1,), the position after a move
    weights: NDArray[np.float64]  # (features,) at this stage of the stock
    features: NDArray[np.float64]  # (features,)
    gains: NDArray[np.float64]  # (actions,) what each legal move is worth; written for the caller


def new_buffers(rules: Rules) -> HeuristicBuffers:
    """Buffers for `choose_move`."""
    count = len(FEATURES)
    room = np.zeros(1, kernel.GAME), np.zeros(count), np.zeros(count)
    return HeuristicBuffers(_read_weights(), *room, np.zeros(len(all_moves(rules))))


@functools.cache
def _read_weights() -> NDArray[np.float64]:
    """The tuned weights, float64 of shape (2, features): with the stock full, and empty."""
    table = json.loads(_TUNED.read_text(encoding="utf-8"))["weights"]
    return np.array([[table[name][end] for name in FEATURES] for end in (0, 1)])


@jit
def choose_move(g, rule, mask, buffers):
    """The move to play; -1 if there is none.

    Args:
        mask: a byte a move, not 0 where it may be played.
        buffers: `HeuristicBuffers`; the legal moves' ``gains`` are left in it.
    """
    tuned, after, w, f, gains = buffers
    unseen = kernel.stock_cards(g)
    # 1. The weights at this stage: a mean of those of a full stock and of an empty one.
    left = kernel.stock_size(g) / rule.cards
    for i in range(_DEAL + 1):
        w[i] = tuned[1, i] + (tuned[0, i] - tuned[1, i]) * left
    here = _value(g, rule, unseen, w, f)
    # 2. Each legal move, played on a copy: what the position gains by it.
    best = last_resort = turn = only = -1
    best_gain = last_gain = -1e9
    for move in range(rule.actions):
        if not mask[move]:
            continue
        source = rule.source[move]
        target = rule.target[move]
        if target == STOCK or (source == STOCK and target == WASTE):
            turn = move  # deals or redeals; not played out, because the next card is hidden
            gains[move] = max(w[_DEAL], 1e-9)
            continue
        if FOUNDATION <= source < STOCK and kernel.stock_size(g) == 0:
            only = move  # worrying back could cycle with the last resort
            gains[move] = -1e9
            continue
        after[0] = g
        kernel.play(after[0], rule, move)
        gain = _value(after[0], rule, unseen, w, f) - here
        gains[move] = gain
        if gain > best_gain:
            best, best_gain = move, gain
        if (source in (WASTE, STOCK) or target == FOUNDATION) and gain > last_gain:
            last_resort, last_gain = move, gain
    # 3. The best move, if it gains more than the threshold for dealing.
    if turn >= 0:
        return best if best >= 0 and best_gain > gains[turn] else turn
    # 4. Nothing can be dealt, so a move may make the position worse. It must be one that cannot be
    # taken back, or play could cycle: from the waste, or to a foundation.
    if last_resort >= 0 and best_gain <= 1e-9:
        return last_resort
    return best if best >= 0 else only
