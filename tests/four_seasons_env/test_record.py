"""Fields of the GAME record: each has a reset, a check, and a decision on equality."""

import numpy as np
import pytest

from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.hashing import public_key
from four_seasons_env.engine.kernel import GAME, compile_rules, start_all
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from tests.four_seasons_env.test_validation import WRONG

FIELDS = GAME.names or ()

UNLIMITED = {"moves"}
"""Fields of which any value is valid."""

IN_KEYS = {
    "deal": False,  # games of two deals may look alike
    "deck": False,  # hidden; the seen part of it is in `top` and `below`
    "below": True,
    "top": True,
    "height": False,  # follows from `top` and `below`
    "level": True,
    "base": True,
    "dealt": True,
    "deck_size": True,
    "redeals": True,
    "cards_up": False,  # follows from `level`
    "moves": False,  # however long the way, the position is the same
}
"""Whether `public_key` tells positions apart that differ in a field."""


@pytest.mark.parametrize("field", FIELDS)
def test_an_opening_leaves_nothing_of_the_game_before(field: str) -> None:
    games = np.frombuffer(bytearray(b"\xff" * GAME.itemsize), GAME)
    start_all(games, compile_rules(RULES["four-seasons"]), np.array([17]))
    assert np.array_equal(games[field], Game(deal=17).record[field])


def test_wrong_values_of_each_field_are_refused() -> None:
    assert {field for _, changes in WRONG for field, _, _ in changes} == {*FIELDS} - UNLIMITED


@pytest.mark.parametrize("field", FIELDS)
def test_each_field_has_a_decision_on_equality(field: str) -> None:
    rule = compile_rules(RULES["pysolfc/four-seasons"])[0]
    record = Game("pysolfc/four-seasons", deal=17).record
    other = record.copy()
    place = (0,) * (1 + len(GAME[field].shape))
    if field == "below":  # a card that lies on none
        other[field][0, record["top"][0, 0]] = record["top"][0, 1]
    elif field == "top":
        other[field][place] = NO_CARD
    else:
        other[field][place] = record[field][place] ^ 1
    keys = [public_key(each[0], rule) for each in (record, other)]
    assert (keys[0] != keys[1]) == IN_KEYS[field]
