"""Can a game be won by a player who knows the order of the stock? The leaves of `fair_value`.

Also its upper bound: the number of orders of the hidden cards in which such a player can win.
"""

from __future__ import annotations

import math

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.containers import find, pop, push
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.masks import next_move
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.analysis.features import score_position
from four_seasons_env.solver.analysis.relaxation import KEY_POSITIONS, Deck, cards_up
from four_seasons_env.solver.analysis.safe_moves import play_safe
from four_seasons_env.solver.fair.arrays import (
    OUT_OF_POSITIONS,
    ROWS_FULL,
    SEARCHING,
    VISITS_FULL,
)
from four_seasons_env.solver.fair.keys import shared_key
from four_seasons_env.solver.fair.relaxed_search import DEAD, search_relaxed

MOST_HIDDEN = 20
"""Cards: the orders of more do not fit into 64 bits."""
ORDERS = np.array([math.factorial(n) for n in range(MOST_HIDDEN + 1)], np.int64)

_SOON = 1000  # positions that a search for a win holds before the relaxed game is asked
_EVER = 2**40
_ZERO, _1 = np.uint64(0), np.uint64(1)


@jit
def _is_new(key, arrays):
    """Mark a position as lost for now; False if it was marked already."""
    state, visits = arrays.state[0], arrays.visits
    entry = visits[find(visits.key, key)]
    if entry.key == _ZERO:
        state.visits += 1
        entry.key = key
    elif entry.lost:
        return False
    entry.lost = 1
    return True


@jit
def _search_win(most, arrays):
    """`can_win` by best-first search with `score_position`; -1 after ``most`` positions.

    Every position met is marked as lost. If none of them wins, the marks stay, because they are
    true; otherwise they are removed.
    """
    rule, frame, state = arrays.rules[0], arrays.frames[0], arrays.state[0]
    positions, scores, keys, words = arrays.positions, arrays.scores, arrays.keys, arrays.words
    heap = arrays.waiting
    first = state.top
    arrays.parents[first] = -1
    state.won = first
    if kernel.is_won(positions[first], rule):
        return 1
    own, names = arrays.own, arrays.names
    keys[first] = shared_key(positions[first], rule, frame, True, own, names)
    if not _is_new(keys[first], arrays):
        return 0
    scores[first] = 0.0
    heap[0] = first
    size = 1
    count = first + 1
    result = 0
    while size and result == 0:
        if count + rule.actions > len(positions):
            state.status = ROWS_FULL
        elif 2 * (state.visits + rule.actions) > len(arrays.visits):
            state.status = VISITS_FULL
        elif state.positions >= state.last:
            state.status = OUT_OF_POSITIONS
        if state.status != SEARCHING or count - first > most:
            result = -1
            break
        here = pop(heap, size, scores)
        size -= 1
        kernel.legal(positions[here], rule, True, words)
        move = -1
        while True:
            move = next_move(words, move)
            if move < 0:
                break
            positions[count] = positions[here]
            g = positions[count]
            kernel.play(g, rule, move)
            state.positions += 1
            play_safe(g, rule, frame)
            if kernel.is_won(g, rule):
                result = 1
                arrays.parents[count] = here
                arrays.moves[count] = move
                state.won = count
                break
            key = shared_key(g, rule, frame, True, own, names)
            if _is_new(key, arrays):
                score, is_lost = score_position(g, rule, frame, arrays.weights)
                if not is_lost:
                    scores[count] = score
                    keys[count] = key
                    arrays.parents[count] = here
                    arrays.moves[count] = move
                    push(heap, size, scores, count)
                    size += 1
                    count += 1
    if result:
        for row in range(first, count):
            arrays.visits[find(arrays.visits.key, keys[row])].lost = 0
    return result


@jit
def _is_lost_relaxed(g, arrays):
    """Whether even the relaxed game is lost if the stock lies as it does."""
    frame = arrays.frames[0]
    if not frame.one_way:
        return False
    waste, tableau = _ZERO, _ZERO
    first = np.int64(g.dealt)
    for i in range(g.deck_size):
        arrays.deck[i] = frame.place[g.deck[i]]
    for place in range(WASTE + 1):
        card = g.top[place]
        while card != NO_CARD:
            if place == WASTE:
                at = np.int64(0)
                while g.deck[at] != card:
                    at += 1
                first = min(first, at)
                waste |= _1 << np.uint64(at)
            else:
                tableau |= _1 << np.uint64(frame.place[card])
            card = g.below[card]
    if g.deck_size - first > KEY_POSITIONS:
        return False
    deck = Deck(arrays.deck, np.int64(g.deck_size), first, np.int64(arrays.rules[0].piles))
    start = waste, tableau, cards_up(g.level), np.int64(g.dealt)
    return search_relaxed(start, arrays.relaxed, deck, arrays.weights, frame) == DEAD


@jit
def can_win(arrays):
    """Whether the game in row ``state.top`` can be won if its stock lies as it does: 1 or 0.

    Returns:
        -1 if the search had to stop.
    """
    result = _search_win(_SOON, arrays)
    if result < 0 and arrays.state[0].status == SEARCHING:
        g = arrays.positions[arrays.state[0].top]
        if _is_lost_relaxed(g, arrays):
            key = shared_key(g, arrays.rules[0], arrays.frames[0], True, arrays.own, arrays.names)
            _is_new(key, arrays)
            return 0
        result = _search_win(_EVER, arrays)
    return result


@jit
def _next_order(deck, first, end):
    """Permute cards, at first in ascending order, into their next order; False after the last."""
    i = end - 2
    while i >= first and deck[i] > deck[i + 1]:
        i -= 1
    if i < first:
        return False
    j = end - 1
    while deck[j] < deck[i]:
        j -= 1
    deck[i], deck[j] = deck[j], deck[i]
    j = end - 1
    i += 1
    while i < j:
        deck[i], deck[j] = deck[j], deck[i]
        i += 1
        j -= 1
    return True


@jit
def sort_hidden(g, hidden):
    """Sort the hidden cards in ascending order."""
    for i in range(g.dealt + 1, g.dealt + hidden):
        j = np.int64(i)
        while j > g.dealt and g.deck[j - 1] > g.deck[j]:
            g.deck[j - 1], g.deck[j] = g.deck[j], g.deck[j - 1]
            j -= 1


@jit
def winnable_orders(child, hidden, least, arrays):
    """The number of orders of the hidden cards in which a player who knows the order can win.

    Args:
        child: row of the position, whose hidden cards are sorted.
        least: counting stops when it is clear that the number is not larger than this.

    Returns:
        The number, or a larger one if the search stopped.
    """
    state, positions = arrays.state[0], arrays.positions
    count = ORDERS[hidden]
    sort_hidden(positions[child], hidden)
    g = positions[child]
    first, end = np.int64(g.dealt), np.int64(g.deck_size)
    more = True
    while more and count > least and state.status == SEARCHING:
        positions[state.top] = positions[child]
        count -= can_win(arrays) == 0
        more = _next_order(positions[child].deck, first, end)
    sort_hidden(positions[child], hidden)
    return count
