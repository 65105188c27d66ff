"""The table of the compiled searches, and the larger one that it moves to."""

from collections import Counter

import numpy as np

from four_seasons_env.engine.containers import find, move_keys
from four_seasons_env.engine.jit import jit


@jit
def count(keys, counts, entered, new):
    for i in range(len(entered)):
        at = find(keys, entered[i])
        new[i] = keys[at] == np.uint64(0)
        keys[at] = entered[i]
        counts[at] += 1


def test_a_table_that_grows_keeps_its_entries() -> None:
    entered = np.random.default_rng(0).integers(1, 26, 60).astype(np.uint64)
    keys, counts = np.zeros(32, np.uint64), np.zeros(32, np.int32)
    new = np.zeros(len(entered), np.bool_)
    count(keys, counts, entered, new)
    seen = Counter(entered.tolist())
    assert new.sum() == len(seen)
    larger = np.zeros(64, np.uint64), np.zeros(64, np.int32)
    move_keys(keys, counts, *larger)
    for table, values in ((keys, counts), larger):
        assert dict(zip(table[table > 0].tolist(), values[table > 0].tolist(), strict=True)) == seen
