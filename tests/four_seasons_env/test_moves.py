import numpy as np
import pytest
from hypothesis import given

from four_seasons_env.engine.moves import all_moves, find_move
from four_seasons_env.rules import RULES
from tests.helpers import rule_sets


@given(rule_sets())
def test_find_move(rules):
    for move in all_moves(rules):
        for form in (move, str(move), int(move), np.int64(int(move)), np.array(int(move))):
            assert find_move(rules, form) is move


@pytest.mark.parametrize(
    ("written", "text"),
    [("w > f", "W>F"), (" Deal ", "deal"), ("f:♥ > t3", "F:H>T3")],
)
def test_moves_as_people_write_them(written, text):
    assert str(find_move(RULES["pysolfc/simplicity"], written)) == text
