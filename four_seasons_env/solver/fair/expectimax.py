"""Expectimax over what a player knows, in whole numbers: in how many orders of the hidden cards
does the best play win?

    value of a position = the largest value of its decisions
    value of a decision = the sum of the values of the positions to which the hidden cards lead

A decision is a way to play until the next hidden card is turned. Each hidden card is turned next in
equally many orders, so the sum needs no weights. A position in which all cards are known is won or
lost, and a search among its moves finds out.

A value lies between two bounds. They are narrowed by alpha-beta search over decisions and the cards
that may be turned (Star1: Ballard 1983). It stops when a decision cannot be better than the best
one known. Positions in which the player knows the same, under any names of suits and piles, share
their values.
"""

from __future__ import annotations

import math

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import next_move
from four_seasons_env.engine.containers import find, forget, meet, pop, push
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.solver.analysis.features import WEIGHTS, score_position
from four_seasons_env.solver.analysis.relaxation import play_safe, safe_move
from four_seasons_env.solver.fair.arrays import (
    OUT_OF_POSITIONS,
    ROWS_FULL,
    SEARCHING,
    VALUES_FULL,
)
from four_seasons_env.solver.fair.keys import shared_key

MOST_HIDDEN = 20
"""Cards: the orders of more do not fit into 64 bits."""
FACTORIALS = np.array([math.factorial(n) for n in range(MOST_HIDDEN + 1)], np.int64)
"""[cards] -> the orders that they may have."""
FIRST = 32
"""Positions that an enumeration of decisions holds at first."""
GROWTH = 8
"""How many times as many it holds the next time."""
DEAL = 0
"""The number of the move."""
_ZERO, _1 = np.uint64(0), np.uint64(1)


# No other compiled function calls this one: a caller that Numba loads from its cache crashes where
# it calls a function that calls itself.
@jit
def position_value(row, hidden, alpha, beta, arrays):
    """Bounds of a position's value, low and high, in orders of its hidden cards.

    Args:
        row: of the position, with what is known of it; rows from ``state.top`` on are written. At
            the end, ``state.held`` of them hold what the last `_meet_decisions` here has found.
        hidden: cards that are not known.
        alpha: a value that is not above it is not narrowed further.
        beta: nor one that is not below it.
        arrays: `FairArrays`.
    """
    state, rows, orders = arrays.state[0], arrays.rows, FACTORIALS[hidden]
    start = state.top
    low, high = rows[row].low, rows[row].high
    # Enumerate few decisions first, then GROWTH times as many, while the bounds are too far apart.
    # What earlier rounds have found out is in the table of values.
    limit, held, is_all = FIRST, 0, False
    while low < min(high, beta) and high > alpha and not is_all and state.status == SEARCHING:
        state.top = start
        arrays.positions[start] = arrays.positions[row]
        held, is_all = _meet_decisions(hidden, limit, arrays)
        limit *= GROWTH
        if hidden <= 1:  # all cards are known: it is won or not
            if state.won >= 0:
                low = rows[state.won].low = high
            elif is_all:
                high = low
            continue
        children = state.top = start + held
        heap = arrays.heap[start:children]
        found = 0
        for each in range(start, children):
            if rows[each].turn >= 0:
                push(heap, found, rows.score, each)
                found += 1
        reached = low
        while found and low < min(high, beta) and state.status == SEARCHING:
            if state.positions >= state.last:
                state.status = OUT_OF_POSITIONS
            decision = pop(heap, found, rows.score)
            found -= 1
            floor, ceiling = max(alpha, low), min(beta, high)
            sum_low, sum_high = _turn_each(decision, hidden, arrays)
            for child in range(children, children + hidden):
                if sum_high <= floor or sum_low >= ceiling or state.status != SEARCHING:
                    break
                # Star1: if the child is worth no more than this, the sum cannot exceed the floor;
                # if it is worth that, the sum reaches the ceiling.
                least = floor - (sum_high - rows[child].high)
                most = ceiling - (sum_low - rows[child].low)
                state.top = children + hidden
                child_low, child_high = position_value(child, hidden - 1, least, most, arrays)
                state.top = children
                sum_low += child_low - rows[child].low
                sum_high += child_high - rows[child].high
            rows[decision].low, rows[decision].high = sum_low, sum_high
            low, reached = max(low, sum_low), max(reached, sum_high)
        if is_all and not found and state.status == SEARCHING:
            high = min(high, reached)
    state.top, state.held = start, held
    _note(rows[row].key, low, high, orders, arrays)
    return low, high


@jit
def _turn_each(row, hidden, arrays):
    """Turn each hidden card, into the rows from ``state.top`` on; returns the decision's bounds."""
    rule, frame, state = arrays.rules[0], arrays.frames[0], arrays.state[0]
    positions, rows, values = arrays.positions, arrays.rows, arrays.values
    orders = FACTORIALS[hidden - 1]
    sum_low, sum_high = np.int64(0), hidden * orders
    for number in range(hidden):
        into = state.top + number
        positions[into] = positions[row]
        g = positions[into]
        at, other = np.int64(g.dealt), np.int64(g.dealt) + number
        # All orders of the hidden cards are equally likely, so a swap turns any of them.
        g.deck[at], g.deck[other] = g.deck[other], g.deck[at]
        kernel.play(g, rule, rows[row].turn)
        state.positions += 1
        play_safe(g, rule, frame)
        rows[into].key = shared_key(g, rule, frame, arrays.suits, arrays.names)
        known = values[find(values.key, rows[into].key)]
        rows[into].low, rows[into].high = known.won, orders - known.lost
        is_open = rows[into].low < rows[into].high
        if is_open and score_position(g, rule, frame, WEIGHTS)[1]:  # it is seen to be lost
            rows[into].high = rows[into].low
        sum_low += rows[into].low
        sum_high -= orders - rows[into].high
    return sum_low, sum_high


@jit
def _meet_decisions(hidden, limit, arrays):
    """Enumerate decisions at the position in row ``state.top``, into the rows from there on.

    A decision is a position and the move that turns a card there: a deal, or a move after which a
    space is refilled from the stock. Positions are expanded best first, by `score_position`. Those
    with a ``turn`` are decisions; ``parent`` and ``move`` say how each is reached.

    Args:
        hidden: how many cards the player has not seen. If it is one at most, all moves are
            expanded, and the search ends with the first win (``state.won``).
        limit: about how many positions to hold; a larger limit only adds decisions.

    Returns how many positions it holds, and whether these are all.
    """
    rule, frame, state = arrays.rules[0], arrays.frames[0], arrays.state[0]
    positions, rows, words, scores = arrays.positions, arrays.rows, arrays.words, arrays.rows.score
    first, is_open = np.int64(state.top), hidden <= 1
    heap = arrays.heap[first:]
    state.won = first if kernel.is_won(positions[first], rule) else -1
    key, _ = position_keys(positions[first], rule)
    meet(key, first, arrays.met)
    scores[first], _ = score_position(positions[first], rule, frame, WEIGHTS)
    rows[first].parent = rows[first].turn = -1
    rows[first].low, rows[first].high = np.int64(0), FACTORIALS[hidden]
    heap[0] = first
    size, count = 1, first + 1
    while size and count < first + limit and state.won < 0:
        if count + rule.actions + hidden >= len(rows):  # and a row for each card that may come
            state.status = ROWS_FULL
        elif state.positions >= state.last:
            state.status = OUT_OF_POSITIONS
        if state.status != SEARCHING:
            break
        here = pop(heap, size, scores)
        size -= 1
        safe = safe_move(positions[here], rule, frame) if frame.safe else -1
        if safe >= 0:  # nothing else has to be played
            words[:] = 0
            words[safe >> 3] = _1 << np.uint64(8 * (safe & 7))
        else:
            kernel.legal(positions[here], rule, True, words)
            if not is_open and words[0] & _1:
                words[0] ^= _1
                rows[here].turn = DEAL
        dealt = positions[here].dealt
        move = -1
        while True:
            move = next_move(words, move)
            if move < 0:
                break
            positions[count] = positions[here]
            g = positions[count]
            kernel.play(g, rule, move)
            state.positions += 1
            turns = g.dealt != dealt and not is_open
            key, _ = position_keys(g, rule)
            if meet(key, count, arrays.met) != count:
                continue
            rows[count].parent, rows[count].move = here, move
            rows[count].turn = move if turns else -1
            rows[count].low, rows[count].high = np.int64(0), FACTORIALS[hidden]
            if is_open and kernel.is_won(g, rule):
                state.won = count
            if turns:
                positions[count] = positions[here]
                scores[count] = scores[here]
            else:
                scores[count], is_lost = score_position(g, rule, frame, WEIGHTS)
                if not is_lost:
                    push(heap, size, scores, count)
                    size += 1
            count += 1
    forget(first, count, arrays.met)
    return count - first, size == 0


@jit
def _note(key, low, high, orders, arrays):
    """Narrow the bounds of a value in the table of values."""
    state, values = arrays.state[0], arrays.values
    entry = values[find(values.key, key)]
    if entry.key == _ZERO:
        if 2 * state.values >= len(values):  # a full table would make `find` endless
            state.status = VALUES_FULL
            return
        state.values += 1
        entry.key = key
    entry.won, entry.lost = max(entry.won, low), max(entry.lost, orders - high)
