"""The containers of the compiled searches, in plain arrays: hash table, heap, short sorted list.

A hash table is a uint64 array of keys, whose length is a power of two and in which 0 marks an empty
slot (open addressing). Searches that store something with a key use a second array of the same
length, or a record with the key. A table must never be full: its owner limits or counts what it
enters. A search that keeps its positions in rows finds them by their hashes in a `Transpositions`.
Nothing here is checked, because only compiled searches call it.

The heap and the sorted list hold indices into an array of worths; the item with the highest worth
comes first. Item 7 with worth 0.5, item 2 with 0.9 and item 4 with 0.1:

    heap    2 7 4      the parent of the item at index i is at (i - 1) / 2
    pop     2, and 7 4 is left
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import ONE, ZERO
from four_seasons_env.engine.deals import mix
from four_seasons_env.engine.jit import internal, jit


@jit
def find(keys, key):
    """The slot of a key (not 0) in a table that is not full, or the slot where it belongs."""
    # Linear probing: from the key's own slot on, to the key or to the first empty slot.
    last = np.uint64(len(keys) - 1)
    at = mix(key) & last
    while keys[at] != ZERO and keys[at] != key:
        at = (at + ONE) & last
    return at


@jit
def move_keys(keys, values, more_keys, more_values):
    """Enter keys and their values into a larger table."""
    for at in range(len(keys)):
        if keys[at] != ZERO:
            to = find(more_keys, keys[at])
            more_keys[to] = keys[at]
            more_values[to] = values[at]


class Transpositions(NamedTuple):
    """A transposition table: the rows of the positions that a search has reached, by their hashes.

    It is emptied row by row (`remove_rows`), which takes less time than clearing all slots.
    """

    keys: NDArray[np.uint64]  # (slots,)
    rows: NDArray[np.int64]  # (slots,) the row of the position with this key
    slots: NDArray[np.int64]  # (rows,) the slot of the position in this row


def new_transpositions(rows: int, slots: int) -> Transpositions:
    """An empty table; ``slots`` is a power of two and at least twice the rows."""
    keys = np.zeros(slots, np.uint64)
    return Transpositions(keys, np.zeros(slots, np.int64), np.zeros(rows, np.int64))


@internal
def find_or_add(key, row, table):
    """The row of the position with a key; a position that is new is entered at ``row``."""
    key = max(key, ONE)  # 0 marks an empty slot
    at = find(table.keys, key)
    if table.keys[at] == ZERO:
        table.keys[at] = key
        table.rows[at] = row
        table.slots[row] = at
    return table.rows[at]


@internal
def remove_rows(first, last, table):
    """Empty the table of the rows from first to last - 1, which must be all that it holds."""
    for row in range(first, last):
        table.keys[table.slots[row]] = ZERO


@internal
def push(heap, size, worths, item):
    """Add an item to a heap that holds ``size`` items."""
    # From the free place at the end up: parents with a lower worth move down.
    at = size
    while at > 0:
        parent = (at - 1) >> 1
        if worths[heap[parent]] >= worths[item]:
            break
        heap[at] = heap[parent]
        at = parent
    heap[at] = item


@internal
def pop(heap, size, worths):
    """Remove the first item from a heap that holds ``size`` items, and return it."""
    size -= 1
    first, last = heap[0], heap[size]
    # The last item goes to the top, and down until both children have a lower worth.
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and worths[heap[child + 1]] > worths[heap[child]]:
            child += 1
        if worths[last] >= worths[heap[child]]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first


@internal
def keep_best(chosen, count, room, worths, item):
    """Insert an item into a list of the best, after items of equal worth (insertion sort).

    Args:
        chosen: integers with room for ``room``, the best first; ``count`` of them are in use.

    Returns:
        How many are in use now. A full list drops its last item.
    """
    if count == room and worths[item] <= worths[chosen[room - 1]]:
        return count
    at = min(count, room - 1)
    while at > 0 and worths[chosen[at - 1]] < worths[item]:
        chosen[at] = chosen[at - 1]
        at -= 1
    chosen[at] = item
    return min(count + 1, room)
