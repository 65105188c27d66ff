"""The hash table of the compiled searches: open addressing in plain arrays.

A table is a uint64 array of keys, whose length is a power of two and in which 0 marks an empty
slot. Searches that store something with a key use a second array of the same length, or a record
with the key. A table must never be full: its owner limits or counts what it enters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import mix
from four_seasons_env.engine.jit import internal, jit

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@jit
def find(keys, key):
    """The slot of a key (not 0) in a table that is not full, or the slot where it belongs."""
    last = np.uint64(len(keys) - 1)
    at = mix(key) & last
    while keys[at] != _ZERO and keys[at] != key:
        at = (at + _ONE) & last
    return at


@jit
def move_keys(keys, values, more_keys, more_values):
    """Enter keys and their values into a larger table."""
    for at in range(len(keys)):
        if keys[at] != _ZERO:
            to = find(more_keys, keys[at])
            more_keys[to] = keys[at]
            more_values[to] = values[at]


class Met(NamedTuple):
    """A table of the positions that a search has met, by their rows; it is emptied row by row."""

    keys: NDArray[np.uint64]  # (slots,)
    rows: NDArray[np.int64]  # (slots,) the row of the position with this key
    slots: NDArray[np.int64]  # (rows,) the slot of the position in this row


def new_met(rows: int, slots: int) -> Met:
    """An empty table; ``slots`` is a power of two and at least twice the rows."""
    return Met(np.zeros(slots, np.uint64), np.zeros(slots, np.int64), np.zeros(rows, np.int64))


@internal
def meet(key, row, met):
    """The row of the position with a key; a position that is new is entered at ``row``."""
    key = max(key, _ONE)
    at = find(met.keys, key)
    if met.keys[at] == _ZERO:
        met.keys[at] = key
        met.rows[at] = row
        met.slots[row] = at
    return met.rows[at]


@internal
def forget(first, last, met):
    """Empty the table of the rows from first to last - 1, which must be all that it holds."""
    for row in range(first, last):
        met.keys[met.slots[row]] = _ZERO
