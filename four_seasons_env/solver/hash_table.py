"""Hash tables of the compiled searches: open addressing in plain arrays, 0 for an empty slot."""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.deals import mix
from four_seasons_env.engine.jit import jit

TALLY = np.dtype([("key", "u8"), ("count", "u8")])
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
def is_new(table, key):
    """Enter a key (not 0) into a table that is not full; False if it was there.

    The size of the table is a power of two.
    """
    at = find(table, key)
    if table[at] == key:
        return False
    table[at] = key
    return True


@jit
def rehash(table, larger):
    """Enter all keys of a table into a larger, empty one."""
    for key in table:
        if key != _ZERO:
            is_new(larger, key)


@jit
def tally(table, key, by):
    """Add to the count of a key (not 0) in a TALLY table that is not full, and return the count."""
    last = np.uint64(len(table) - 1)
    at = key & last
    while table[at].key != _ZERO and table[at].key != key:
        at = (at + _ONE) & last
    table[at].key = key
    table[at].count += by
    return table[at].count


@jit
def retally(table, larger):
    """Enter all counts of a TALLY table into a larger, empty one."""
    for i in range(len(table)):
        if table[i].key != _ZERO:
            tally(larger, table[i].key, table[i].count)
