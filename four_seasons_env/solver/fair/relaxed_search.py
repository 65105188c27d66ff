"""Depth-first search of the relaxed game: can it be won from a node?

A *node* is a position without the arrangement of its tableau. It fits into one word, so the table
of nodes met is exact. Safe cards go up at once, and nodes that are seen to be lost (`Walk`) are not
expanded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.containers import find
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.masks import bit_set, highest, popcount
from four_seasons_env.solver.analysis.features import pass_card, score_walk, start_walk
from four_seasons_env.solver.analysis.relaxation import (
    MOST_RELAXED_MOVES,
    ONE,
    RELAXED,
    SUIT,
    ZERO,
    next_cards,
    piles_needed,
    play_safe_cards,
    relaxed_key,
    relaxed_moves,
)

UNKNOWN, ALIVE, DEAD = range(3)
"""The states of a node; in ALIVE ones the relaxed game can be won."""

STEP = np.dtype(
    [
        ("waste", "u8"),  # bit set of positions in the deck
        ("tableau", "u8"),  # bit set of cards
        ("up", "u8"),  # bit set of cards
        ("score", "f8"),
        ("dealt", "i8"),
    ]
)


class SearchArrays(NamedTuple):
    """The buffers of a search."""

    steps: NDArray[np.void]  # STEP (n,), the nodes met that may win
    stack: NDArray[np.int64]  # (n,) those that wait; the last comes next
    seen: NDArray[np.uint64]  # a table of their keys
    after: NDArray[np.void]  # RELAXED (MOST_RELAXED_MOVES,)


def new_search_arrays(nodes: int) -> SearchArrays:
    """Buffers of a search that expands about `nodes` nodes."""
    room = nodes * MOST_RELAXED_MOVES + 1
    return SearchArrays(
        np.zeros(room, STEP),
        np.zeros(room, np.int64),
        np.zeros(1 << (2 * room).bit_length(), np.uint64),
        np.zeros(MOST_RELAXED_MOVES, RELAXED),
    )


@jit
def _score_node(waste, tableau, stock, up, dealt, deck, weights, frame):
    """The score of a position without the arrangement of its tableau, and the feature `worst`.

    Args:
        waste: bit set of positions in the deck.
        tableau: bit set of cards, as ``stock`` and ``up``.
        dealt: cards dealt.
        deck: cards in dealing order, as bit numbers.
    """
    ready = next_cards(up)
    needed = piles_needed(tableau, tableau, frame)
    walk = start_walk(tableau, stock, up, needed, frame)
    while waste:
        position = highest(waste)  # the top card was dealt last
        waste ^= ONE << position
        walk = pass_card(walk, deck[position], up, ready, np.int64(dealt), frame)
    lowest = np.int64(52)
    for suit in range(4):
        lowest = min(lowest, np.int64(popcount(up & (SUIT << np.uint64(suit)))))
    score = score_walk(walk, up, needed, lowest, weights) + weights[1] * needed
    return score, walk.worst


@jit
def _enter(child, count, arrays, deck, weights, frame):
    """Note a node as a step unless it is known; returns its state and the count of steps."""
    waste, tableau, up, dealt = child
    if frame.safe:
        waste, tableau, up = play_safe_cards(waste, tableau, up, deck, frame)
    if up == frame.cards:
        return ALIVE, count
    key = relaxed_key(waste, up, dealt, deck.first)
    slot = find(arrays.seen, key)
    if arrays.seen[slot] == key:
        return UNKNOWN, count
    stock = bit_set(deck.cards, dealt, deck.size)
    score, worst = _score_node(waste, tableau, stock, up, dealt, deck.cards, weights, frame)
    if worst > deck.piles:
        return DEAD, count
    # Only steps are entered, and they are limited: a full table would make `find` endless.
    arrays.seen[slot] = key
    step = arrays.steps[count]
    step.waste, step.tableau, step.up = waste, tableau, up
    step.score, step.dealt = score, dealt
    return UNKNOWN, count + 1


@jit
def search_relaxed(start, arrays, deck, weights, frame):
    """Search from a node, depth first and the best first, until the arrays are full.

    Args:
        start: waste, tableau, up, dealt, as in STEP.
        deck: a `Deck`.
        weights: of the features.

    Returns:
        ALIVE, DEAD or UNKNOWN.
    """
    steps, stack, after = arrays.steps, arrays.stack, arrays.after
    arrays.seen[:] = ZERO
    state, count = _enter(start, 0, arrays, deck, weights, frame)
    if state != UNKNOWN:
        return state
    waiting, stack[0] = count, 0
    while count + MOST_RELAXED_MOVES <= len(steps):
        if waiting == 0:
            return DEAD
        waiting -= 1
        step = steps[stack[waiting]]
        node = step.waste, step.tableau, step.up, step.dealt
        first = count
        for i in range(relaxed_moves(node, deck, frame, after)):
            each = after[i]
            child = each.waste, each.tableau, each.up, each.dealt
            state, count = _enter(child, count, arrays, deck, weights, frame)
            if state == ALIVE:
                return ALIVE
        for i in range(first, count):  # the best on top
            at = waiting
            while at > waiting - (i - first) and steps[stack[at - 1]].score > steps[i].score:
                stack[at] = stack[at - 1]
                at -= 1
            stack[at] = i
            waiting += 1
    return UNKNOWN
