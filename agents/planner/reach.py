"""The positions that can be reached before the next card is turned, best first.

A position is opened, its successors valued, and the most promising that is not open yet comes next,
until all are open or a limit is reached. Half of the time there are no more than a dozen; with many
spaces there are thousands. Once nothing is hidden, the same search looks for a win, by a score that
counts what is still in the way. Moves have a price, and a position that is met again by a shorter
way is reached by that one from then on: games have a limit of moves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.planner.network import value_of
from agents.worlds import is_open
from four_seasons_env.cards import NO_CARD
from four_seasons_env.compiled import jit
from four_seasons_env.kernel import (
    GAME,
    is_won,
    legal,
    new_masks,
    play,
    relative_rank,
    stock_size,
)
from four_seasons_env.moves import STOCK, WASTE
from four_seasons_env.rules import Rules

WON = np.float32(1e9)
"""The value of a position that is won."""

_PRICE = np.float32(0.0002)
"""Of a move, in value; a score of `_open_score` is some hundred times as coarse."""

_SLOTS = 1 << 15  # of the table of positions met; far more than a search may hold
_SLOT = np.uint64(_SLOTS - 1)
_HASHES = np.random.default_rng(52).integers(0, 2**63, (53, 53), dtype=np.uint64)
_LEVELS = np.random.default_rng(4).integers(0, 2**63, (4, 14), dtype=np.uint64)
_ONE = np.uint64(1)


class Search(NamedTuple):
    """Buffers of a search, and what it has found: one row a position."""

    positions: NDArray[Any]  # GAME (size,)
    values: NDArray[np.float32]  # (size,)
    worths: NDArray[np.float32]  # (size,) value less the price of the moves that lead there
    depths: NDArray[np.int64]  # (size,) how many these are
    parents: NDArray[np.int64]  # (size,) the position that it was reached from, -1 for the first
    moves: NDArray[np.int64]  # (size,) by this move
    opened: NDArray[np.bool_]  # (size,) whether it has been played on from
    turns: NDArray[np.int64]  # (size,) the move that then turns a hidden card, or NOT_YET
    masks: NDArray[np.uint64]  # (size, words) legal moves
    heap: NDArray[np.int64]  # (size,) positions to be opened
    table: NDArray[np.uint64]  # (slots, 3) hash of a position, the search that met it, its number
    number: NDArray[np.uint64]  # (1,) of the search


NOT_YET = -1
"""In `Search.turns`: no hidden card may be turned here."""


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
def _hash(g, rule):
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
def _met(table, search, key, number):
    """The number under which this search has met a position; if it has not, it has under this."""
    i = key & _SLOT
    while table[i, 1] == search:
        if table[i, 0] == key:
            return np.int64(table[i, 2])
        i = (i + _ONE) & _SLOT
    table[i, 0] = key
    table[i, 1] = search
    table[i, 2] = np.uint64(number)
    return number


@jit
def _push(heap, size, values, item):
    """Add an item to a heap of so many, the highest value first; returns how many there are."""
    at = size
    heap[at] = item
    while at > 0 and values[heap[(at - 1) >> 1]] < values[item]:
        heap[at] = heap[(at - 1) >> 1]
        at = (at - 1) >> 1
    heap[at] = item
    return size + 1


@jit
def _pop(heap, size, values):
    """Take the item of the highest value from a heap; returns it and how many are left."""
    first, last = heap[0], heap[size - 1]
    size -= 1
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and values[heap[child + 1]] > values[heap[child]]:
            child += 1
        if values[last] >= values[heap[child]]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first, size


@jit
def _open_score(g, rule):
    """How near an open position is to a win: more is nearer."""
    score = np.float32(g.cards_up) - np.float32(stock_size(g))
    for place in range(rule.piles + 1):
        is_waste = place == rule.piles
        card = g.top[WASTE if is_waste else place]
        if card != NO_CARD and not is_waste:
            score -= np.float32(1)
        above = 0
        while card != NO_CARD:
            rank = relative_rank(g, rule, card)
            wait = rank - g.level[card & 3]
            if wait == 0:
                score -= np.float32(0.3) * above
            host = g.below[card]
            if host != NO_CARD:
                step = rank - relative_rank(g, rule, host)
                if is_waste:
                    score -= np.float32(0.5) * (step != 1 and step != 1 - rule.ranks)
                elif step > g.level[card & 3] - np.int64(g.level[host & 3]):
                    score -= np.float32(0.3)
            if is_waste:
                score -= np.float32(1)
            card = host
            above += 1
    return score


@jit
def _add(g, rule, parent, move, count, open_now, network, work, search):
    """Value the position in row ``count`` of a search, and find what turns a hidden card there."""
    search.depths[count] = search.depths[parent] + 1 if parent >= 0 else 0
    search.parents[count] = parent
    search.moves[count] = move
    search.opened[count] = False
    goes_on = legal(g, rule, True, search.masks[count])
    if is_won(g, rule):
        search.values[count] = WON
    elif open_now:
        search.values[count] = _open_score(g, rule)
    else:
        search.values[count] = value_of(g, rule, network, work)
    price = _PRICE * np.float32(100 if open_now else 1)
    search.worths[count] = search.values[count] - price * np.float32(search.depths[count])
    may_deal = goes_on and not open_now and search.masks[count, 0] & _ONE != 0
    search.turns[count] = 0 if may_deal else NOT_YET


@jit
def _shorten(g, rule, parent, move, number, search):
    """Reach a position that has been met by a shorter way, at the end of which it is ``g``.

    Its piles may stand in another order there. The moves that go on from one that has been opened
    are for its own order.
    """
    if search.opened[number]:
        for pile in range(rule.piles):
            if g.top[pile] != search.positions[number].top[pile]:
                return
    else:
        search.positions[number] = g
        legal(g, rule, True, search.masks[number])
    search.depths[number] = search.depths[parent] + 1
    search.parents[number] = parent
    search.moves[number] = move
    if search.turns[number] > 0:
        search.turns[number] = move


@jit
def reach(g, rule, free, network, work, search, most, openings):
    """Search what can be reached from a position before a hidden card is turned.

    Where a move turns a card by itself, as filling a space from the stock does, what counts is the
    position just before that card is seen.

    Args:
        free: the rule set with `spaces="optional"`, under which moves turn no cards.
        network: values positions about to turn a card; where nothing is hidden a score does.
        most: positions to hold at most.
        openings: positions to open at most.

    Returns:
        The number of the position to decide for, and how many there are. Position 0 is ``g``.
    """
    search.number[0] += _ONE
    this = search.number[0]
    open_now = is_open(g, rule)
    search.positions[0] = g
    _add(g, rule, -1, -1, 0, open_now, network, work, search)
    _met(search.table, this, _hash(g, rule), 0)
    best = 0
    count = 1
    waiting = _push(search.heap, 0, search.worths, 0)
    while openings > 0 and waiting > 0:
        opened, waiting = _pop(search.heap, waiting, search.worths)
        search.opened[opened] = True
        openings -= 1
        for move in range(rule.actions):
            if (search.masks[opened, move >> 3] >> np.uint64(8 * (move & 7))) & _ONE == 0:
                continue
            if rule.source[move] == STOCK and not open_now:
                continue
            if count == most:
                return best, count
            search.positions[count] = search.positions[opened]
            reached = search.positions[count]
            play(reached, rule, move)
            turned = not open_now and reached.dealt != g.dealt
            if turned:
                search.positions[count] = search.positions[opened]
                play(reached, free, move)
            number = _met(search.table, this, _hash(reached, rule), count)
            if number != count:
                if search.depths[opened] + 1 < search.depths[number]:
                    _shorten(reached, rule, opened, move, number, search)
                continue
            _add(reached, rule, opened, move, count, open_now, network, work, search)
            if search.values[count] == WON:
                return count, count + 1
            if turned:
                search.turns[count] = move
            else:
                waiting = _push(search.heap, waiting, search.worths, count)
            decides = open_now or search.turns[count] != NOT_YET
            was = open_now or search.turns[best] != NOT_YET
            if decides and (not was or search.worths[count] > search.worths[best]):
                best = count
            count += 1
    return best, count


@jit
def turn(search, chosen, rule, game):
    """Play a decision in a GAME array of one, up to and with the move that turns a hidden card."""
    move = search.turns[chosen]
    game[0] = search.positions[search.parents[chosen] if move > 0 else chosen]
    play(game[0], rule, move)
