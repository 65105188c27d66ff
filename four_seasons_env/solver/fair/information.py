"""The decisions of `fair_value`: ways to play until the next hidden card is turned.

A decision is a position and the move that turns a card there: a deal, or a move after which a space
is refilled from the stock. Most decisions are dominated: moves between the piles, and from them to
the foundations, do not depend on the waste and can be made after a deal just as well. So a deal
counts only where the waste has just changed, or where no deal was legal before. Positions that can
be reached from one another by moves within the tableau form a group, and one deal counts for each
group.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.containers import forget, meet, pop, push
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.masks import next_move
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.solver.analysis.features import score_position
from four_seasons_env.solver.analysis.safe_moves import safe_move
from four_seasons_env.solver.fair.arrays import OUT_OF_POSITIONS, ROWS_FULL, SEARCHING

DEAL = 0
"""The number of the move."""
_COVERED, _HOME = 1, 2
_1 = np.uint64(1)

_rng = np.random.default_rng(1883)
_UNDER = _rng.integers(0, 2**64, (53, 53), np.uint64)  # [card of the waste, the card below it]


@jit
def hidden_cards(g, rule):
    """How many cards of the stock the player has not seen."""
    return 0 if kernel.stock_is_known(g, rule) else kernel.stock_size(g)


@jit
def _position_key(g, rule):
    """A hash of what the player knows, the same for every order of the piles.

    Unlike `position_keys` it distinguishes positions with different orders of the stock.
    """
    total, _ = position_keys(g, rule)
    card = g.top[WASTE]
    while card != NO_CARD:
        total += _UNDER[card, g.below[card]]
        card = g.below[card]
    return total


@jit
def meet_decisions(limit, arrays):
    """Find decisions that are open to the player at the position in row ``state.top``.

    Positions are expanded best first, by `score_position`. The decisions are left in the rows from
    there on, with `turns`, `scores` and `origins`, in the order in which they were met. Until the
    next search, `parents` and `moves` say how each is reached.

    Args:
        limit: positions to hold at most, by and large; a larger limit only adds decisions.

    Returns:
        How many decisions there are, and whether these are all.
    """
    rule, frame, state = arrays.rules[0], arrays.frames[0], arrays.state[0]
    positions, flags, turns, scores = arrays.positions, arrays.flags, arrays.turns, arrays.scores
    heap, words = arrays.waiting, arrays.words
    first = state.top
    meet(_position_key(positions[first], rule), first, arrays.met)
    flags[first] = 0 if rule.runs else _HOME
    arrays.parents[first] = -1
    turns[first] = -1
    scores[first] = 0.0
    stops = first  # rows before it are no decisions
    heap[0] = first
    size = 1
    count = first + 1
    while size and count < first + limit:
        if count + rule.actions > len(positions):
            state.status = ROWS_FULL
        elif state.positions >= state.last:
            state.status = OUT_OF_POSITIONS
        if state.status != SEARCHING:
            forget(stops, count, arrays.met)
            return 0, False
        here = pop(heap, size, scores)
        size -= 1
        flag = np.int64(flags[here])
        forced = safe_move(positions[here], rule, frame) if frame.safe else -1
        if forced < 0:
            kernel.legal(positions[here], rule, True, words)
            if flag & _COVERED == 0 and words[0] & _1:
                turns[here] = DEAL
                flag |= _COVERED
        else:
            words[:] = 0
            words[forced >> 3] = _1 << np.uint64(8 * (forced & 7))
            if flag & _HOME:  # equal to the root: nothing else needs to be examined
                size = 0
                flag = np.int64(0)
                forget(stops, count, arrays.met)
                stops = count
        dealt = positions[here].dealt
        waste = positions[here].height[WASTE]
        move = -1
        while True:
            move = next_move(words, move)
            if move < 0:
                break
            if rule.source[move] == STOCK:
                continue
            positions[count] = positions[here]
            g = positions[count]
            kernel.play(g, rule, move)
            state.positions += 1
            is_deal = g.dealt != dealt
            is_fresh = g.height[WASTE] != waste
            row = meet(_position_key(g, rule), count, arrays.met)
            if row != count:
                if flag & _COVERED and not (is_fresh or is_deal):
                    flags[row] |= _COVERED
                continue
            arrays.parents[count] = here
            arrays.moves[count] = move
            if is_deal:
                positions[count] = positions[here]
                turns[count] = move
                count += 1
                continue
            turns[count] = -1
            scores[count], is_lost = score_position(g, rule, frame, arrays.weights)
            flags[count] = _COVERED if is_lost else 0 if is_fresh else flag & _COVERED
            is_up = rule.target[move] == FOUNDATION or rule.source[move] >= FOUNDATION
            if flag & _HOME and not (is_fresh or is_up):
                flags[count] |= _HOME
            if not is_lost:
                push(heap, size, scores, count)
                size += 1
            count += 1
    forget(stops, count, arrays.met)
    found = first
    for row in range(stops, count):
        if turns[row] >= 0:
            positions[found] = positions[row]
            turns[found] = turns[row]
            arrays.origins[found] = row - first
            scores[found], _ = score_position(positions[found], rule, frame, arrays.weights)
            found += 1
    return found - first, size == 0
