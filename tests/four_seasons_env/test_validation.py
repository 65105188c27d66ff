"""Records from outside: what is no position is refused by name; every position of play passes."""

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
from four_seasons_env.games import Games
from four_seasons_env.rules import RULES, Rules
from tests.helpers import deck_with, mostly_slow, positions


@given(positions())
def test_positions_pass(game):
    check_games(game.record.copy(), game.rules)


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_positions_of_each_row_pass(name):
    rng = np.random.default_rng(0)
    games = Games(name, 200)
    for _ in range(150):
        check_games(games.records, RULES[name])
        masks = games.action_masks()
        moves = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        games.play(np.where(masks.any(axis=1), moves, -1))


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
    ([("deal", 0, -2)], "deal is -2"),
    ([("redeals", 0, 1)], "redeals is 1, where the rules have 0"),
    ([("deck_size", 0, 51)], "deck_size is 51: the deck has 52 cards"),
    ([("dealt", 0, 60)], "dealt is 60, of a deck of 52"),
    ([("deck", (0, 3), 52)], "deck[3] is 52, where a card of 13 ranks is 0 to 51"),
    ([("deck", (0, 3), card_code("8H"))], "deck has 8H twice"),
    ([("base", (0, 2), 13)], "base[2] is 13"),
    ([("base", (0, 2), 5)], "base[2] is 5, which these rules do not allow with [1, 1, 5, 1]"),
    ([("level", (0, 1), 14)], "level[1] is 14, of 13 ranks"),
    ([("cards_up", 0, 3)], "cards_up is 3, and the foundations hold [1, 1, 0, 0]"),
    ([("top", (0, 7), 30)], "top[7] is 30: there are 5 piles"),
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
    ([("height", (0, 4), 2)], "height[4] is 2, which is not how many cards the chain of pile 4"),
    ([("height", (0, 9), 1)], "height[9] is 1"),
    ([("top", (0, 4), NO_CARD), ("height", (0, 4), 0)], "6H is nowhere"),
    ([("dealt", 0, 10)], "AC is nowhere"),
    ([("below", at("2C"), 3)], "below[4] is 3, though 2C lies in no pile"),
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
    assert str(error.value).startswith("record is no position of 'four-seasons': ")
    assert message in str(error.value)


def test_each_fault_is_tried():
    rule = compile_rules(RULES["four-seasons"])
    found = {int(first_fault(spoiled(changes), rule)[1]) for changes, _ in WRONG}
    elsewhere = {text for text in _TEXTS if "beyond the" in text or "is a space although" in text}
    assert {_TEXTS[fault] for fault in found} == set(_TEXTS) - elsewhere - {""}


def test_faults_of_some_rules():
    record = some_game().record.copy()
    for name in ("kings-in-the-corner", "czarina"):
        with pytest.raises(InvalidGame) as error:
            Game.from_record(record, name)
        assert {"kings-in-the-corner": "base[0] is 1", "czarina": "pile 2 is a space"}[name] in str(
            error.value
        )
    cut = some_game(Rules(redeals=1)).record.copy()
    cut["deck_size"] = 51
    with pytest.raises(InvalidGame, match="deck_size is 51: the deck has 52 cards, and fewer only"):
        Game.from_record(cut, Rules(redeals=1))
    cut["redeals"] = 0
    with pytest.raises(InvalidGame, match=r"deck\[51\] is 51, beyond the 51 cards of the deck"):
        Game.from_record(cut, Rules(redeals=1))


def test_error_names_the_record():
    records = some_game().record.repeat(3)
    records["moves"][1] = 2**32 - 1  # any number is valid
    records["cards_up"][2] = 9
    with pytest.raises(InvalidGame, match="record 2 is no position of 'four-seasons': cards_up is"):
        check_games(records, RULES["four-seasons"])


# --- bytes --------------------------------------------------------------------------------------


def test_bytes_name_their_rules():
    own = Rules(piles=2, ranks=6)
    data = Game(own, deal=17).to_bytes()
    assert data.startswith(MAGIC + VERSION.to_bytes(4, "little") + own.digest)
    assert Game.from_bytes(data, own.replace(name="another name")).deal == 17
    with pytest.raises(InvalidGame, match=f"of the rules of digest {own.digest.hex()}, not 'cza"):
        Game.from_bytes(data, "czarina")
    with pytest.raises(InvalidGame, match="the game is of the rules 'four-seasons', not 'czarina'"):
        Game.from_bytes(Game().to_bytes(), "czarina")


@pytest.mark.parametrize(
    ("at", "value", "message"),
    [
        (0, 1, "a game begins with b'4SEA'"),
        (4, 2, "the game has version 2 of the format; expected 1"),
        (8, 1, "the game is of the rules of digest 01"),
        (16 + 147, 9, "dealt is 6, of a deck of 9|deck_size is 9"),
    ],
)
def test_wrong_bytes(at, value, message):
    data = bytearray(Game(deal=17).to_bytes())
    data[at] = value
    with pytest.raises(InvalidGame, match=message):
        Game.from_bytes(bytes(data))
