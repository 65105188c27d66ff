import numpy as np
import pytest
from hypothesis import given

from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, all_moves, find_move
from four_seasons_env.rules import RULES
from tests.helpers import rule_sets


def place_of(text: str) -> int:
    """The place that half of a move's text names."""
    if text.startswith("F:"):
        return FOUNDATION + "CSHD".index(text[2:])
    return {"W": WASTE, "F": FOUNDATION, "S": STOCK}.get(text) or int(text[1:])


@given(rule_sets())
def test_numbers_texts_and_places_agree(rules):
    moves = all_moves(rules)
    assert [move.number for move in moves] == list(range(len(moves)))
    assert len({str(move) for move in moves}) == len(moves)
    for move in moves:
        if str(move) == "deal":
            assert (move.source, move.target) == (STOCK, WASTE)
        elif str(move) == "redeal":
            assert (move.source, move.target) == (WASTE, STOCK)
        else:
            source, target = str(move).split(">")
            assert (move.source, move.target) == (place_of(source), place_of(target))
            assert source != target


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
