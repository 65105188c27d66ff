"""The hash table of the compiled searches: open addressing in plain arrays.

A table is a uint64 array of keys, whose length is a power of two and in which 0 marks an empty
slot. Searches that store something with a key use a second array of the same length.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.deals import mix
from four_seasons_env.engine.jit import jit

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
