"""Beam search in layers: all positions with equally many cards in the stock, the best first.

A layer starts with the best positions that the layer before has dealt. They are played on, best
first by `outlook`, until so many have been played on; what deals a card belongs to a later layer.
Of the positions that have the same cards in the tableau, only so many arrangements are kept. If
nothing was ever left out the search was complete, and a game not won by it is lost.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE, Move, all_moves
from four_seasons_env.rules import Rules
from four_seasons_env.solver.bits import lowest
from four_seasons_env.solver.hash_table import TALLY, retally, tally
from four_seasons_env.solver.outlook import keys, outlook
from four_seasons_env.solver.relaxation import ONE, cards_up, is_safe

STATE = np.dtype(
    [
        ("pool", "i8"),  # positions of this layer
        ("heap", "i8"),  # those that wait to be played on
        ("later", "i8"),  # positions of later layers
        ("lines", "i8"),  # moves on record
        ("entered", "i8"),  # keys in the tables
        ("layer", "i8"),
        ("played_on", "i8"),  # positions of this layer that have been
        ("positions", "i8"),  # positions made by a move, in all
        ("status", "i8"),
        ("left_out", "b1"),  # something was left out: not winning proves nothing
    ],
    align=True,
)
LINE = np.dtype([("parent", "i4"), ("move", "u1")])
"""A move and the line that it goes on, -1 at the start."""
SEARCHING, LAYER_DONE, NO_ROOM, WON, OVER = range(5)

_LIMIT = 3  # positions of a layer that are played on, for each that it starts with
_LAST_LIMIT = 30  # the same when one card is left at most: then or never
_LATE = 3  # cards left, at most, when any arrangement may be the one that wins: all are kept
_ANY = 2**40
_WASTE_UP = 1  # the number of W>F; those of Ti>F follow
_MOST_SAFE = 52
_1, _3 = np.uint64(1), np.uint64(3)


@jit
def layer_of(g):
    """A number that grows with each card dealt, also when the stock is gone through again."""
    return -64 * np.int64(g.redeals) - kernel.stock_size(g)


@jit
def _push(heap, size, scores, item):
    """Put an item on a heap, the lowest score on top."""
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if scores[heap[parent]] <= scores[item]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


@jit
def _pop(heap, size, scores):
    """Take the top off a heap, which has one item fewer then."""
    top = heap[0]
    item = heap[size - 1]
    at = 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and scores[heap[child + 1]] < scores[heap[child]]:
            child += 1
        if scores[item] <= scores[heap[child]]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = item
    return top


@jit
def safe_move(g, rule, frame):
    """The number of a move to a foundation that cannot be regretted, or -1."""
    for i in range(rule.piles + 1):
        card = g.top[WASTE if i == 0 else i - 1]
        if kernel.goes_up(g, rule, card):
            bit = ONE << np.uint64(frame.place[card])
            if is_safe(bit, cards_up(g.level), frame):
                return _WASTE_UP + i
    return -1


@jit
def _record(state, lines, parent, move):
    """Note a move and what it follows; the number of the line that it ends."""
    lines[state.lines].parent = parent
    lines[state.lines].move = move
    state.lines += 1
    return state.lines - 1


@jit
def expand(
    states, rules, frames, weights, arrangements, limit, quota, last, words,
    pool, scores, ends, heap, later, later_scores, later_ends, lines, seen, same_cards,
):  # fmt: skip
    """Play on from so many positions of a layer at most, and set the state's status.

    Args:
        arrangements: positions with the same cards in the tableau to be kept.
        limit: positions of this layer to be played on.
        quota: the same, in this call.
        last: positions made, in all, at which the search breaks off.
        pool, scores, ends: this layer: GAME records, their outlook, the lines that lead to them.
        heap: those of the pool that wait, a heap by score.
        later, later_scores, later_ends: positions of later layers.
        lines: LINE: moves on record.
        seen, same_cards: TALLY tables of `keys`.
    """
    state, rule, frame = states[0], rules[0], frames[0]
    state.status = SEARCHING
    for _ in range(quota):
        if state.heap == 0 or state.played_on == limit:
            state.left_out |= state.heap > 0
            state.status = LAYER_DONE
            return
        if (
            state.pool + rule.actions > len(pool)
            or state.later + rule.actions > len(later)
            or state.lines + rule.actions * _MOST_SAFE > len(lines)
            or 2 * (state.entered + rule.actions) > len(seen)
        ):
            state.status = NO_ROOM
            return
        state.heap -= 1
        here = _pop(heap, state.heap + 1, scores)
        state.played_on += 1
        kernel.legal(pool[here], rule, True, words)
        for w in range(len(words)):
            flags = words[w]
            while flags:
                move = 8 * w + np.int64(lowest(flags) >> _3)
                flags &= flags - _1
                pool[state.pool] = pool[here]
                g = pool[state.pool]
                kernel.play(g, rule, move)
                state.positions += 1
                before = state.lines
                if state.positions > last:
                    state.positions = last
                    return
                line = _record(state, lines, ends[here], move)
                while frame.safe:
                    move = safe_move(g, rule, frame)
                    if move < 0:
                        break
                    kernel.play(g, rule, move)
                    line = _record(state, lines, line, move)
                if kernel.is_won(g, rule):
                    state.status = WON
                    return
                exact, cards = keys(g, rule, frame)
                if tally(seen, exact, _1) > 1:
                    state.lines = before
                    continue
                state.entered += 1
                if tally(same_cards, cards, _1) > arrangements:
                    state.left_out = True
                    state.lines = before
                    continue
                score, is_lost = outlook(g, rule, frame, weights)
                if is_lost:
                    state.lines = before
                    continue
                if layer_of(g) > state.layer:
                    later[state.later] = g
                    later_scores[state.later] = score
                    later_ends[state.later] = line
                    state.later += 1
                else:
                    scores[state.pool] = score
                    ends[state.pool] = line
                    _push(heap, state.heap, scores, state.pool)
                    state.heap += 1
                    state.pool += 1


@jit
def _enter_layer(states, rules, frames, pool, scores, heap, seen, same_cards):
    """Enter the positions that a layer starts with into its heap and tables."""
    state = states[0]
    for i in range(state.pool):
        exact, cards = keys(pool[i], rules[0], frames[0])
        tally(seen, exact, _1)
        tally(same_cards, cards, _1)
        _push(heap, i, scores, i)
    state.heap = state.entered = state.pool
    state.layer = layer_of(pool[0])
    state.played_on = 0


class OutOfMemory(Exception):
    """A search would need more memory than it may have."""


class Beam:
    """One beam search, to be gone on with slice by slice.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        width: positions that a layer starts with.
        arrangements: positions kept that have the same cards in the tableau.
        weights: of the features of `outlook`.
        memory: bytes that its arrays may take.
    """

    def __init__(
        self,
        record: Any,
        rules: Rules,
        frames: NDArray[np.void],
        width: int,
        arrangements: int,
        weights: NDArray[np.float64],
        memory: int,
    ) -> None:
        self._width, self._arrangements, self._weights = width, arrangements, weights
        self._memory = memory
        self._all_moves = all_moves(rules)
        self._rules = kernel.compile_rules(rules)
        self._frames = frames
        self._words = kernel.new_masks(1, rules)[0][0]
        room = 4 * len(self._all_moves) + 8 * min(width, 1000)
        self._pool = _Open(room, with_heap=True)
        self._later = _Open(room)
        self._lines = np.empty(32 * room, LINE)
        self._seen, self._same_cards = (np.zeros(_power_of_two(4 * room), TALLY) for _ in range(2))
        self._pool.games[0] = record
        self._pool.scores[0] = 0.0
        self._pool.ends[0] = -1
        self.state = np.zeros(1, STATE)
        self.state["pool"] = 1
        self._start_layer()

    def _start_layer(self) -> None:
        for table in (self._seen, self._same_cards):
            table.view(np.uint64).fill(0)
        pool = self._pool
        _enter_layer(
            self.state, self._rules, self._frames, pool.games, pool.scores, pool.heap,
            self._seen, self._same_cards,
        )  # fmt: skip

    @property
    def positions(self) -> int:
        """Positions made by a move so far."""
        return int(self.state["positions"][0])

    @property
    def is_complete(self) -> bool:
        """Whether nothing has been left out."""
        return not self.state["left_out"][0]

    def go_on(self, quota: int, positions: int) -> int:
        """Play on from so many positions at most, and make so many positions at most.

        Returns:
            WON, OVER at the end of a search that has not won, or SEARCHING.

        Raises:
            OutOfMemory: if the memory does not suffice.
        """
        pool, later, state = self._pool, self._later, self.state[0]
        left = -int(state["layer"])  # cards in the stock; more than there are if it comes again
        expand(
            self.state, self._rules, self._frames, self._weights,
            self._arrangements if left > _LATE else _ANY,
            self._width * (_LIMIT if left > 1 else _LAST_LIMIT),
            quota, self.positions + positions, self._words,
            pool.games, pool.scores, pool.ends, pool.heap, later.games, later.scores, later.ends,
            self._lines, self._seen, self._same_cards,
        )  # fmt: skip
        if state["status"] == WON:
            return WON
        if state["status"] == NO_ROOM:
            self._make_room()
        elif state["status"] == LAYER_DONE:
            if not state["later"]:
                return OVER
            self._next_layer()
        return SEARCHING

    def _next_layer(self) -> None:
        """Take the best positions of the next layer out of the later ones."""
        pool, later, state = self._pool, self._later, self.state[0]
        size = int(state["later"])
        games = later.games[:size]
        stock = games["deck_size"].astype(np.int64) - games["dealt"]
        layers = -64 * games["redeals"].astype(np.int64) - stock
        is_next = layers == layers.min()
        chosen, others = np.flatnonzero(is_next), np.flatnonzero(~is_next)
        if len(chosen) > self._width:
            state["left_out"] = True
            best = np.argpartition(later.scores[chosen], self._width)[: self._width]
            chosen = chosen[best]
        state["pool"], state["later"] = len(chosen), len(others)
        pool.take(later, chosen)
        later.take(later, others)
        self._start_layer()

    def _make_room(self) -> None:
        """Double what is full, or nearly so."""
        state = self.state[0]
        pool, later = self._pool, self._later
        arrays = (self._lines, self._seen, self._same_cards, *pool.arrays, *later.arrays)
        if 2 * sum(array.nbytes for array in arrays) > self._memory:
            raise OutOfMemory
        if 2 * state["pool"] > len(pool.games):
            pool.grow()
        if 2 * state["later"] > len(later.games):
            later.grow()
        if 2 * state["lines"] > len(self._lines):
            self._lines = _doubled(self._lines)
        if 3 * state["entered"] > len(self._seen):
            self.grow_tables()

    def grow_tables(self) -> None:
        """Double the tables of positions seen."""
        for name in ("_seen", "_same_cards"):
            table = getattr(self, name)
            larger = np.zeros(2 * len(table), TALLY)
            retally(table, larger)
            setattr(self, name, larger)

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""
        moves = []
        end = int(self.state["lines"][0]) - 1
        while end >= 0:
            moves.append(self._all_moves[self._lines[end]["move"]])
            end = int(self._lines[end]["parent"])
        return moves[::-1]


class _Open:
    """Positions with their scores and lines."""

    def __init__(self, room: int, with_heap: bool = False) -> None:
        self.games = np.empty(room, kernel.GAME)
        self.scores = np.empty(room)
        self.ends = np.empty(room, np.int64)
        self.heap = np.empty(room if with_heap else 0, np.int64)

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        return self.games, self.scores, self.ends, self.heap

    def grow(self) -> None:
        self.games, self.scores, self.ends, self.heap = map(_doubled, self.arrays)

    def take(self, other: _Open, chosen: NDArray[np.int64]) -> None:
        while len(self.games) < len(chosen):
            self.grow()
        for mine, theirs in zip(self.arrays[:3], other.arrays[:3], strict=True):
            mine[: len(chosen)] = theirs[chosen]


def _doubled(array: NDArray[Any]) -> NDArray[Any]:
    larger = np.empty(2 * len(array), array.dtype)
    larger[: len(array)] = array
    return larger


def _power_of_two(least: int) -> int:
    return 1 << (least - 1).bit_length()
