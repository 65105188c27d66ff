"""Beams that keep replanning: at every few cards, the nodes with the most relaxed wins are kept.

The beam goes layer by layer like `beam`. What it keeps is decided by `planning`: the nodes of the
highest values, each with many arrangements of its tableau; nodes without value only fill up what
room is left, by their scores. Within a layer positions are played on in the order of their cards up
and in the tableau, so each node is complete before what follows from it.
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
from four_seasons_env.solver.beam import (
    LINE,
    OVER,
    SEARCHING,
    WON,
    codes_to_last,
    safe_move,
)
from four_seasons_env.solver.evaluation import WEIGHTS
from four_seasons_env.solver.hash_table import is_new
from four_seasons_env.solver.planning import (
    DEAD,
    NODE,
    NONE,
    ORDERS,
    Nodes,
    make_puzzle,
    node_of,
    plan,
)
from four_seasons_env.solver.relaxation import ONE

MEMORY = 2**29
"""Bytes that a beam takes."""
_NODES, _POSITIONS, _LINES, _KEYS = 2**19, 2**18, 2**23, 2**20
_EVERY = 3  # layers between plans
_PLAN_WIDTH = 3_000
_PLAN_FROM = 20  # nodes of a layer: of fewer, all that follows is kept for some layers
_ARRANGEMENTS, _BARE_ARRANGEMENTS = 200, 32  # of a node with value, and of one without
_MOST_SAFE = 52
_3 = np.uint64(3)

STATE = np.dtype(
    [
        ("pool", "i8"),  # positions of this layer
        ("later", "i8"),  # positions of the next layer
        ("lines", "i8"),  # moves on record
        ("positions", "i8"),  # positions made by a move, in all
        ("status", "i8"),
    ]
)


class Positions(NamedTuple):
    """Positions, the lines that lead to them, and their nodes."""

    games: NDArray[np.void]  # GAME (n,)
    ends: NDArray[np.int64]  # (n,)
    nodes: NDArray[np.int64]  # (n,)


class Arrays(NamedTuple):
    """What a beam writes."""

    state: NDArray[np.void]  # STATE (1,)
    pool: Positions  # of this layer
    links: NDArray[np.int64]  # (n,) the next of the pool that waits and has the same order
    later: Positions  # of the next layer
    lines: NDArray[np.void]  # LINE (n,)
    seen: NDArray[np.uint64]  # (a power of two,) keys of positions
    words: NDArray[np.uint64]  # a row of mask words


@jit
def _note(state, lines, parent, move):
    lines[state.lines].parent = parent
    lines[state.lines].move = move
    state.lines += 1


@jit
def _advance(arrays, nodes, rules, frames, puzzle, arrangements, bare, last):
    """Play on from all positions of a layer; what deals a card belongs to the next.

    Args:
        arrangements: of a node with value that are kept.
        bare: the same for one without value.
        last: positions made, in all, at which it breaks off.
    """
    state, pool, later = arrays.state[0], arrays.pool, arrays.later
    rule, frame = rules[0], frames[0]
    dealt = pool.games[0].dealt
    heads = np.full(ORDERS, NONE, np.int64)
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
                    if (
                        state.pool == len(pool.games)
                        or state.later == len(later.games)
                        or state.lines + _MOST_SAFE + 1 > len(arrays.lines)
                        or 2 * (state.pool + state.later) > len(arrays.seen)
                        or state.positions >= last
                    ):
                        return
                    g = pool.games[state.pool]
                    pool.games[state.pool] = pool.games[here]
                    kernel.play(g, rule, move)
                    state.positions += 1
                    before = state.lines
                    _note(state, arrays.lines, pool.ends[here], move)
                    while frame.safe:
                        move = safe_move(g, rule, frame)
                        if move < 0:
                            break
                        kernel.play(g, rule, move)
                        _note(state, arrays.lines, state.lines - 1, move)
                    if kernel.is_won(g, rule):
                        state.status = WON
                        return
                    number = node_of(g, nodes, rule, puzzle, frame)
                    node = nodes.all[number]
                    most = arrangements if node.value > 0 else bare
                    if number == NONE or node.value == DEAD or node.kept >= most:
                        state.lines = before
                        continue
                    key, _ = position_keys(g, rule)
                    if not is_new(arrays.seen, max(key, ONE)):
                        state.lines = before
                        continue
                    node.kept += 1
                    if g.dealt > dealt:
                        later.games[state.later] = g
                        later.ends[state.later] = state.lines - 1
                        later.nodes[state.later] = number
                        state.later += 1
                    else:
                        pool.ends[state.pool] = state.lines - 1
                        pool.nodes[state.pool] = number
                        arrays.links[state.pool] = heads[node.order]
                        heads[node.order] = state.pool
                        state.pool += 1


@jit
def _enter(arrays, nodes, rules, frames, puzzle):
    """Enter the nodes of the positions of a layer, and note them."""
    for i in range(arrays.state[0].pool):
        game = arrays.pool.games[i]
        arrays.pool.nodes[i] = node_of(game, nodes, rules[0], puzzle, frames[0])


class PlannedBeam:
    """One such beam, to be gone on with layer by layer.

    Args:
        record: a GAME record from which no card can come back (FRAME field ``one_way``).
        frames: its FRAME array.
        width: positions that a layer starts with.
        weights: of the features of `evaluate`.
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
        """Whether a plan can be made; else it is not to be gone on with."""
        if puzzle is None:
            return
        self._puzzle = puzzle
        self._arrays = Arrays(
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
        self._is_planned = False  # the nodes have values

    @property
    def positions(self) -> int:
        """Positions made by a move so far."""
        return int(self._arrays.state["positions"][0])

    def go_on(self, positions: int) -> int:
        """Play on from one layer, and make so many positions at most: WON, OVER or SEARCHING."""
        arrays, nodes = self._arrays, self._nodes
        if self._layers % _EVERY == 0:
            nodes.used[0] = 0
            nodes.table.fill(NONE)
            _enter(arrays, nodes, self._rules, self._frames, self._puzzle)
            self._is_planned = bool(nodes.used[0] >= _PLAN_FROM)
            if self._is_planned:
                plan(nodes, self._puzzle, self._frames[0], _PLAN_WIDTH)
        self._layers += 1
        arrays.seen.fill(0)
        state = arrays.state[0]
        state["status"], state["later"] = SEARCHING, 0
        _advance(
            arrays, nodes, self._rules, self._frames, self._puzzle,
            _ARRANGEMENTS, _BARE_ARRANGEMENTS if self._is_planned else _ARRANGEMENTS,
            self.positions + positions,
        )  # fmt: skip
        if state["status"] == WON:
            return WON
        if not state["later"]:
            return OVER
        self._next_layer()
        return SEARCHING

    def _next_layer(self) -> None:
        """Take the best nodes of the next layer, with all their positions."""
        arrays, state = self._arrays, self._arrays.state[0]
        pool, later = arrays.pool, arrays.later
        numbers, inverse, counts = np.unique(
            later.nodes[: state["later"]], return_inverse=True, return_counts=True
        )
        value, score = (self._nodes.all[field][numbers] for field in ("value", "score"))
        best = np.lexsort((-score, -value))
        kept = max(1, int(np.searchsorted(np.cumsum(counts[best]), self._width, "right")))
        is_kept = np.zeros(len(numbers), bool)
        is_kept[best[:kept]] = True
        chosen = np.flatnonzero(is_kept[inverse])
        for mine, theirs in zip(pool, later, strict=True):
            mine[: len(chosen)] = theirs[chosen]
        state["pool"] = len(chosen)

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""
        lines = self._arrays.lines[: int(self._arrays.state["lines"][0])]
        return [self._all_moves[number] for number in codes_to_last(lines)]


def _positions() -> Positions:
    return Positions(
        np.empty(_POSITIONS, kernel.GAME),
        np.empty(_POSITIONS, np.int64),
        np.empty(_POSITIONS, np.int64),
    )
