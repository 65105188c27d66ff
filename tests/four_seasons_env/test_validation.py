"""Records from outside: invalid positions are refused by name; every position of play passes."""

import contextlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import NO_CARD, card_code
from four_seasons_env.engine.kernel import GAME
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.engine.validation import InvalidGame, check_games
from four_seasons_env.game import Game
from four_seasons_env.games import Games
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rules import RULES, Rules
from tests.helpers import (
    REPRESENTATIVES,
    deck_with,
    later,
    mostly_slow,
    played_on,
    positions,
    random_moves,
)


@given(positions())
def test_positions_pass(game):
    check_games(game.record.copy(), game.rules)


# --- what is refused ----------------------------------------------------------------------------

#       4S 3H              [2C] [2S]     T2, in the middle, is a space
#   8H    -   5S           waste: 9C TD
#        6H


def some_game(rules: Rules = RULES["four-seasons"]) -> Game:
    game = Game(rules, deck=deck_with("4S 8H 2C 5S 6H 2S 3H 9C TD"))
    return later(game, ("deal", "W>T0", "T2>F", "deal", "deal"))


def at(text: str) -> tuple[int, int]:
    """Where a card has its place in `below`."""
    return 0, card_code(text)


# On the 6 of hearts, which takes only a 5.
PACKED = [("below", at("8H"), card_code("6H")), ("top", (0, 4), card_code("8H"))]
PACKED += [("height", (0, 4), 2), ("top", (0, 1), NO_CARD), ("height", (0, 1), 0)]
UPSIDE_DOWN = [("below", at("9C"), card_code("TD")), ("below", at("TD"), NO_CARD)]
NUMBERS, DECK = "deal, redeals, deck_size and dealt", "deck must"
BASE, PILES = "base and level", "top, below and height"
WRONG: list[tuple[str, list[tuple[str, Any, int]]]] = [
    (NUMBERS, [("deal", 0, -2)]),
    (NUMBERS, [("redeals", 0, 1)]),
    (NUMBERS, [("deck_size", 0, 51)]),
    (NUMBERS, [("dealt", 0, 60)]),
    (DECK, [("deck", (0, 3), 52)]),
    (DECK, [("deck", (0, 3), 53)]),
    (DECK, [("deck", (0, 3), card_code("8H"))]),
    (BASE, [("base", (0, 2), 13)]),
    (BASE, [("base", (0, 2), 5)]),
    (BASE, [("level", (0, 1), 14)]),
    (BASE, [("cards_up", 0, 3)]),
    (PILES, [("top", (0, 7), 30)]),
    (PILES, [("top", (0, 1), 53)]),
    (PILES, [("below", at("9C"), 77)]),
    (PILES, [("top", (0, 2), card_code("4S"))]),
    (PILES, [("top", (0, 2), card_code("2C"))]),
    (PILES, [("below", at("TD"), card_code("TD"))]),
    (PILES, [("dealt", 0, 8)]),
    (PILES, [("below", at("3H"), card_code("8H"))]),
    (PILES, [("top", (0, WASTE), card_code("9C")), *UPSIDE_DOWN]),
    (PILES, [("height", (0, 4), 2)]),
    (PILES, [("top", (0, 4), NO_CARD), ("height", (0, 4), 0)]),
    (PILES, [("dealt", 0, 10)]),
    (PILES, [("below", at("2C"), 3)]),
    (PILES, PACKED),
]


@pytest.mark.parametrize(("message", "changes"), WRONG)
def test_error_names_the_fault(message, changes):
    record = some_game().record.copy()
    for field, where, value in changes:
        record[field][where] = value
    with pytest.raises(InvalidGame) as error:
        Game.from_record(record)
    assert str(error.value).startswith("record is not a valid position of 'four-seasons': ")
    assert message in str(error.value)


def test_faults_of_some_rules():
    for name, fault in {"kings-in-the-corner": BASE, "czarina": "a space must be filled"}.items():
        with pytest.raises(InvalidGame, match=fault):
            Game.from_record(some_game().record.copy(), name)
    cut = some_game(Rules(redeals=1)).record.copy()
    cut["deck_size"] = 51
    with pytest.raises(InvalidGame, match="deck_size and dealt"):
        Game.from_record(cut, Rules(redeals=1))
    cut["redeals"] = 0
    with pytest.raises(InvalidGame, match="deck must have"):
        Game.from_record(cut, Rules(redeals=1))
    cut["deck"][0, 51] = NO_CARD  # now this card is nowhere
    with pytest.raises(InvalidGame, match=PILES):
        Game.from_record(cut, Rules(redeals=1))


def test_error_names_the_record():
    records = some_game().record.repeat(3)
    records["moves"][1] = 2**32 - 1  # any number is valid
    records["cards_up"][2] = 9
    with pytest.raises(InvalidGame, match=r"record 2 is not a valid .*: base and level"):
        check_games(records, RULES["four-seasons"])


@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        (Game().record.reshape(1, 1), r"GAME of shape \(1, 1\)"),
        (Game().record.reshape(()), r"GAME of shape \(\)"),
        (np.zeros(1, [("deck", int)]), r"records of shape \(1,\)"),
        (np.zeros(2), r"float64 of shape \(2,\)"),
        ([], "a list"),
    ],
)
def test_error_names_another_array(wrong, shown):
    with pytest.raises(InvalidGame, match=rf"a GAME array of shape \(n,\), not {shown}$"):
        check_games(wrong, RULES["four-seasons"])


BYTES = st.tuples(st.integers(0, GAME.itemsize - 1), st.integers(0, 255))


@settings(max_examples=200)
@given(positions(), st.lists(BYTES, max_size=3), st.integers(0, 2**32))
def test_a_damaged_position_is_refused_or_plays_on(game, damage, seed):
    """What passes is a position: those after it pass, too."""
    damaged = game.record.copy()
    for at, byte in damage:
        damaged.view(np.uint8)[at] = byte
    try:
        trial = Game.from_record(damaged, game.rules)
    except InvalidGame:
        assert damaged != game.record
        return
    for move in random_moves(trial, seed, 30):
        trial.play(move)
        check_games(trial.record.copy(), trial.rules)


@pytest.mark.parametrize("name", mostly_slow(RULES, REPRESENTATIVES))
@pytest.mark.compiled
def test_what_passes_is_safe_to_play(name: str) -> None:
    """Positions with some bytes changed; bounds checks (`make test-memory`) see the rest."""
    rules, rng = RULES[name], np.random.default_rng(0)
    games = np.concatenate([game.record for game in played_on(rules, 40, 120)]).repeat(50)
    raw, rows = games.view(np.uint8).reshape(len(games), -1), np.arange(len(games))
    raw[rows, rng.integers(0, raw.shape[1], len(games))] = rng.integers(0, 64, len(games))
    raw[rows, rng.integers(0, raw.shape[1], len(games))] += rng.integers(0, 2, len(games), np.uint8)
    passed = []
    for i in range(len(games)):
        with contextlib.suppress(InvalidGame):
            check_games(games[i : i + 1], rules)
            passed.append(i)
    assert 10 < len(passed) < len(games) / 2
    played = Games.from_records(games[passed], name)
    for game in played[:20]:
        assert all(not stop.game.is_over for stop in game.stops(20))
        assert len(str(game)) > 50
    assert len({game.key() for game in played}) > 5
    for kind in OBSERVATIONS:
        assert np.isfinite(played.observations(kind)).all()
    for agent in ("heuristic", "random"):
        copies = played[:]
        copies.play_out(make_agent(agent, rules), rng)
        check_games(copies.records, rules)
