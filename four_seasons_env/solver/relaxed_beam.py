"""Beam search that keeps the nodes from which the relaxed game is won in most ways.

The beam goes layer by layer, as in `beam`, and values the nodes of a layer anew every few cards
(`node_values`). It keeps the nodes of the highest values, each with many arrangements of its
tableau. Nodes without a value fill the room that is left, by their scores. Within a layer,
positions are expanded in the order of their cards up and in the tableau, so each node is complete
before the nodes that follow from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import lowest
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.rules import Rules
from four_seasons_env.solver.beam import OVER, SEARCHING, WON, take
from four_seasons_env.solver.features import WEIGHTS
from four_seasons_env.solver.hash_table import is_new
from four_seasons_env.solver.lines import LINE, moves_to_last, note_move
from four_seasons_env.solver.node_values import (
    DEAD,
    NODE,
    NONE,
    ORDERS,
    Nodes,
    make_puzzle,
    node_of,
    set_values,
)
from four_seasons_env.solver.relaxation import ONE
from four_seasons_env.solver.safe_moves import MOST_SAFE, play_safe_and_note

MEMORY = 2**29
"""Bytes that a beam takes."""
_NODES, _POSITIONS, _LINES, _KEYS = 2**19, 2**18, 2**23, 2**20
_EVERY = 3  # layers between two valuations of nodes
_VALUE_WIDTH = 3_000
_VALUE_FROM = 20  # nodes of a layer: of fewer, all that follows is kept for some layers
_ARRANGEMENTS, _BARE_ARRANGEMENTS = 200, 32  # of a node with a value, and of one without
_3 = np.uint64(3)

STATE = np.dtype(
    [
        ("pool", "i8"),  # positions of this layer
        ("later", "i8"),  # positions of the next layer
        ("lines", "i8"),  # lines in use
        ("positions", "i8"),  # positions made by a move, in all
        ("status", "i8"),
    ]
)


class Positions(NamedTuple):
    """Positions, the lines that lead to them, and their nodes."""

    games: NDArray[np.void]  # GAME (n,)
    ends: NDArray[np.int64]  # (n,)
    nodes: NDArray[np.int64]  # (n,)


class RelaxedBeamArrays(NamedTuple):
    """What a beam writes."""

    state: NDArray[np.void]  # STATE (1,)
    pool: Positions  # of this layer
    links: NDArray[np.int64]  # (n,) the next of the pool that waits and has the same order
    later: Positions  # of the next layer
    lines: NDArray[np.void]  # LINE (n,)
    seen: NDArray[np.uint64]  # (a power of two,) keys of positions
    words: NDArray[np.uint64]  # a row of mask words


@jit
def _expand_layer(arrays, nodes, rules, frames, puzzle, arrangements, bare, last):
    """Expand all positions of a layer; a move that deals a card leads to the next layer.

    Args:
        arrangements: of a node with a value that are kept.
        bare: the same for one without.
        last: positions made, in all, at which it stops.
    """
    state, pool, later = arrays.state[0], arrays.pool, arrays.later
    rule, frame = rules[0], frames[0]
    dealt = pool.games[0].dealt
    # A list of waiting positions for each order. A move that deals no card never lowers the order
    # (NODE field `order`), so going through the lists once, in rising order, misses no position.
    # Unlike a heap, lists need no comparisons.
    heads = np.full(ORDERS, NONE, np.int64)  # the first waiting position of each order
    for i in range(state.pool):
        order = nodes.all[pool.nodes[i]].order
        arrays.links[i] = heads[order]
        heads[order] = i
    for order in range(ORDERS):
        while heads[order] != NONE:
            here = heads[order]
            heads[order] = arrays.links[here]
            kernel.legal(pool.games[here], rule, True, arrays.words)
            for w in range(len(arrays.words)):
                flags = arrays.words[w]
                while flags:
                    move = 8 * w + np.int64(lowest(flags) >> _3)
                    flags &= flags - ONE
                    # Full arrays, or the end of the budget: the rest of the layer is dropped. This
                    # beam never proves a loss, so it need not note that.
                    if (
                        state.pool == len(pool.games)
                        or state.later == len(later.games)
                        or state.lines + MOST_SAFE + 1 > len(arrays.lines)
                        or 2 * (state.pool + state.later) > len(arrays.seen)
                        or state.positions >= last
                    ):
                        return
                    g = pool.games[state.pool]
                    pool.games[state.pool] = pool.games[here]
                    kernel.play(g, rule, move)
                    state.positions += 1
                    before = state.lines  # to forget the line of a position that is not kept
                    line = note_move(state, arrays.lines, pool.ends[here], move)
                    line = play_safe_and_note(g, rule, frame, state, arrays.lines, line)
                    if kernel.is_won(g, rule):
                        state.status = WON
                        return
                    # NONE if there is no room for the node. It is -1, so the last node is read
                    # then, and not used.
                    number = node_of(g, nodes, rule, puzzle, frame)
                    node = nodes.all[number]
                    most = arrangements if node.value > 0 else bare
                    if number == NONE or node.value == DEAD or node.kept >= most:
                        state.lines = before
                        continue
                    key, _ = position_keys(g, rule)
                    if not is_new(arrays.seen, max(key, ONE)):  # 0 marks an empty slot
                        state.lines = before
                        continue
                    node.kept += 1
                    if g.dealt > dealt:
                        later.games[state.later] = g
                        later.ends[state.later] = line
                        later.nodes[state.later] = number
                        state.later += 1
                    else:
                        pool.ends[state.pool] = line
                        pool.nodes[state.pool] = number
                        arrays.links[state.pool] = heads[node.order]
                        heads[node.order] = state.pool
                        state.pool += 1


@jit
def _enter(arrays, nodes, rules, frames, puzzle):
    """Enter the nodes of the positions of a layer, and write which position has which."""
    for i in range(arrays.state[0].pool):
        game = arrays.pool.games[i]
        arrays.pool.nodes[i] = node_of(game, nodes, rules[0], puzzle, frames[0])


class RelaxedBeam:
    """One such beam, which runs layer by layer.

    Args:
        record: a GAME record from which no card can come back (FRAME field ``one_way``).
        frames: its FRAME array.
        width: positions that a layer starts with.
        weights: of the features of `score_position`.
        discounts: of lines, for each node on them, by the piles left over; the last for more.
    """

    def __init__(
        self,
        record: Any,
        rules: Rules,
        frames: NDArray[np.void],
        width: int,
        weights: NDArray[np.float64] = WEIGHTS,
        discounts: tuple[float, ...] = (0.3, 0.7, 1.0),
    ) -> None:
        self._rules, self._frames, self._width = kernel.compile_rules(rules), frames, width
        self._all_moves = all_moves(rules)
        puzzle = make_puzzle(record, rules, frames, weights, discounts)
        self.is_possible = puzzle is not None
        """Whether nodes can be valued; if not, `go_on` must not be called."""
        if puzzle is None:
            return
        self._puzzle = puzzle
        self._arrays = RelaxedBeamArrays(
            np.zeros(1, STATE), _positions(), np.empty(_POSITIONS, np.int64), _positions(),
            np.empty(_LINES, LINE), np.empty(_KEYS, np.uint64), kernel.new_masks(1, rules)[0][0],
        )  # fmt: skip
        self._nodes = Nodes(
            np.zeros(1, np.int64), np.empty(_NODES, NODE), np.empty(4 * _NODES, np.int32)
        )
        self._arrays.pool.games[0] = record
        self._arrays.pool.ends[0] = NONE
        self._arrays.state["pool"] = 1
        self._layers = 0
        self._has_values = False  # the nodes have values

    @property
    def positions(self) -> int:
        """Positions made by a move so far."""
        return int(self._arrays.state["positions"][0])

    def go_on(self, positions: int) -> int:
        """Expand one layer, and make so many positions at most: WON, OVER or SEARCHING."""
        arrays, nodes = self._arrays, self._nodes
        # A valuation also gives values to nodes of the layers that follow, because it searches to
        # the end of the game. The next layers find theirs in the table; nodes that it did not meet
        # have none.
        if self._layers % _EVERY == 0:
            nodes.used[0] = 0
            nodes.table.fill(NONE)
            _enter(arrays, nodes, self._rules, self._frames, self._puzzle)
            self._has_values = bool(nodes.used[0] >= _VALUE_FROM)
            if self._has_values:
                set_values(nodes, self._puzzle, self._frames[0], _VALUE_WIDTH)
        self._layers += 1
        arrays.seen.fill(0)  # no position comes again in another layer
        state = arrays.state[0]
        state["status"], state["later"] = SEARCHING, 0
        _expand_layer(
            arrays, nodes, self._rules, self._frames, self._puzzle,
            _ARRANGEMENTS, _BARE_ARRANGEMENTS if self._has_values else _ARRANGEMENTS,
            self.positions + positions,
        )  # fmt: skip
        if state["status"] == WON:
            return WON
        if not state["later"]:
            return OVER
        self._next_layer()
        return SEARCHING

    def _next_layer(self) -> None:
        """Start the next layer with its best nodes and all their positions."""
        state, later = self._arrays.state[0], self._arrays.later
        numbers, inverse, counts = np.unique(
            later.nodes[: state["later"]], return_inverse=True, return_counts=True
        )
        value, score = (self._nodes.all[field][numbers] for field in ("value", "score"))
        best = np.lexsort((-score, -value))  # by value, then by score
        # As many of the best nodes as fit in the width with all their positions: a node that keeps
        # only some of its arrangements may lose the one that wins.
        kept = max(1, int(np.searchsorted(np.cumsum(counts[best]), self._width, "right")))
        is_kept = np.zeros(len(numbers), bool)
        is_kept[best[:kept]] = True
        chosen = np.flatnonzero(is_kept[inverse])
        take(self._arrays.pool, later, chosen)
        state["pool"] = len(chosen)

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""
        lines = self._arrays.lines[: int(self._arrays.state["lines"][0])]
        return [self._all_moves[number] for number in moves_to_last(lines)]


def _positions() -> Positions:
    return Positions(
        np.empty(_POSITIONS, kernel.GAME),
        np.empty(_POSITIONS, np.int64),
        np.empty(_POSITIONS, np.int64),
    )
