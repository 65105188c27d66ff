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
def test_numbers_texts_and_places_belong_together(rules):
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
def test_each_move_that_a_rule_set_can_have_is_there_once(rules):
    piles = [f"T{i}" for i in range(rules.piles)]
    expected = ["deal", "W>F"]
    expected += [f"{pile}>F" for pile in piles] + [f"W>{pile}" for pile in piles]
    expected += [f"{a}>{b}" for a in piles for b in piles if a != b]
    expected += ["redeal"] if rules.redeals else []
    if rules.limited_redeal:
        expected += ["S>F"] + [f"S>{pile}" for pile in piles]
    if rules.worrying_back:
        expected += [f"F:{suit}>{pile}" for suit in "CSHD" for pile in piles]
    assert [str(move) for move in all_moves(rules)] == expected


def test_five_piles_make_32_moves():
    assert len(all_moves(RULES["four-seasons"])) == 32


@given(rule_sets())
def test_a_move_is_found_by_move_text_and_number(rules):
    for move in all_moves(rules):
        for form in (move, str(move), int(move), np.int64(int(move)), np.array(int(move))):
            assert find_move(rules, form) is move


@pytest.mark.parametrize("wrong", ["T0>T0", "T0F", "", "redeal", "F:C>T0", "T5>F", "0", "W->T1"])
def test_unknown_text(wrong):
    with pytest.raises(ValueError, match=f"unknown move {wrong!r} in 'four-seasons'"):
        find_move(RULES["four-seasons"], wrong)


def test_unknown_text_gets_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'T1>T2'"):
        find_move(RULES["four-seasons"], "T1->T2")


@pytest.mark.parametrize("wrong", [-1, 32, 10**30, np.int64(-5)])
def test_number_out_of_range(wrong):
    with pytest.raises(ValueError, match="out of range: 'four-seasons' has moves 0 to 31"):
        find_move(RULES["four-seasons"], wrong)


@pytest.mark.parametrize("wrong", [1.0, np.float32(1), None, [1], (1,), np.array([1]), b"deal"])
def test_neither_text_nor_number(wrong):
    with pytest.raises(TypeError):
        find_move(RULES["four-seasons"], wrong)


def test_a_move_of_another_action_space_is_not_taken_for_another():
    """`T0>T2` has another number among twelve piles than among five."""
    foreign = find_move(RULES["simplicity"], "T0>T2")
    assert str(find_move(RULES["four-seasons"], str(foreign))) == "T0>T2"
    try:
        found = find_move(RULES["four-seasons"], foreign)
    except ValueError:
        return
    assert str(found) == str(foreign)
