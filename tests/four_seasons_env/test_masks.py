"""Picking moves from mask words: against NumPy on the same bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import new_masks
from four_seasons_env.engine.masks import count_moves, nth_move
from four_seasons_env.rules import RULES


@jit
def _all_moves(words, moves):
    """Every legal move of a row, in order."""
    count = count_moves(words)
    for n in range(count):
        moves[n] = nth_move(words, np.uint64(n))
    return count


@pytest.mark.parametrize("rules", ["four-seasons", "pysolfc/simplicity"])
@given(data=st.data())
def test_moves_are_picked_in_order(rules, data):
    words, masks = new_masks(1, RULES[rules])
    actions = masks.shape[1]
    masks[0] = data.draw(st.lists(st.integers(0, 1), min_size=actions, max_size=actions))
    moves = np.full(actions, -1)
    count = _all_moves(words[0], moves)
    assert moves[:count].tolist() == np.flatnonzero(masks[0]).tolist()
