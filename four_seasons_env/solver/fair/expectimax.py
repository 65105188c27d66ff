"""Expectimax over what a player knows, in whole numbers: in how many orders of the hidden cards
does the best play win?

    value of a position = the largest value of its decisions                       (a max node)
    value of a decision = the sum of the values of the positions to which          (a chance node)
                          the hidden cards lead, each times a factor

A decision is a way to play until the next hidden card is turned. The orders are those that
`engine.kernel.count_orders` counts; all are equally likely. The factor of a card says for how many
orders before it is turned one order afterwards stands (`engine.kernel.order_factor`). It is 1 in
all rule sets but those with `one_per_suit`. A position in which all cards are known is won or lost,
and a search among its moves decides which.

Example: three cards are hidden, 2C, 5H and 9S, in 6 orders. Dealing at once turns each of them in 2
orders. If the best play then wins both orders after 2C, one after 5H and none after 9S, dealing is
worth 3: a chance of 3/6. If the bounds after 5H and 9S are still 0 to 2, they are 2 and 6 for the
sum.

Example with factors: 2C, 5C and 5H are hidden, and `one_per_suit` makes that 20 orders. After 5H,
the two clubs are in 2 orders, which stand for 4 each, as the base of the hearts may have been in
any of 4 places among the clubs and their base. After a club, the others are in 6 orders. If the
best play wins one order after 5H and none after a club, dealing is worth 4: a chance of 4/20.

- *Star1* (Ballard 1983), alpha-beta search with chance nodes, narrows the bounds of a value. A
  decision is left when its upper bound cannot exceed the best value known.
- *Iterative widening*: first few decisions are enumerated, then `GROWTH` times as many.
- *Transposition table*: positions in which the player knows the same, under any names of suits and
  piles, share their bounds.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import ONE, ZERO, next_move
from four_seasons_env.engine.containers import find, find_or_add, pop, push, remove_rows
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import DEAL
from four_seasons_env.solver.analysis.relaxation import play_safe, safe_move
from four_seasons_env.solver.analysis.score import WEIGHTS, score_position
from four_seasons_env.solver.fair.arrays import (
    OUT_OF_POSITIONS,
    ROWS_FULL,
    SEARCHING,
    VALUES_FULL,
)
from four_seasons_env.solver.fair.keys import shared_key

FIRST = 32
"""Positions that an enumeration of decisions holds at first; chosen by hand, as `GROWTH`."""
GROWTH = 8
"""How many times as many it holds the next time."""


# No other compiled function calls this one: a caller that Numba loads from its cache crashes where
# it calls a function that calls itself (numba issue 6061, open).
@jit
def position_value(row, hidden, alpha, beta, arrays):
    """Bounds of a position's value, low and high, in orders: a max node.

    Args:
        row: of the position, whose key, orders and bounds are set; rows from ``state.top`` on are
            written. At the end, the first ``state.held`` of them hold the decisions of the last
            round.
        hidden: the number of cards that are not known.
        alpha: stop as soon as the value is known to be at most this.
        beta: stop as soon as the value is known to be at least this.
        arrays: `FairArrays`.
    """
    state, rows, orders = arrays.state[0], arrays.rows, arrays.rows[row].orders
    start = state.top
    low, high = rows[row].low, rows[row].high
    # 1. Iterative widening: the transposition table keeps the results of earlier rounds.
    limit, held, is_all = FIRST, 0, False
    while low < min(high, beta) and high > alpha and not is_all and state.status == SEARCHING:
        state.top = start
        arrays.positions[start] = arrays.positions[row]
        held, is_all = _enumerate_decisions(hidden, orders, limit, arrays)
        limit *= GROWTH
        if hidden <= 1:  # all cards are known: the position is won or lost
            if state.won >= 0:
                low = rows[state.won].low = high
            elif is_all:
                high = low
            continue
        # 2. Put the decisions into a heap, the most promising on top.
        children = state.top = start + held
        heap = arrays.heap[start:children]
        size = 0
        for each in range(start, children):
            if rows[each].turn >= 0:
                push(heap, size, rows.score, each)
                size += 1
        best_high = low
        while size and low < min(high, beta) and state.status == SEARCHING:
            if state.positions >= state.limit:
                state.status = OUT_OF_POSITIONS
            decision = pop(heap, size, rows.score)
            size -= 1
            # 3. Value a decision, a chance node: turn each hidden card, and value what follows.
            floor, ceiling = max(alpha, low), min(beta, high)
            sum_low, sum_high = _turn_each(decision, hidden, arrays)
            for child in range(children, children + hidden):
                if sum_high <= floor or sum_low >= ceiling or state.status != SEARCHING:
                    break
                # Star1: the window of the child. At its lower end, the sum cannot exceed the floor
                # even if all other cards turn out best; at its upper end, the sum reaches the
                # ceiling even if they turn out worst.
                factor, was_low, was_high = rows[child].factor, rows[child].low, rows[child].high
                fall, rise = sum_high - floor, ceiling - sum_low
                if factor > 1:  # rounded up; divisions by 1 would take 2% of the time
                    fall, rise = -(-fall // factor), -(-rise // factor)
                state.top = children + hidden
                child_low, child_high = position_value(
                    child, hidden - 1, was_high - fall, was_low + rise, arrays
                )
                state.top = children
                sum_low += factor * (child_low - was_low)
                sum_high += factor * (child_high - was_high)
            rows[decision].low, rows[decision].high = sum_low, sum_high
            low, best_high = max(low, sum_low), max(best_high, sum_high)
        # 4. Only if no decision is missing, their largest upper bound is one of the position.
        if is_all and not size and state.status == SEARCHING:
            high = min(high, best_high)
    state.top, state.held = start, held
    _store(rows[row].key, low, high, orders, arrays)
    return low, high


@jit
def _turn_each(row, hidden, arrays):
    """Turn each hidden card after the decision in a row, into the rows from ``state.top`` on.

    Returns:
        The bounds of the decision's value, low and high, from those of these rows.
    """
    rule, frame, state = arrays.rules[0], arrays.frames[0], arrays.state[0]
    positions, rows, values = arrays.positions, arrays.rows, arrays.values
    unseen = kernel.stock_cards(positions[row])
    sum_low = sum_high = np.int64(0)
    for number in range(hidden):
        into = state.top + number
        positions[into] = positions[row]
        g = positions[into]
        at, other = np.int64(g.dealt), np.int64(g.dealt) + number
        # 1. A swap turns any of them. The order of the others is not read.
        g.deck[at], g.deck[other] = g.deck[other], g.deck[at]
        factor = kernel.order_factor(rule, unseen, g.deck[at])
        orders = kernel.count_orders(rule, unseen ^ (ONE << np.uint64(g.deck[at])))
        rows[into].factor, rows[into].orders = factor, orders
        kernel.play(g, rule, rows[row].turn)
        state.positions += 1
        play_safe(g, rule, frame)
        # 2. Bounds that are known already: from the table, or because the position is lost.
        rows[into].key = shared_key(g, rule, frame, arrays.suits, arrays.names)
        known = values[find(values.key, rows[into].key)]
        rows[into].low, rows[into].high = known.won, orders - known.lost
        is_open = rows[into].low < rows[into].high
        if is_open and score_position(g, rule, frame, WEIGHTS)[1]:
            rows[into].high = rows[into].low
        sum_low += factor * rows[into].low
        sum_high += factor * rows[into].high
    return sum_low, sum_high


@jit
def _enumerate_decisions(hidden, orders, limit, arrays):
    """Enumerate decisions at the position in row ``state.top``, into the rows from there on.

    A decision is a position and the move that turns a card there: a deal, or a move after which a
    space is refilled from the stock. Positions are expanded best first, by `score_position`. Rows
    with a ``turn`` are decisions; ``parent`` and ``move`` say how each is reached.

    Args:
        hidden: how many cards the player has not seen. If it is one at most, nothing is uncertain:
            all moves are expanded, deals too, and the search ends with the first win
            (``state.won``).
        orders: of `count_orders`, at the position.
        limit: about how many positions to hold; a larger limit only adds decisions.
        arrays: `FairArrays`.

    Returns:
        How many positions it holds, and whether these are all.
    """
    rule, frame, state = arrays.rules[0], arrays.frames[0], arrays.state[0]
    positions, rows, words, scores = arrays.positions, arrays.rows, arrays.words, arrays.rows.score
    first, is_open = np.int64(state.top), hidden <= 1
    heap = arrays.heap[first:]
    # 1. Start with the position itself.
    state.won = first if kernel.is_won(positions[first], rule) else -1
    key, _ = position_keys(positions[first], rule)
    find_or_add(key, first, arrays.met)
    scores[first], _ = score_position(positions[first], rule, frame, WEIGHTS)
    rows[first].parent = rows[first].turn = -1
    rows[first].low, rows[first].high = np.int64(0), orders
    heap[0] = first
    size, count = 1, first + 1
    while size and count < first + limit and state.won < 0:
        # 2. Is the budget spent, or is there no room for all successors?
        if count + rule.actions + hidden >= len(rows):  # and a row for each card that may come
            state.status = ROWS_FULL
        elif state.positions >= state.limit:
            state.status = OUT_OF_POSITIONS
        if state.status != SEARCHING:
            break
        # 3. Choose the moves of the best position: a safe one alone, if there is one.
        here = pop(heap, size, scores)
        size -= 1
        safe = safe_move(positions[here], rule, frame) if frame.safe else -1
        if safe >= 0:
            words[:] = 0
            words[safe >> 3] = ONE << np.uint64(8 * (safe & 7))
        else:
            kernel.legal(positions[here], rule, True, words)
            if not is_open and words[0] & ONE:
                words[0] ^= ONE  # a deal makes this row a decision
                rows[here].turn = DEAL
        dealt = positions[here].dealt
        move = -1
        while True:
            move = next_move(words, move)
            if move < 0:
                break
            # 4. Play each move into the next free row; a duplicate is overwritten there.
            positions[count] = positions[here]
            g = positions[count]
            kernel.play(g, rule, move)
            state.positions += 1
            turns = not is_open and kernel.ends_decision(g, rule, move, dealt)
            key, _ = position_keys(g, rule)
            if find_or_add(key, count, arrays.met) != count:
                continue
            rows[count].parent, rows[count].move = here, move
            rows[count].turn = move if turns else -1
            rows[count].low, rows[count].high = np.int64(0), orders
            if is_open and kernel.is_won(g, rule):
                state.won = count
            if turns:
                # 5. A refill turned a card: a decision is the position before its last move.
                positions[count] = positions[here]
                scores[count] = scores[here]
            else:
                # 6. Any other position is expanded later, unless it is lost.
                scores[count], is_lost = score_position(g, rule, frame, WEIGHTS)
                if not is_lost:
                    push(heap, size, scores, count)
                    size += 1
            count += 1
    remove_rows(first, count, arrays.met)
    return count - first, size == 0


@jit
def _store(key, low, high, orders, arrays):
    """Narrow the bounds of a key in the transposition table."""
    state, values = arrays.state[0], arrays.values
    entry = values[find(values.key, key)]
    if entry.key == ZERO:
        if 2 * state.values >= len(values):  # a full table would make `find` endless
            state.status = VALUES_FULL
            return
        state.values += 1
        entry.key = key
    entry.won, entry.lost = max(entry.won, low), max(entry.lost, orders - high)
