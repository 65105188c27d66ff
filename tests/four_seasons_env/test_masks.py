"""Picking moves from mask words: against NumPy on the same bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import new_masks
from four_seasons_env.engine.masks import count_moves, draw_moves, nth_move
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.rules import RULES


@jit
def _all_moves(words, moves):
    """Every legal move of a row, in order."""
    count = count_moves(words)
    for n in range(count):
        moves[n] = nth_move(words, np.uint64(n))
    return count


@pytest.mark.parametrize("rules", ["four-seasons", "simplicity", "pysolfc/simplicity"])
@given(data=st.data())
def test_moves_are_picked_in_order(rules, data):
    words, masks = new_masks(1, RULES[rules])
    actions = masks.shape[1]
    masks[0] = data.draw(st.lists(st.integers(0, 1), min_size=actions, max_size=actions))
    moves = np.full(actions, -1)
    count = _all_moves(words[0], moves)
    assert moves[:count].tolist() == np.flatnonzero(masks[0]).tolist()


@pytest.mark.parametrize("rules", RULES.values(), ids=lambda rules: rules.name)
def test_a_word_has_eight_moves_and_no_word_is_spare(rules):
    words, masks = new_masks(3, rules)
    actions = len(all_moves(rules))
    assert masks.shape == (3, actions)
    assert 8 * (words.shape[1] - 1) < actions <= 8 * words.shape[1]
    masks[1] = 1
    assert [int(np.count_nonzero(row.view(np.int8))) for row in words] == [0, actions, 0]


def test_every_legal_move_is_drawn_as_often():
    words, masks = new_masks(60_000, RULES["four-seasons"])
    legal = [0, 3, 7, 8, 15, 16, 31]
    masks[:, legal] = 1
    moves = np.zeros(len(masks), np.int64)
    draw_moves(words, np.array([5], np.uint64), moves)
    assert set(moves.tolist()) == set(legal)
    drawn = np.bincount(moves, minlength=32)[legal]
    assert stats.chisquare(drawn).pvalue > 0.001
