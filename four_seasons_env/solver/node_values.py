"""The value of a node: how many lines of the relaxed game win from it.

A *node* is a position without the arrangement of its tableau: the waste, the levels, the cards
dealt. The choice of nodes decides a hard deal, and no score of features shows which to choose.
`set_values` searches the relaxed game (`relaxation`) from some nodes, layer by layer to its end,
and counts backwards: the value of a node is the number of lines that win from it. Lines on which
the piles are full count less. The search keeps a limited number of nodes in each layer, so a value
of 0 proves nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import bit_set, popcount
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.features import WEIGHTS, score_node
from four_seasons_env.solver.frame import cards_at
from four_seasons_env.solver.hash_table import find
from four_seasons_env.solver.protocol import Root
from four_seasons_env.solver.relaxation import (
    KEY_POSITIONS,
    MOST_RELAXED_MOVES,
    ONE,
    RELAXED,
    ZERO,
    Deck,
    cards_up,
    piles_needed,
    play_safe_cards,
    relaxed_key,
    relaxed_moves,
)

NODE = np.dtype(
    [
        ("key", "u8"),
        ("waste", "u8"),  # bit set of positions in the deck
        ("tableau", "u8"),  # bit set of cards
        ("up", "u8"),  # bit set of cards
        ("score", "f8"),  # large for a promising one, as in `score_node`
        ("value", "f8"),  # lines that win, with discounts; DEAD if none can
        ("dealt", "i4"),
        ("order", "i4"),  # cards in the tableau + 2 * cards up: any move but a deal adds to it
        ("link", "i4"),  # the next node of the same order, while a layer is expanded
        ("kept", "i4"),  # arrangements of it that a beam has kept
        ("children", "i4", (7,)),
    ],
    align=True,
)
NONE, WIN = -1, -2
DEAD = -1.0
EVERY = 3
"""Layers of a search between two valuations of its nodes."""
DISCOUNTS = (0.3, 0.7, 1.0)
"""Of lines, for each node on them, by the piles left over; the last for more."""
ORDERS = 2 * 52 + 1
_MOST = 1e300


class Puzzle(NamedTuple):
    """What the searches of one game look up."""

    deck: Deck
    where: NDArray[np.uint8]  # (53,) [card] -> its position in the deck
    weights: NDArray[np.float64]  # (features,) of `features`


def make_puzzle(root: Root, weights: NDArray[np.float64] = WEIGHTS) -> Puzzle | None:
    """The puzzle of a position; None if cards can come back, or there are too many of them.

    Args:
        weights: of the features of `score_node`.
    """
    record, frame = root.record, root.frames[0]
    deck = record["deck"][: record["deck_size"]]
    where = np.zeros(53, np.uint8)
    where[deck] = np.arange(len(deck))
    waste = [int(where[card]) for card in cards_at(record, WASTE)]
    # Cards before the first in waste or stock never move through the waste again, so keys leave out
    # their positions: a key has room for `KEY_POSITIONS` only.
    first = min([int(record["dealt"]), *waste])
    if not frame["one_way"] or len(deck) - first > KEY_POSITIONS:
        return None
    bits = frame["place"][deck].astype(np.uint64)
    cards = Deck(bits, len(deck), first, root.rules.piles)
    return Puzzle(cards, where, weights)


class Nodes(NamedTuple):
    """Nodes, found by their keys."""

    used: NDArray[np.int64]  # (1,) how many there are
    all: NDArray[np.void]  # NODE (n,)
    keys: NDArray[np.uint64]  # a table
    numbers: NDArray[np.int32]  # of the nodes with these keys


def new_nodes(room: int) -> Nodes:
    """Room for so many nodes, a power of two; there are none."""
    numbers = np.empty(2 * room, np.int32)
    return Nodes(
        np.zeros(1, np.int64), np.empty(room, NODE), np.zeros(2 * room, np.uint64), numbers
    )


def forget(nodes: Nodes) -> None:
    """Remove all nodes."""
    nodes.used[0] = 0
    nodes.keys.fill(0)


@jit
def _node(nodes, waste, tableau, up, dealt, puzzle, frame):
    """The number of a node, entered if it is new; NONE if there is no room."""
    # The tableau is not part of the key: it holds the cards dealt that are neither in the waste nor
    # up.
    deck = puzzle.deck
    key = relaxed_key(waste, up, dealt, deck.first)
    at = find(nodes.keys, key)
    if nodes.keys[at] == key:
        return np.int64(nodes.numbers[at])
    count = nodes.used[0]
    if count == len(nodes.all):
        return np.int64(NONE)
    nodes.keys[at] = key
    nodes.numbers[at] = count
    nodes.used[0] += 1
    stock = bit_set(deck.cards, dealt, deck.size)
    node = nodes.all[count]
    node.key = key
    node.waste = waste
    node.tableau = tableau
    node.up = up
    node.dealt = dealt
    node.order = np.int64(popcount(tableau)) + 2 * np.int64(popcount(up))
    node.kept = 0
    node.children[:] = NONE
    score, worst = score_node(waste, tableau, stock, up, dealt, deck.cards, puzzle.weights, frame)
    node.score = score
    node.value = DEAD if worst > deck.piles else 0.0
    return count


@jit
def node_of(g, nodes, rule, puzzle, frame):
    """The number of the node of a GAME record, entered if it is new; NONE if there is no room."""
    waste = tableau = ZERO
    card = g.top[WASTE]
    while card != NO_CARD:
        waste |= ONE << np.uint64(puzzle.where[card])
        card = g.below[card]
    for pile in range(rule.piles):
        card = g.top[pile]
        while card != NO_CARD:
            tableau |= ONE << np.uint64(frame.place[card])
            card = g.below[card]
    return _node(nodes, waste, tableau, cards_up(g.level), g.dealt, puzzle, frame)


@jit
def _follow(nodes, parent, waste, tableau, up, dealt, puzzle, frame):
    """Enter a node, its safe cards up, as a child; its number if it is new and alive, or NONE."""
    if frame.safe:
        waste, tableau, up = play_safe_cards(waste, tableau, up, puzzle.deck, frame)
    before = nodes.used[0]  # a node with this number or a greater one is new
    child = WIN
    if up != frame.cards:
        child = _node(nodes, waste, tableau, up, dealt, puzzle, frame)
        if child == NONE or nodes.all[child].value == DEAD:
            return NONE
    # Noted as a child even if it has been met before: the lines through it count for each parent.
    children = nodes.all[parent].children
    slot = 0
    while children[slot] != NONE:
        slot += 1
    children[slot] = child
    return child if child >= before else NONE


@jit
def _link(heads, nodes, number):
    node = nodes.all[number]
    node.link = heads[node.order]
    heads[node.order] = number


@jit
def _expand(nodes, here, heads, after, puzzle, frame):
    """Enter what follows from a node; the number of a new one in the next layer, or NONE.

    Args:
        heads: [order] -> the first node of this layer that waits, as a list by `NODE.link`.
        after: RELAXED (MOST_RELAXED_MOVES,), scratch.
    """
    node = nodes.all[here]
    start = node.waste, node.tableau, node.up, np.int64(node.dealt)
    later = NONE
    for i in range(relaxed_moves(start, puzzle.deck, frame, after)):
        each = after[i]
        child = _follow(nodes, here, each.waste, each.tableau, each.up, each.dealt, puzzle, frame)
        # One move at most deals a card; all others lead to a greater order in this layer, so their
        # lists have not been worked off yet.
        if each.dealt > node.dealt:
            later = child
        elif child != NONE:
            _link(heads, nodes, child)
    return later


@jit
def set_values(nodes, puzzle, frame, width):
    """Set the values of the present nodes, all of one layer, and of those that follow.

    Args:
        nodes: Nodes, with none but those to value.
        width: nodes of a layer to expand, at most.
    """
    after = np.empty(MOST_RELAXED_MOVES, RELAXED)
    room = len(nodes.all)
    layer, visited = np.arange(room), np.empty(room, np.int64)
    later = np.empty(room, np.int64)
    heads = np.full(ORDERS, NONE, np.int64)
    size, number = nodes.used[0], 0
    # Forwards: expand layer by layer, and note the order of visits.
    while size:
        for i in range(size):
            _link(heads, nodes, layer[i])
        coming = 0
        for order in range(ORDERS):
            while heads[order] != NONE:
                here = heads[order]
                heads[order] = nodes.all[here].link
                visited[number] = here
                number += 1
                child = _expand(nodes, here, heads, after, puzzle, frame)
                if child != NONE:
                    later[coming] = child
                    coming += 1
        # The best nodes make the next layer. Ties at the limit are all left out: which one came
        # first says nothing about the nodes.
        scores = np.empty(coming, np.float64)
        for i in range(coming):
            scores[i] = -nodes.all[later[i]].score
        most = np.inf if coming <= width else np.partition(scores, width)[width]
        size = 0
        for i in range(coming):
            if scores[i] < most:
                layer[size] = later[i]
                size += 1
    # Backwards: count the lines that win. Children come after their parents, so their values are
    # known. Nodes that the width has cut off have 0.
    for i in range(number - 1, -1, -1):
        node = nodes.all[visited[i]]
        lines = 0.0
        for child in node.children:
            if child == WIN:
                lines += 1
            elif child != NONE:
                lines += max(nodes.all[child].value, 0.0)
        # Lines through full piles count less. The relaxed game ignores arrangements, and with few
        # piles left over the real game often has none that follows the line.
        spare = puzzle.deck.piles - piles_needed(node.tableau, node.tableau, frame)
        discount = DISCOUNTS[min(spare, len(DISCOUNTS) - 1)]
        node.value = min(lines * discount, _MOST)  # lines multiply from layer to layer; stay finite
