"""Expectimax over what a player knows, in whole numbers: in how many orders of the hidden cards
does the best play win?

A value lies between two bounds, both counted in orders of the hidden cards. They are narrowed by
alpha-beta search over decisions and the cards that may be turned (Star1: Ballard 1983). It stops
when a decision cannot be better than the best one known. Positions in which the player knows the
same, under any names of suits and piles, share their values.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.containers import find, pop, push
from four_seasons_env.engine.deals import mix
from four_seasons_env.engine.jit import jit
from four_seasons_env.solver.analysis.features import score_position
from four_seasons_env.solver.analysis.safe_moves import play_safe
from four_seasons_env.solver.fair.arrays import ROWS_FULL, SEARCHING, VALUES_FULL
from four_seasons_env.solver.fair.information import DEAL, meet_decisions
from four_seasons_env.solver.fair.keys import shared_key
from four_seasons_env.solver.fair.open_cards import ORDERS, can_win, winnable_orders

_ZERO = np.uint64(0)

NO_TURN = -1
"""Instead of the move that turns a card: the decision is the position itself, its one outcome."""
FIRST = 64
"""Positions that an enumeration of decisions holds at first."""
GROWTH = 8
"""How many times as many it holds the next time."""
OPEN_CARDS = 5
"""Hidden cards, at most, when all their orders are tried with open cards for an upper bound."""
_SMALL = 24
"""Cards of a deck, at most, of which no order is tried: there this search itself is quicker."""


@jit
def _bounds(key, orders, arrays):
    """The bounds of a value that are known."""
    entry = arrays.values[find(arrays.values.key, key)]
    if entry.key == _ZERO:
        return np.int64(0), np.int64(orders)
    return entry.low, entry.high


@jit
def _note(key, low, high, orders, arrays):
    """Narrow the bounds of a value."""
    state, values = arrays.state[0], arrays.values
    entry = values[find(values.key, key)]
    if entry.key == _ZERO:
        if 2 * state.values >= len(values):
            state.status = VALUES_FULL
            return
        state.values += 1
        entry.key = key
        entry.low, entry.high = np.int64(0), np.int64(orders)
    entry.low, entry.high = max(entry.low, low), min(entry.high, high)


@jit
def _turn(row, number, into, hidden, arrays):
    """Play a decision's move with one of the hidden cards; returns the bounds of the result."""
    rule, frame, positions = arrays.rules[0], arrays.frames[0], arrays.positions
    positions[into] = positions[row]
    g = positions[into]
    if arrays.turns[row] != NO_TURN:
        at, other = np.int64(g.dealt), np.int64(g.dealt) + number
        # All orders of the hidden cards are equally likely, so a swap turns any of them.
        g.deck[at], g.deck[other] = g.deck[other], g.deck[at]
        kernel.play(g, rule, arrays.turns[row])
        arrays.state[0].positions += 1
        play_safe(g, rule, frame)
    key = shared_key(g, rule, frame, False, arrays.own, arrays.names)
    arrays.keys[into] = key
    low, high = _bounds(key, ORDERS[hidden], arrays)
    if low < high:
        _, is_lost = score_position(g, rule, frame, arrays.weights)
        if is_lost:
            high = low
    return low, high


@jit
def _outcomes(row, hidden, arrays):
    """How many outcomes a decision has, and how many cards are hidden in each."""
    if arrays.turns[row] == NO_TURN:
        return np.int64(1), np.int64(hidden)
    return np.int64(hidden), np.int64(hidden - 1)


@jit
def turn_each(row, hidden, alpha, arrays):
    """Play a decision's move with each hidden card, into the rows from ``state.top`` on.

    Returns:
        Low and high, as far as they are known. It stops when the value is not above alpha.
    """
    lows, highs = arrays.lows, arrays.highs
    outcomes, left = _outcomes(row, hidden, arrays)
    low, high = np.int64(0), outcomes * ORDERS[left]
    for number in range(outcomes):
        into = arrays.state[0].top + number
        lows[into], highs[into] = _turn(row, number, into, left, arrays)
        low += lows[into]
        high -= ORDERS[left] - highs[into]
        if high <= alpha:
            break
    return low, high


# No other compiled function calls this one: a caller that Numba loads from its cache crashes where
# it calls a function that calls itself.
@jit
def value_of(row, hidden, alpha, beta, arrays):
    """The value of a decision, or bounds of it.

    Args:
        row: of the decision.
        hidden: cards that are not known, 2 or more.
        alpha: a value that is not above it is not narrowed further.
        beta: nor one that is not below it.
        arrays: `FairArrays`; rows from ``state.top`` on are written.

    Returns:
        Low and high, in orders of the hidden cards.
    """
    state, positions, scores = arrays.state[0], arrays.positions, arrays.scores
    lows, highs, keys = arrays.lows, arrays.highs, arrays.keys
    rule, frame = arrays.rules[0], arrays.frames[0]
    outcomes, left = _outcomes(row, hidden, arrays)
    orders = ORDERS[left]
    top = state.top
    known_low, known_high = np.int64(0), outcomes * orders
    own_key = _ZERO
    if arrays.turns[row] == DEAL:  # other moves name a pile
        own_key = mix(shared_key(positions[row], rule, frame, False, arrays.own, arrays.names))
        known_low, known_high = _bounds(own_key, outcomes * orders, arrays)
        if known_low >= beta or known_high <= alpha or known_low == known_high:
            return known_low, known_high
    if top + outcomes + 1 > len(positions):
        state.status = ROWS_FULL
    if state.status != SEARCHING:
        return known_low, known_high
    sum_low, sum_high = turn_each(row, hidden, alpha, arrays)
    if sum_high <= alpha:
        return max(sum_low, known_low), min(sum_high, known_high)
    for i in range(outcomes):
        child = top + i
        low, high = _bounds(keys[child], orders, arrays)  # a sibling may have narrowed them since
        low, high = max(low, lows[child]), min(high, highs[child])
        sum_low += low - lows[child]
        sum_high += high - highs[child]
        lows[child], highs[child] = low, high
        if sum_high <= alpha or sum_low >= beta or state.status != SEARCHING:
            break
        if low == high:
            continue
        # Star1: at most `least`, the sum cannot exceed alpha; from `most` on, it reaches beta.
        least = alpha - (sum_high - high)
        most = beta - (sum_low - low)
        start = state.top = top + outcomes
        positions[start] = positions[child]
        if left == 1:
            result = can_win(arrays)
            low = np.int64(result == 1)
            high = np.int64(result != 0)
        else:
            asks = left <= OPEN_CARDS and rule.cards > _SMALL
            if asks and can_win(arrays) == 0:  # it looks lost: try the upper bound first
                high = min(high, winnable_orders(child, left, max(least, low), arrays))
                asks = False
            # Enumerate few decisions first, then GROWTH times as many, while the bounds are too far
            # apart. What earlier rounds have found out is in the table of values.
            limit, is_all = FIRST, False
            while low < min(high, most) and high > least and not is_all:
                if state.status != SEARCHING:
                    break
                state.top = start
                positions[start] = positions[child]
                found, is_all = meet_decisions(limit, arrays)
                state.top += found
                order = arrays.order[start : start + found]
                for number in range(found):
                    push(order, number, scores, start + number)
                reached = low
                for number in range(found):
                    best = pop(order, found - number, scores)
                    new_low, new_high = value_of(
                        best, left, max(least, low), min(most, high), arrays
                    )
                    low, reached = max(low, new_low), max(reached, new_high)
                    if asks and low < min(high, most):
                        open_high = winnable_orders(child, left, max(least, low), arrays)
                        high = min(high, open_high)
                        asks = False
                    if low >= min(most, high) or high <= least or state.status != SEARCHING:
                        is_all = False
                        break
                if is_all and state.status == SEARCHING:
                    high = min(high, reached)
                limit *= GROWTH
        _note(keys[child], low, high, orders, arrays)
        sum_low += low - lows[child]
        sum_high += high - highs[child]
    state.top = top
    sum_low, sum_high = max(sum_low, known_low), min(sum_high, known_high)
    if own_key != _ZERO:
        _note(own_key, sum_low, sum_high, outcomes * orders, arrays)
    return sum_low, sum_high


@jit
def known_decisions(hidden, limit, arrays):
    """Enumerate the decisions at the position in row 0, with what is known of their values.

    They are left in the rows from 1 on, as `meet_decisions` leaves them, with `lows` and `highs`.

    Returns:
        How many there are, and whether these are all.
    """
    state = arrays.state[0]
    arrays.positions[1] = arrays.positions[0]
    found, is_all = meet_decisions(limit, arrays)
    state.top += found
    if state.top + hidden > len(arrays.positions):
        state.status = ROWS_FULL
        return 0, False
    for row in range(1, 1 + found):
        arrays.lows[row], arrays.highs[row] = turn_each(row, hidden, np.int64(-1), arrays)
    return found, is_all
