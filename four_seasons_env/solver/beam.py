"""Beam search in layers. A layer holds all positions with the same number of cards in the stock.

1. A layer starts with the best positions that earlier layers have dealt, at most ``width``.
2. It expands them, best first by `score_position`, up to a limit. A move that deals a card leads to
   a later layer, any other move stays in this one.
3. Duplicates are detected by their hashes. Of the positions with the same cards in the tableau, a
   beam keeps a limited number of arrangements.
4. When the layer is done, the next one starts.

A beam that has pruned nothing is a complete search: if it has not won, the game is lost. A beam
without a width prunes nothing.

All work is cut into slices, also the copying of large arrays. Between two slices `solve` checks the
time, and Python handles Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import ONE, next_move
from four_seasons_env.engine.containers import find, move_keys, pop, push
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.solver.analysis.relaxation import MAX_SAFE, safe_move
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, UNLIMITED, WON, Root
from four_seasons_env.solver.analysis.score import WEIGHTS, score_position

BEAM_STATE = np.dtype(
    [
        ("pool", "i8"),  # rows in use: positions of this layer
        ("heap", "i8"),  # rows in use: those that wait to be expanded
        ("later", "i8"),  # rows in use: positions of later layers
        ("lines", "i8"),  # rows in use
        ("entered", "i8"),  # upper bound of the positions in the table
        ("layer", "i8"),
        ("expanded", "i8"),  # positions of this layer that have been expanded
        ("positions", "i8"),  # positions made by a move, in all
        ("status", "i8"),
        ("limit", "i8"),  # positions made, in all, at which the search stops
        ("max_expanded", "i8"),  # of this layer
        ("arrangements", "i8"),  # positions kept that have the same cards in the tableau
        ("pruned", "b1"),  # a position was dropped: not winning proves nothing
    ],
    align=True,
)
LINE = np.dtype([("parent", "i4"), ("move", "u1")])
"""A move, and the row of the line that it extends; -1 for the first move.

Lines form a tree with links to parents: a position stores only the row of its last move."""

_LAYER_DONE, _NO_ROOM = 10, 11  # of `expand`, in addition to those of a search

_SLICE = 2_000  # positions expanded in one call: 0.01 s with five piles, 0.1 s with twelve
_ROWS = 2**16  # rows of an array that are copied, entered or moved in one call: 0.05 s at most
# Expansions of a layer, in widths: more when at most one card is left, because no later layer can
# make up for a position that is dropped there. Chosen by hand; half and double were not tried.
_EXPANSIONS = 3
_LAST_EXPANSIONS = 30
# With so few cards left, all arrangements are kept: any of them may be the one that wins.
_LATE = 3
_ALL = 2**40


@jit
def layer_of(g):
    """A number that grows by 1 with each card dealt, and over redeals too."""
    return -64 * np.int64(g.redeals) - kernel.stock_size(g)


class Positions(NamedTuple):
    """Positions with their scores and the lines that lead to them, as arrays of columns."""

    games: NDArray[np.void]  # GAME (n,)
    scores: NDArray[np.float64]  # (n,)
    ends: NDArray[np.int64]  # (n,) row of the last move in `lines`; -1: no move yet
    layers: NDArray[np.int32]  # (n,) of `layer_of`


class BeamArrays(NamedTuple):
    """The arrays of a search; `BEAM_STATE` says how much of each buffer is in use."""

    rules: NDArray[np.void]  # RULE (1,)
    frames: NDArray[np.void]  # FRAME (1,)
    weights: NDArray[np.float64]  # (features,) of `score_position`
    state: NDArray[np.void]  # BEAM_STATE (1,)
    pool: Positions  # of this layer
    heap: NDArray[np.int64]  # (n,) rows of the pool that wait to be expanded
    later: Positions  # of later layers
    lines: NDArray[np.void]  # LINE (n,)
    keys: NDArray[np.uint64]  # hash table of both of `position_keys`, of this layer
    counts: NDArray[np.int32]  # how often each has been reached
    words: NDArray[np.uint64]  # a row of mask words


@jit
def _count_visit(g, rule, keys, counts):
    """Count a position in the hash table.

    Returns:
        How often the position has been reached, and how many different arrangements of the cards in
        its tableau, both with this one; the second is 0 for a duplicate.
    """
    arranged, unarranged = position_keys(g, rule)
    at = find(keys, max(arranged, ONE))
    keys[at] = max(arranged, ONE)
    counts[at] += 1
    visits = counts[at]
    if visits > 1:
        return visits, 0
    at = find(keys, max(~unarranged, ONE))  # inverted: both keys of an empty tableau are equal
    keys[at] = max(~unarranged, ONE)
    counts[at] += 1
    return visits, counts[at]


@jit
def _add_line(state, lines, parent, move):
    """Extend a line by a move; returns the row of the new line.

    Args:
        state: a BEAM_STATE record.
        lines: LINE (n,), with room for one more.
    """
    lines[state.lines].parent = parent
    lines[state.lines].move = move
    state.lines += 1
    return state.lines - 1


@jit
def _play_safe(g, rule, frame, state, lines, line):
    """Play all safe moves (`is_safe`), and add them to a line; returns the row of its end."""
    while frame.safe:
        move = safe_move(g, rule, frame)
        if move < 0:
            break
        kernel.play(g, rule, move)
        line = _add_line(state, lines, line, move)
    return line


@jit
def expand(arrays):
    """Expand up to `_SLICE` positions of a layer, the best first, and set the state's status.

    Args:
        arrays: `BeamArrays`. Positions that stay in the layer are added to ``pool`` and ``heap``,
            those of later layers to ``later``.
    """
    # Taken out of their tuples once: inside the loop that costs time.
    state, rule, frame = arrays.state[0], arrays.rules[0], arrays.frames[0]
    games, scores, ends, _ = arrays.pool
    later_games, later_scores, later_ends, later_layers = arrays.later
    heap, lines, keys, counts = arrays.heap, arrays.lines, arrays.keys, arrays.counts
    words, weights = arrays.words, arrays.weights
    state.status = SEARCHING
    for _ in range(_SLICE):
        # 1. Is the layer done?
        if state.heap == 0 or state.expanded == state.max_expanded:
            state.pruned |= state.heap > 0
            state.status = _LAYER_DONE
            return
        # 2. Is there room for all successors? So no position is expanded in part.
        if (
            state.pool + rule.actions > len(games)
            or state.later + rule.actions > len(later_games)
            or state.lines + rule.actions * MAX_SAFE > len(lines)
            or 4 * (state.entered + rule.actions) > len(keys)
        ):
            state.status = _NO_ROOM
            return
        # 3. Expand the best position.
        here = pop(heap, state.heap, scores)
        state.heap -= 1
        state.expanded += 1
        kernel.legal(games[here], rule, True, words)
        move = -1
        while True:
            move = next_move(words, move)
            if move < 0:
                break
            # 4. Play a move in the next free row; a position that is dropped is overwritten there.
            games[state.pool] = games[here]
            g = games[state.pool]
            kernel.play(g, rule, move)
            state.positions += 1
            before = state.lines  # to remove the line of a position that is dropped
            # The budget is spent and the solver gives up, so this position may stay half
            # expanded. A search that continued here would miss the rest of its moves.
            if state.positions > state.limit:
                state.positions = state.limit
                state.pruned = True
                return
            line = _add_line(state, lines, ends[here], move)
            # Safe moves lose nothing, so the positions in between are not searched.
            line = _play_safe(g, rule, frame, state, lines, line)
            if kernel.is_won(g, rule):
                state.status = WON
                return
            # 5. Drop duplicates, arrangements beyond the limit, and positions that are lost.
            visits, arrangements = _count_visit(g, rule, keys, counts)
            if visits > 1:
                state.lines = before
                continue
            state.entered += 1
            # Arrangements of the same cards mostly share their fate. A few of each leave room
            # for positions with other cards.
            if arrangements > state.arrangements:
                state.pruned = True
                state.lines = before
                continue
            score, is_lost = score_position(g, rule, frame, weights)
            if is_lost:  # a proof, so nothing is pruned
                state.lines = before
                continue
            # 6. Keep it, in its layer: scores of positions with different stocks do not compare.
            layer = layer_of(g)
            if layer > state.layer:
                later_games[state.later] = g
                later_layers[state.later] = layer
                later_scores[state.later] = score
                later_ends[state.later] = line
                state.later += 1
            else:
                scores[state.pool] = score
                ends[state.pool] = line
                push(heap, state.heap, scores, state.pool)
                state.heap += 1
                state.pool += 1


@jit
def _enter(arrays, first, last):
    """Put rows of the pool, which a layer starts with, into its heap and hash table."""
    arrays.state[0].layer = layer_of(arrays.pool.games[first])
    # In the table too, so that a move that leads back to one of them is a duplicate.
    for i in range(first, last):
        _count_visit(arrays.pool.games[i], arrays.rules[0], arrays.keys, arrays.counts)
        push(arrays.heap, i, arrays.pool.scores, i)


class Beam:
    """One beam search.

    Args:
        root: the position to start from.
        width: positions that a layer starts with. None: all, and nothing is pruned.
        arrangements: positions kept that have the same cards in the tableau.
        weights: of the features of `score_position`, float64 (features,).
    """

    def __init__(
        self,
        root: Root,
        width: int | None,
        arrangements: int = _ALL,
        weights: NDArray[np.float64] = WEIGHTS,
    ) -> None:
        self._width = width or _ALL
        self._arrangements = arrangements if width else _ALL
        self._memory = root.memory
        self._all_moves = all_moves(root.rules)
        # Small at first, because many deals need little; large enough for several expansions. So an
        # array that has no room for one more is full enough for `_make_room` to double it.
        room = 4 * len(self._all_moves) + 8 * min(self._width, 100)
        entries = 1 << (8 * room - 1).bit_length()
        self._arrays = BeamArrays(
            kernel.compile_rules(root.rules),
            root.frames,
            weights,
            np.zeros(1, BEAM_STATE),
            _new_positions(room),
            np.empty(room, np.int64),
            _new_positions(room),
            np.empty(32 * room, LINE),
            np.zeros(entries, np.uint64),
            np.zeros(entries, np.int32),
            kernel.new_masks(1, root.rules)[0][0],
        )
        pool = self._arrays.pool
        pool.games[0], pool.scores[0], pool.ends[0] = root.record, 0.0, -1
        self._state["pool"] = 1
        self._steps = self._search()

    @property
    def _state(self) -> Any:
        return self._arrays.state[0]

    @property
    def positions(self) -> int:
        """Positions made by a move so far."""
        return int(self._state["positions"])

    def advance(self, positions: int = UNLIMITED) -> int:
        """Continue the search (`solving.Method`). It is undecided if memory runs out."""
        self._state["limit"] = self.positions + positions
        return next(self._steps)

    def _search(self) -> Iterator[int]:
        """Search layer by layer; yields the status after each slice of work."""
        state = self._state
        while True:
            yield from self._start_layer()
            while state["status"] != _LAYER_DONE:
                self._expand()
                if state["status"] == WON:
                    yield WON
                elif state["status"] == _NO_ROOM:
                    if not self._has_memory():
                        yield UNDECIDED
                    yield from self._make_room()
                yield SEARCHING
            if not state["later"]:
                yield UNDECIDED if state["pruned"] else LOST
            yield from self._take_next_layer()

    def _start_layer(self) -> Iterator[int]:
        """Put the positions that a layer starts with into its heap and hash table."""
        state, size = self._state, int(self._state["pool"])
        # Positions of earlier layers do not come again, so the old keys are of no use.
        entries = 1 << (4 * size - 1).bit_length()
        if entries > len(self._arrays.keys):
            self._new_table(entries)
        else:
            self._arrays.keys[:] = self._arrays.counts[:] = 0
        for first in range(0, size, _ROWS):
            _enter(self._arrays, first, min(first + _ROWS, size))
            yield SEARCHING
        state["heap"] = state["entered"] = size
        state["expanded"] = 0
        state["status"] = SEARCHING

    def _expand(self) -> None:
        state = self._state
        left = -int(state["layer"])  # cards in the stock; more where a redeal is left
        state["arrangements"] = self._arrangements if left > _LATE else _ALL
        state["max_expanded"] = self._width * (_EXPANSIONS if left > 1 else _LAST_EXPANSIONS)
        expand(self._arrays)

    def _take_next_layer(self) -> Iterator[int]:
        """Move the best positions of the next layer from ``later`` to the pool."""
        later, state = self._arrays.later, self._state
        size = int(state["later"])
        layers = later.layers[:size]
        is_next = layers == layers.min()  # a refill may deal more than one card: layers are skipped
        chosen, others = np.flatnonzero(is_next), np.flatnonzero(~is_next)
        if len(chosen) > self._width:
            state["pruned"] = True
            # Not sorted: the heap of the layer orders them.
            best = np.argpartition(-later.scores[chosen], self._width)[: self._width]
            chosen = chosen[best]
        while len(self._arrays.pool.games) < len(chosen):
            yield from self._grow_pool()
        yield from _take(self._arrays.pool, later, chosen)
        yield from _take(later, later, others)  # in place: a row never moves up
        state["pool"], state["later"] = len(chosen), len(others)

    def _has_memory(self) -> bool:
        """Whether all arrays may double: an upper bound that needs no bookkeeping."""
        arrays = self._arrays
        growing = (
            arrays.lines, arrays.keys, arrays.counts, *arrays.pool, arrays.heap, *arrays.later
        )  # fmt: skip
        return 2 * sum(array.nbytes for array in growing) <= self._memory

    def _make_room(self) -> Iterator[int]:
        """Double what is full, or nearly so."""
        state, arrays = self._state, self._arrays
        if 2 * state["pool"] > len(arrays.pool.games):
            yield from self._grow_pool()
        if 2 * state["later"] > len(arrays.later.games):
            later = yield from _longer(arrays.later)
            self._replace(later=Positions(*later))
        if 2 * state["lines"] > len(arrays.lines):
            (lines,) = yield from _longer([arrays.lines])
            self._replace(lines=lines)
        if 6 * state["entered"] > len(arrays.keys):
            self._new_table(2 * len(arrays.keys))
            for first in range(0, len(arrays.keys), _ROWS):
                old = arrays.keys[first : first + _ROWS], arrays.counts[first : first + _ROWS]
                move_keys(*old, self._arrays.keys, self._arrays.counts)
                yield SEARCHING

    def _replace(self, **arrays: Any) -> None:
        self._arrays = self._arrays._replace(**arrays)

    def _new_table(self, entries: int) -> None:
        """Start an empty table."""
        self._replace(keys=np.zeros(entries, np.uint64), counts=np.zeros(entries, np.int32))

    def _grow_pool(self) -> Iterator[int]:
        """Double the room for this layer's positions."""
        *pool, heap = yield from _longer([*self._arrays.pool, self._arrays.heap])
        self._replace(pool=Positions(*pool), heap=heap)

    def moves(self) -> list[Move]:
        """The moves that win, once it is won: those of the last line, from its end back."""
        lines, moves = self._arrays.lines, []
        end = int(self._state["lines"]) - 1
        while end >= 0:
            moves.append(self._all_moves[lines[end]["move"]])
            end = int(lines[end]["parent"])
        return moves[::-1]


def _new_positions(room: int) -> Positions:
    return Positions(
        np.empty(room, kernel.GAME),
        np.empty(room),
        np.empty(room, np.int64),
        np.empty(room, np.int32),
    )


def _take(
    into: Sequence[NDArray[Any]], source: Sequence[NDArray[Any]], chosen: NDArray[np.int64]
) -> Iterator[int]:
    """Copy the chosen rows of some arrays to the front of others, or of the same ones."""
    for first in range(0, len(chosen), _ROWS):
        rows = chosen[first : first + _ROWS]
        for mine, theirs in zip(into, source, strict=True):
            mine[first : first + len(rows)] = theirs[rows]
        yield SEARCHING


def _longer(arrays: Sequence[NDArray[Any]]) -> Generator[int, None, list[NDArray[Any]]]:
    """Arrays of twice the length that start with the same rows."""
    larger = [np.empty(2 * len(array), array.dtype) for array in arrays]
    for target, array in zip(larger, arrays, strict=True):
        for first in range(0, len(array), _ROWS):
            target[first : first + _ROWS][: len(array) - first] = array[first : first + _ROWS]
            yield SEARCHING
    return larger
