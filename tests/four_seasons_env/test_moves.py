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
    ("wrong", "error", "message"),
    [
        ("T1->T2", ValueError, "did you mean 'T1>T2'"),
        ("redeal", ValueError, "unknown move 'redeal' in 'four-seasons'"),
        ("0", ValueError, "unknown move '0'"),
        (-1, ValueError, "a move's number must be 0 to 31, not -1"),
        (10**30, ValueError, "must be 0 to 31"),
        (1.0, TypeError, "a move must be a Move, its text or its number, not 1.0"),
        (np.array([1]), TypeError, "1"),
    ],
)
def test_unknown_moves(wrong, error, message):
    with pytest.raises(error, match=message):
        find_move(RULES["four-seasons"], wrong)
