"""Records from outside: invalid positions are refused by name; every position of play passes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from four_seasons_env.engine.deals import NO_CARD, card_code
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.engine.validation import (
    _TEXTS,
    MAGIC,
    VERSION,
    InvalidGame,
    check_games,
    first_fault,
)
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, Rules
from tests.helpers import REPRESENTATIVES, deck_with, positions, random_games


@given(positions())
def test_positions_pass(game):
    check_games(game.record.copy(), game.rules)


@pytest.mark.parametrize("name", [*REPRESENTATIVES, "four-seasons-1883"])
def test_positions_of_whole_games_pass(name):
    for games in random_games(RULES[name], 200, 150):
        check_games(games.records, RULES[name])


# --- what is refused ----------------------------------------------------------------------------

#       4S 3H              [2C] [2S]     T2, in the middle, is a space
#   8H    -   5S           waste: 9C TD
#        6H


def some_game(rules: Rules = RULES["four-seasons"]) -> Game:
    game = Game(rules, deck=deck_with("4S 8H 2C 5S 6H 2S 3H 9C TD"))
    for move in ("deal", "W>T0", "T2>F", "deal", "deal"):
        game.play(move)
    return game


def at(text: str) -> tuple[int, int]:
    """Where a card has its place in `below`."""
    return 0, card_code(text)


WRONG = [
    ([("deal", 0, -2)], "deal must be 0 or more, or -1 for a custom deck, not -2"),
    ([("redeals", 0, 1)], "redeals must be 0 to 0, not 1"),
    ([("deck_size", 0, 51)], "deck_size must be 52, or less after a redeal, not 51"),
    ([("dealt", 0, 60)], "dealt must be 0 to 52, not 60"),
    ([("deck", (0, 3), 52)], "deck[3] must be a card, 0 to 51, not 52"),
    ([("deck", (0, 3), card_code("8H"))], "deck has 8H twice"),
    ([("base", (0, 2), 13)], "base[2] must be a rank that the rules allow, not 13"),
    (
        [("base", (0, 2), 5)],
        "base[2] must be a rank that the rules allow, not 5, in [1, 1, 5, 1]",
    ),
    ([("level", (0, 1), 14)], "level[1] must be 0 to 13, not 14"),
    ([("cards_up", 0, 3)], "cards_up must be the sum of [1, 1, 0, 0], not 3"),
    ([("top", (0, 7), 30)], "top[7] must be 52, no card, where there are 5 piles, not 30"),
    ([("top", (0, 1), 53)], "the chain of pile 1 leads to a card that does not exist"),
    ([("below", at("9C"), 77)], "the chain of the waste leads to a card that does not exist"),
    ([("top", (0, 2), card_code("4S"))], "4S is in two places, or twice in one"),
    ([("top", (0, 2), card_code("2C"))], "2C is in two places, or twice in one"),
    ([("below", at("TD"), card_code("TD"))], "TD is in two places, or twice in one"),
    ([("dealt", 0, 8)], "TD is in two places, or twice in one"),
    ([("below", at("3H"), card_code("8H"))], "3H does not go on the card that it lies on"),
    (
        [
            ("top", (0, WASTE), card_code("9C")),
            ("below", at("9C"), card_code("TD")),
            ("below", at("TD"), NO_CARD),
        ],
        "the waste does not lie as the deck was dealt: see 9C",
    ),
    (
        [("height", (0, 4), 2)],
        "height[4] must be the length of the chain of pile 4, not 2",
    ),
    (
        [("height", (0, 9), 1)],
        "height[9] must be the length of the chain of pile 9, not 1",
    ),
    ([("top", (0, 4), NO_CARD), ("height", (0, 4), 0)], "6H is nowhere"),
    ([("dealt", 0, 10)], "AC is nowhere"),
    ([("below", at("2C"), 3)], "below[4] must be 52, no card, because 2C lies in no pile, not 3"),
]


def spoiled(changes: list[tuple[str, Any, int]]) -> np.ndarray:
    record = some_game().record.copy()
    for field, where, value in changes:
        record[field][where] = value
    return record


@pytest.mark.parametrize(("changes", "message"), WRONG)
def test_error_names_the_fault(changes, message):
    with pytest.raises(InvalidGame) as error:
        Game.from_record(spoiled(changes))
    assert str(error.value).startswith("record is not a valid position of 'four-seasons': ")
    assert message in str(error.value)


def test_each_fault_is_tried():
    rule = compile_rules(RULES["four-seasons"])
    found = {int(first_fault(spoiled(changes), rule)[1]) for changes, _ in WRONG}
    elsewhere = {
        text for text in _TEXTS if "cards of the deck" in text or "is a space although" in text
    }
    assert {_TEXTS[fault] for fault in found} == set(_TEXTS) - elsewhere - {""}


def test_faults_of_some_rules():
    record = some_game().record.copy()
    for name in ("kings-in-the-corner", "czarina"):
        with pytest.raises(InvalidGame) as error:
            Game.from_record(record, name)
        assert {"kings-in-the-corner": "base[0] must be", "czarina": "pile 2 is a space"}[
            name
        ] in str(error.value)
    cut = some_game(Rules(redeals=1)).record.copy()
    cut["deck_size"] = 51
    with pytest.raises(InvalidGame, match="deck_size must be 52, or less after a redeal, not 51"):
        Game.from_record(cut, Rules(redeals=1))
    cut["redeals"] = 0
    with pytest.raises(InvalidGame, match=r"deck\[51\] must be 52, no card, after the 51 cards of"):
        Game.from_record(cut, Rules(redeals=1))


def test_error_names_the_record():
    records = some_game().record.repeat(3)
    records["moves"][1] = 2**32 - 1  # any number is valid
    records["cards_up"][2] = 9
    with pytest.raises(InvalidGame, match=r"record 2 is not a valid .*: cards_up must be"):
        check_games(records, RULES["four-seasons"])


# --- bytes --------------------------------------------------------------------------------------


def test_bytes_name_their_rules():
    own = Rules(piles=2, ranks=6)
    data = Game(own, deal=17).to_bytes()
    assert data.startswith(MAGIC + VERSION.to_bytes(4, "little") + own.digest)
    assert Game.from_bytes(data, own.replace(name="another name")).deal == 17
    with pytest.raises(InvalidGame, match=f"to rules of digest {own.digest.hex()}, not to 'cza"):
        Game.from_bytes(data, "czarina")
    with pytest.raises(InvalidGame, match="to 'four-seasons', not to 'czarina': pass rules='four"):
        Game.from_bytes(Game().to_bytes(), "czarina")


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 1, "a game must begin with b'4SEA'"),
        (4, 2, "the format's version must be 1, not 2"),
        (8, 1, "the game belongs to rules of digest 01"),
        (16 + 147, 9, "dealt must be|deck_size must be"),
    ],
)
def test_wrong_bytes(at, value, message):
    data = bytearray(Game(deal=17).to_bytes())
    data[at] = value
    with pytest.raises(InvalidGame, match=message):
        Game.from_bytes(bytes(data))
