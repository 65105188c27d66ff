"""What can be reached from a position before the next hidden card is turned: the search itself.

Half of the time there are no more than a dozen such positions; with many spaces there are
thousands. A search holds what it has met in the rows of `Search`. `expand` adds the successors of
one position; which position comes next is the caller's choice (`push` and `pop` keep a heap of
them): the environment's order is in `enumeration`, the planner's agent has one of its own.

Where a move turns a card by itself, as filling a space from the stock does, what counts is the
position just before that card is seen. A position that is met again by a shorter way is reached by
that one from then on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, is_won, legal, new_masks, play
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.rules import Rules

UNTIL_HIDDEN, UNTIL_PROGRESS, UNTIL_END = range(3)
"""How far a search goes: up to the move that turns a hidden card; up to and with the next move that
cannot be taken back; or to the end of the game. The last two are for games with nothing hidden."""

NOT_YET = -1
"""In `Search.turns`: a search does not stop at this position."""

WON = np.float32(1e9)
"""The value of a position that is won."""

DEEPEST = 250
"""Moves to a position at most; those that far away are not expanded."""

_SLOTS = 1 << 15  # of the table of positions met; far more than a search may hold
_SLOT = np.uint64(_SLOTS - 1)
_HASHES = np.random.default_rng(52).integers(0, 2**63, (53, 53), dtype=np.uint64)
_LEVELS = np.random.default_rng(4).integers(0, 2**63, (4, 14), dtype=np.uint64)
_ONE = np.uint64(1)


class Search(NamedTuple):
    """Buffers of a search, and what it has found: one row a position, the first the root's."""

    positions: NDArray[Any]  # GAME (size,)
    values: NDArray[np.float32]  # (size,) what the caller thinks of it; WON if it is won
    worths: NDArray[np.float32]  # (size,) by which it is ordered: value less a price of moves
    depths: NDArray[np.int64]  # (size,) moves that lead there
    parents: NDArray[np.int64]  # (size,) the position that it was reached from, -1 for the root
    moves: NDArray[np.int64]  # (size,) by this move
    expanded: NDArray[np.bool_]  # (size,) whether its successors have been added
    turns: NDArray[np.int64]  # (size,) the move that stops a search there, or NOT_YET
    masks: NDArray[np.uint64]  # (size, words) legal moves
    heap: NDArray[np.int64]  # (size,) positions to be expanded
    table: NDArray[np.uint64]  # (slots, 3) key of a position, the search that met it, its row
    number: NDArray[np.uint64]  # (1,) of the search


def new_search(rules: Rules, size: int) -> Search:
    """Buffers for searches that hold so many positions at most.

    Raises:
        ValueError: for more than the table has room for.
    """
    if not 1 <= size <= _SLOTS // 2:
        raise ValueError(f"a search may hold 1 to {_SLOTS // 2:,} positions, not {size:,}")
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
        np.zeros((_SLOTS, 3), np.uint64),
        np.zeros(1, np.uint64),
    )


@jit
def position_key(g, rule):
    """A number of the position, the same in whichever order its piles stand."""
    total = _HASHES[52, 0] * np.uint64(64 * g.redeals + g.dealt)
    for pile in range(rule.piles):
        card = g.top[pile]
        while card != NO_CARD:
            total ^= _HASHES[card, g.below[card]]
            card = g.below[card]
    for suit in range(4):
        total ^= _LEVELS[suit, g.level[suit]]
    return total


@jit
def _met(table, search, key, row):
    """The row in which this search holds a position; if it holds none, this is its row now."""
    i = key & _SLOT
    while table[i, 1] == search:
        if table[i, 0] == key:
            return np.int64(table[i, 2])
        i = (i + _ONE) & _SLOT
    table[i, 0] = key
    table[i, 1] = search
    table[i, 2] = np.uint64(row)
    return row


@jit
def push(search, waiting, row):
    """Add a row to the heap of so many, the most worth first; returns how many there are then."""
    heap, worths = search.heap, search.worths
    at = waiting
    heap[at] = row
    while at > 0 and worths[heap[(at - 1) >> 1]] < worths[row]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = row
    return waiting + 1


@jit
def pop(search, waiting):
    """Take the row of the most worth from the heap; returns it and how many are left."""
    heap, worths = search.heap, search.worths
    first, last = heap[0], heap[waiting - 1]
    waiting -= 1
    at = 0
    while 2 * at + 1 < waiting:
        child = 2 * at + 1
        if child + 1 < waiting and worths[heap[child + 1]] > worths[heap[child]]:
            child += 1
        if worths[last] >= worths[heap[child]]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first, waiting


@jit
def _note(rule, parent, move, row, until, search):
    """Fill in the row of a position that has been met for the first time."""
    g = search.positions[row]
    search.depths[row] = search.depths[parent] + 1 if parent >= 0 else 0
    search.parents[row] = parent
    search.moves[row] = move
    search.expanded[row] = False
    goes_on = legal(g, rule, True, search.masks[row])
    search.values[row] = WON if is_won(g, rule) else np.float32(0)
    may_deal = until == UNTIL_HIDDEN and goes_on and search.masks[row, 0] & _ONE != 0
    search.turns[row] = 0 if may_deal else NOT_YET


@jit
def begin(g, rule, until, search):
    """Start a search at a position, which gets row 0."""
    search.number[0] += _ONE
    search.positions[0] = g
    _note(rule, -1, -1, 0, until, search)
    _met(search.table, search.number[0], position_key(g, rule), 0)


@jit
def _shorten(g, rule, parent, move, row, search):
    """Reach a position that has been met by a shorter way, at the end of which it is ``g``.

    Its piles may stand in another order there. The moves that go on from one that has been expanded
    are for its own order.
    """
    if search.expanded[row]:
        for pile in range(rule.piles):
            if g.top[pile] != search.positions[row].top[pile]:
                return
    else:
        search.positions[row] = g
        legal(g, rule, True, search.masks[row])
    search.depths[row] = search.depths[parent] + 1
    search.parents[row] = parent
    search.moves[row] = move
    if search.turns[row] > 0:
        search.turns[row] = move


@jit
def is_progress(rule, move):
    """Whether a move deals, or brings a card from the waste or to a foundation."""
    return rule.source[move] in (WASTE, STOCK) or rule.target[move] == FOUNDATION


@jit
def expand(row, rule, free, until, most, count, search):
    """Add the successors of a position that have not been met.

    Args:
        row: of the position.
        free: the rule set with `spaces="optional"`, under which moves turn no cards.
        until: one of `UNTIL_HIDDEN`, `UNTIL_PROGRESS` and `UNTIL_END`.
        most: positions to hold at most.
        count: positions held.

    Returns:
        How many positions are held then; the new ones are those from row ``count`` on.
    """
    search.expanded[row] = True
    if search.depths[row] >= DEEPEST:
        return count
    dealt = search.positions[row].dealt
    for move in range(rule.actions):
        if (search.masks[row, move >> 3] >> np.uint64(8 * (move & 7))) & _ONE == 0:
            continue
        if until == UNTIL_HIDDEN and rule.source[move] == STOCK:
            continue
        if count == most:
            break
        search.positions[count] = search.positions[row]
        reached = search.positions[count]
        play(reached, rule, move)
        turned = until == UNTIL_HIDDEN and reached.dealt != dealt
        if turned:
            search.positions[count] = search.positions[row]
            play(reached, free, move)
        met = _met(search.table, search.number[0], position_key(reached, rule), count)
        if met != count:
            if search.depths[row] + 1 < search.depths[met]:
                _shorten(reached, rule, row, move, met, search)
            continue
        _note(rule, row, move, count, until, search)
        if turned or (until == UNTIL_PROGRESS and is_progress(rule, move)):
            search.turns[count] = move
        count += 1
    return count


@jit
def write_path(row, parents, moves, path):
    """Write the moves that lead to a position, first to last; returns how many there are.

    Args:
        row: of the position.
        parents: those of the search, and its ``moves``.
        path: integers, with room for `DEEPEST` + 1.
    """
    length = 0
    while row > 0:
        path[length] = moves[row]
        length += 1
        row = parents[row]
    for i in range(length // 2):
        path[i], path[length - 1 - i] = path[length - 1 - i], path[i]
    return length
