"""Careless use of the library: what was wrong is said, and the nearest that is right."""

import os
import subprocess
import sys
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.engine.cards import card_code
from four_seasons_env.engine.moves import find_move
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
from four_seasons_env.rules import RULES, UnknownRules, get_rules
from four_seasons_env.solver import solve
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import ROOT, numbered_deck

SINGLE = (FourSeasonsEnv, FourSeasonsNextDealEnv)
MANY = (FourSeasonsVectorEnv, FourSeasonsNextDealVectorEnv)


@pytest.fixture(scope="module", params=SINGLE)
def env(request) -> Any:
    return request.param()


@pytest.fixture(scope="module", params=MANY)
def envs(request) -> Any:
    return request.param(2)


@pytest.mark.parametrize("kind", [*SINGLE, *MANY])
def test_there_are_no_masks_before_the_first_reset(kind):
    with pytest.raises(gym.error.ResetNeeded, match=r"call reset\(\) first"):
        kind().action_masks()


@pytest.mark.parametrize("kind", [*SINGLE, *MANY])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rules": "czarena"}, "unknown rules 'czarena': did you mean 'czarina'"),
        ({"observation": "top"}, "unknown observation 'top': did you mean 'tops'"),
        ({"illegal": "rise"}, "unknown illegal 'rise': did you mean 'raise'"),
        ({"render_mode": "ascii"}, "unknown render_mode 'ascii': did you mean 'ansi'"),
        ({"max_moves": 0}, "max_moves must be a positive integer, not 0"),
        ({"max_moves": None}, "max_moves must be a positive integer, not None"),
    ],
)
def test_arguments(kind, arguments, message):
    with pytest.raises(ValueError, match=message):
        kind(**arguments)


@pytest.mark.parametrize("kind", MANY)
def test_copy_is_true_or_false(kind):
    with pytest.raises(ValueError, match="unknown copy 'x': known: True, False"):
        kind(copy="x")


@pytest.mark.parametrize("kind", [FourSeasonsEnv, FourSeasonsVectorEnv])
def test_masks_are_legal_or_distinct(kind):
    with pytest.raises(ValueError, match="unknown mask 'distinctive': did you mean 'distinct'"):
        kind(mask="distinctive")


OPTIONS = [
    (17, TypeError, r"options are \{'deal': 17\} or \{'deck': text\}, not 17"),
    ("deal", TypeError, "not 'deal'"),
    ([], TypeError, r"not \[\]"),
    ({"deals": 17}, ValueError, "unknown option 'deals': did you mean 'deal'"),
    ({"deal": True}, ValueError, "a deal is an integer, not True: did you mean 1"),
    ({"deal": "17"}, ValueError, "a deal is an integer, not '17'"),
    ({"deal": None}, ValueError, "a deal is an integer, not None"),
    ({"deal": 17.0}, ValueError, r"a deal is an integer, not 17\.0"),
    ({"deal": -1}, ValueError, "a number from 0"),
    ({"game": 3}, TypeError, "a game is a four_seasons_env.Game, not 3"),
    ({"deck": 17}, ValueError, "a deck is text such as 'QH 3D ... 5D', or a list of cards, not 17"),
]


@pytest.mark.parametrize(("options", "kind", "message"), OPTIONS)
def test_reset_options(env, envs, options, kind, message):
    for each in (env, envs):
        with pytest.raises(kind, match=message):
            each.reset(options=options)


@pytest.mark.parametrize("deals", [[17], (17,), np.array([17]), [17, 18], [[17]]])
def test_one_game_has_one_deal(env, deals):
    with pytest.raises(ValueError, match="a deal is an integer, not"):
        env.reset(options={"deal": deals})


@pytest.mark.parametrize("deals", [[17], [17, 18, 19], [True, False], [[17], [18]], [17, "18"]])
def test_many_games_have_a_deal_each(envs, deals):
    with pytest.raises(ValueError, match=r"2 games take as many deals|a deal is an integer, not"):
        envs.reset(options={"deal": deals})


@pytest.mark.parametrize("seed", [True, "1", 1.0, -1, 2**64])
def test_seeds(env, envs, seed):
    for each in (env, envs):
        with pytest.raises(ValueError, match="a seed is"):
            each.reset(seed=seed)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (True, "is an integer, not True: did you mean 1"),
        (np.True_, "did you mean 1"),
        (np.array(True), "did you mean 1"),
        (np.array([0]), r"not an array of shape \(1,\): take its one element with \.item\(\)"),
        (np.array([[0]]), r"not an array of shape \(1, 1\): take its one element"),
        (np.array([0, 0]), r"not an array of shape \(2,\)$"),
        ([0], r"is an integer, not \[0\]"),
        (0.0, r"is an integer, not 0\.0"),
        (None, "is an integer, not None"),
    ],
)
def test_an_action_is_one_integer(env, action, message):
    env.reset(seed=1)
    with pytest.raises(TypeError, match=message):
        env.step(action)
    env.step(np.array(0))  # what a policy for one game gives out


@pytest.mark.parametrize("actions", [0, [0], [0, 0, 0], [[0], [0]], [True, False], [0.0, 0.0]])
def test_actions_are_one_integer_a_game(envs, actions):
    envs.reset(seed=1)
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(2,\), not"):
        envs.step(np.array(actions))


@pytest.mark.parametrize("text", ["10H", "th", "T♥", "10♥", "t♡", "T♥\ufe0f"])
def test_cards_may_be_written_as_people_do(text):
    assert card_code(text) == card_code("TH")


def test_decks_may_have_the_signs_of_the_suits():
    deck = " ".join(numbered_deck(17))
    for suit, sign in zip("CSHD", "♣♠♥♦", strict=True):
        deck = deck.replace(suit, sign)
    deck = deck.replace("T", "10")
    assert Game(deck=deck).stock == Game(deal=17).stock


@pytest.mark.parametrize(
    ("written", "text"),
    [("w > f", "W>F"), ("t0>f", "T0>F"), (" Deal ", "deal"), ("T0 >T3", "T0>T3")],
)
def test_moves_may_be_written_as_people_do(written, text):
    assert str(find_move(RULES["four-seasons"], written)) == text


def test_moves_from_foundations_may_have_the_signs_of_the_suits():
    assert str(find_move(RULES["pysolfc/simplicity"], "f:♥ > t3")) == "F:H>T3"


class _TakesOne:
    def __call__(self, before):
        return before


@pytest.mark.parametrize(
    ("reward", "message"),
    [
        (lambda: 1, r"called as reward\(before, after\), and <lambda>\(\) cannot be"),
        (lambda before: 1, "too many positional arguments"),
        (lambda before, after, more: 1, "missing a required argument: 'more'"),
        (_TakesOne(), r"_TakesOne.*\(before\) cannot be"),
        ("foundaton", "did you mean 'foundation'"),
        (3, r"unknown reward 3: known: foundation, win, or a callable\(before, after\)"),
        (["win"], "unknown reward"),
    ],
)
def test_rewards_are_checked_when_the_environment_is_made(reward, message):
    for kind in (*SINGLE, *MANY):
        with pytest.raises(ValueError, match=message):
            kind(reward=reward)


@pytest.mark.parametrize("earned", [np.zeros(3), np.zeros((2, 1)), None, "1", [None, None]])
def test_rewards_are_a_number_a_game(earned):
    envs = FourSeasonsVectorEnv(2, reward=lambda before, after: earned)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"where 2 games take numbers of shape \(2,\)"):
        envs.step(np.zeros(2, np.int64))


@pytest.mark.parametrize("reward", [lambda *positions: 0.5, lambda a, b, c=1: 0.5, np.maximum])
def test_rewards_that_can_be_called_with_two_positions_are_taken(reward):
    FourSeasonsEnv(reward=reward)


@pytest.mark.parametrize("look_up", [RULES.__getitem__, get_rules])
def test_unknown_rules_get_the_nearest(look_up):
    for error in (KeyError, ValueError):
        with pytest.raises(error) as raised:
            look_up("czarin")
        assert str(raised.value).startswith("unknown rules 'czarin': did you mean 'czarina'? known")
    assert "czarin" not in RULES
    assert RULES.get("czarin") is None


def test_another_name_of_rules_is_told():
    with pytest.raises(UnknownRules, match="'corner-card' is another name of 'four-seasons'"):
        RULES["corner-card"]
    with pytest.raises(UnknownRules, match=r"use get_rules\('small-4x3'\)"):
        RULES["small-4x3"]
    with pytest.raises(UnknownRules, match="unknown rules 'small-4x9': did you mean 'small-4x4'"):
        RULES["small-4x9"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"game": "four-seasons"}, TypeError, "solve takes a Game, such as Game"),
        ({"game": None}, TypeError, "solve takes a Game"),
        ({"seconds": "10"}, TypeError, "seconds is a number, not '10'"),
        ({"seconds": True}, TypeError, "seconds is a number, not True"),
        ({"seconds": float("nan")}, ValueError, "seconds must be more than 0, not nan"),
        ({"seconds": 0}, ValueError, "seconds must be more than 0, not 0"),
        ({"seed": -1}, ValueError, "a seed is a number from 0"),
        ({"seed": 1.5}, ValueError, r"a seed is an integer, not 1\.5"),
        ({"max_positions": 1.5}, TypeError, r"max_positions is an integer, not 1\.5"),
        ({"max_positions": 0}, ValueError, "max_positions must be more than 0"),
        ({"width": 2.5}, TypeError, "width is an integer"),
        ({"memory": "1G"}, TypeError, "memory is an integer, not '1G'"),
    ],
)
def test_what_cannot_be_solved(arguments, error, message):
    with pytest.raises(error, match=message):
        solve(**({"game": Game(deal=17), "max_positions": 1} | arguments))


@pytest.mark.slow
def test_without_stable_baselines_the_adapter_names_the_extra():
    code = (
        "import sys; sys.modules['stable_baselines3'] = None; import four_seasons_env.adapters.sb3"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    *_, last = done.stderr.splitlines()
    assert last.startswith("ModuleNotFoundError: this adapter needs stable_baselines3")
    assert last.endswith("pip install 'four-seasons-env[train]'")
