"""Search for the positions that can be reached before the next hidden card is turned.

Half of the time there are at most a dozen such positions; with many spaces there are thousands. The
search is best-first and holds the positions that it has reached in the rows of `Search`. `begin`
enters the first position, `enqueue` puts a position into the queue, `expand_best` takes the best
out and adds its successors, and `may_expand` says when to stop. The caller decides what a position
is worth: `enumeration` has the order of the environment, the planner has its own.

    begin         row 0   T0: AC  T1: QH  T2: 2D     T3: QS  T4: 2H
    expand_best   row 1   T0: --  T1: QH  T2: 2D AC  T3: QS  T4: 2H       T0>T2 from row 0
                  row 2   T0: --  T1: QH  T2: 2D     T3: QS  T4: 2H AC    T0>T4 from row 0
    expand_best   T2>T4 from row 1 leads to row 2, by one move more than is known; then the queue
                  has row 2 alone, and so on, until it is empty. All three rows are stops.

Positions before the next card is turned are afterstates: what follows from them is chance. Some
moves turn a card automatically, such as filling a space from the stock. Then the position reached
is the one just before that card is seen. If a shorter path to a known position is found, it
replaces the longer one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_positive
from four_seasons_env.engine import containers
from four_seasons_env.engine.bits import ONE, next_move
from four_seasons_env.engine.hashing import position_keys
from four_seasons_env.engine.jit import inlined, internal, jit, merged, numbers
from four_seasons_env.engine.kernel import GAME, ends_decision, is_won, legal, new_masks, play
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.rules import Rules

UNTIL_HIDDEN, UNTIL_PROGRESS, UNTIL_END = numbers(3)
"""How far a search goes: to the move that turns a hidden card; to the next move that cannot be
taken back, which is included; or to the end of the game. The last two are for games with nothing
hidden."""

_NOT_YET = -1
"""A value of `Search.turns`: the search does not stop at this position."""

WON = np.float32(1e9)
"""The value of a position that is won."""

DEEPEST = 250
"""Maximum number of moves to a position; those that far away are not expanded."""

_SLOTS = 1 << 15  # of the transposition table; a search fills up to half of it

SEARCH_STATE = np.dtype(
    [
        ("count", "i8"),  # positions held
        ("waiting", "i8"),  # of these, positions in the queue
        ("expansions", "i8"),  # positions that may still be expanded
        ("room", "i8"),  # maximum number of positions to hold
    ]
)
"""How far a search has come."""


class Search(NamedTuple):
    """Buffers of a search and its results: one row for each position; row 0 is the root."""

    positions: NDArray[Any]  # GAME (size,)
    values: NDArray[np.float32]  # (size,) the caller's value of it; WON if it is won
    worths: NDArray[np.float32]  # (size,) what orders the queue: value less a price of moves
    depths: NDArray[np.int64]  # (size,) moves that lead there
    parents: NDArray[np.int64]  # (size,) the position that it was reached from, -1 for the root
    moves: NDArray[np.int64]  # (size,) by this move
    expanded: NDArray[np.bool_]  # (size,) whether its successors have been added
    turns: NDArray[np.int64]  # (size,) see `may_stop` and `turn_at`
    masks: NDArray[np.uint64]  # (size, words) legal moves
    heap: NDArray[np.int64]  # (size,) positions to be expanded
    table: containers.Transpositions  # the rows of the positions held
    state: NDArray[np.void]  # SEARCH_STATE (1,)


MOST_HELD = _SLOTS // 2
"""Maximum number of positions of a search: its table has room for twice as many."""


def new_search(rules: Rules, size: int) -> Search:
    """Buffers for searches that hold at most ``size`` positions.

    Raises:
        ValueError: for a size that the table has no room for.
    """
    check_positive("positions", size, MOST_HELD)
    return Search(
        np.zeros(size, GAME),
        np.zeros(size, np.float32),
        np.zeros(size, np.float32),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(size, np.bool_),
        np.zeros(size, np.int64),
        new_masks(size, rules)[0],
        np.zeros(size, np.int64),
        containers.new_transpositions(size, _SLOTS),
        np.zeros(1, SEARCH_STATE),
    )


@jit
def position_key(g, rule):
    """A hash of the position, the same in any order of its piles."""
    key, _ = position_keys(g, rule)
    return key


@internal
def _fill_row(rule, parent, move, row, horizon, search):
    """Fill in the row of a position that is new."""
    g = search.positions[row]
    search.depths[row] = search.depths[parent] + 1 if parent >= 0 else 0
    search.parents[row] = parent
    search.moves[row] = move
    search.expanded[row] = False
    # Without the moves that only rename spaces: they lead to positions that count as the same.
    continues = legal(g, rule, True, search.masks[row])
    search.values[row] = WON if is_won(g, rule) else np.float32(0)
    # Where the next card may be turned (move 0, the lowest byte), a player may stop.
    may_deal = horizon == UNTIL_HIDDEN and continues and search.masks[row, 0] & ONE != 0
    search.turns[row] = 0 if may_deal else _NOT_YET


@jit
def begin(g, rule, horizon, room, expansions, search):
    """Start a search at a position, which gets row 0.

    Args:
        horizon: one of `UNTIL_HIDDEN`, `UNTIL_PROGRESS` and `UNTIL_END`.
        room: maximum number of positions to hold.
        expansions: maximum number of positions to expand.
    """
    state = search.state[0]
    # Only the entries of the search before are removed; clearing the whole table takes longer.
    containers.remove_rows(0, state.count, search.table)
    state.count = 1
    state.waiting = 0
    state.expansions = expansions
    state.room = room
    search.positions[0] = g
    _fill_row(rule, -1, -1, 0, horizon, search)
    containers.find_or_add(position_key(g, rule), 0, search.table)


@inlined
def enqueue(row, search):
    """Put a position, whose worth is known, into the queue."""
    state = search.state[0]
    containers.push(search.heap, state.waiting, search.worths, row)
    state.waiting += 1


@inlined
def may_expand(search):
    """Whether there is a position to expand and the limits allow it."""
    state = search.state[0]
    return state.expansions > 0 and state.waiting > 0 and state.count < state.room


@merged
def _shorten(g, rule, parent, move, row, search):
    """Record a shorter path to a known position; ``g`` is the position at its end.

    The piles of ``g`` may be in another order. The moves of its successors are for the order of
    the row, so once it has been expanded only a path that leads to the same order is taken.
    """
    if search.expanded[row]:
        # No card is twice in a deck, so equal tops in equal places mean equal piles.
        for pile in range(rule.piles):
            if g.top[pile] != search.positions[row].top[pile]:
                return
    else:
        search.positions[row] = g
        legal(g, rule, True, search.masks[row])
    # Depths of positions behind this one are not updated. They are upper bounds from now on, which
    # is enough for `DEEPEST`: no path becomes longer than its depth says.
    search.depths[row] = search.depths[parent] + 1
    search.parents[row] = parent
    search.moves[row] = move
    # Another arrangement of the piles has other numbers for the move that turns the card.
    if search.turns[row] > 0:
        search.turns[row] = move


@jit
def is_progress(rule, move):
    """Whether a move deals, or takes a card from the waste or to a foundation."""
    return rule.source[move] in (WASTE, STOCK) or rule.target[move] == FOUNDATION


@jit
def expand_best(rule, no_refills, horizon, search):
    """Take the position with the highest worth from the queue, and add its new successors.

    Args:
        no_refills: the rule set without refills, under which moves turn no cards.
        horizon: one of `UNTIL_HIDDEN`, `UNTIL_PROGRESS` and `UNTIL_END`.

    Returns:
        The first row of the new positions, and the row after the last.
    """
    # 1. Out of the queue.
    state = search.state[0]
    row = containers.pop(search.heap, state.waiting, search.worths)
    state.waiting -= 1
    state.expansions -= 1
    search.expanded[row] = True
    first = count = state.count
    if search.depths[row] >= DEEPEST:
        return first, count
    # 2. Each legal move, in the order of the numbers.
    dealt = search.positions[row].dealt
    move = -1
    while True:
        move = next_move(search.masks[row], move)
        if move < 0:
            break
        # Behind a deal the hidden card would be known. The position before it is a stop instead.
        if horizon == UNTIL_HIDDEN and rule.source[move] == STOCK:
            continue
        if count == state.room:  # the other successors are dropped
            break
        # a. Played in the next free row; a position that is not new is overwritten there.
        search.positions[count] = search.positions[row]
        reached = search.positions[count]
        play(reached, rule, move)
        turned = horizon == UNTIL_HIDDEN and ends_decision(reached, rule, move, dealt)
        if turned:  # by a refill: play it without, so that the hidden card stays hidden
            search.positions[count] = search.positions[row]
            play(reached, no_refills, move)
        # b. Finds the position, or enters it as row `count`. Positions that differ only in the
        # order of the piles are one, which keeps the search small.
        known = containers.find_or_add(position_key(reached, rule), count, search.table)
        if known != count:
            if search.depths[row] + 1 < search.depths[known]:
                _shorten(reached, rule, row, move, known, search)
            continue
        # c. It is new: describe it, and say whether the search may stop there.
        _fill_row(rule, row, move, count, horizon, search)
        if turned or (horizon == UNTIL_PROGRESS and is_progress(rule, move)):
            search.turns[count] = move
        count += 1
    state.count = count
    return first, count


@merged
def may_stop(search, row):
    """Whether a search may stop at a position: the next card turns there, or progress was made."""
    return search.turns[row] != _NOT_YET


@merged
def turn_at(search, row):
    """Where and how the card turns, if a search stops at a position.

    Returns:
        The row of the position in which the move is played, and the move. That is the deal, 0, in
        the position itself; or the move before, which led there: the position is as after this
        move, without the card that it turns. -1 where a search may not stop.
    """
    move = search.turns[row]
    return (search.parents[row] if move > 0 else row), move


@jit
def write_path(row, parents, moves, path):
    """Write the moves that lead to a position, first to last; returns how many there are.

    Args:
        row: the row of the position.
        parents: `Search.parents`.
        moves: `Search.moves`.
        path: integers, with room for `DEEPEST` + 1.
    """
    # Collected from the end, then reversed. Shorter paths found later (`_shorten`) are in already.
    length = 0
    while row > 0:
        path[length] = moves[row]
        length += 1
        row = parents[row]
    for i in range(length // 2):
        path[i], path[length - 1 - i] = path[length - 1 - i], path[i]
    return length
