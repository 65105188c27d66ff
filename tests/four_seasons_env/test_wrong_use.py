"""Careless use of the library: an error says what was wrong, and names the nearest valid choice.

It changes nothing: the environment goes on as one that was used well.
"""

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.engine.moves import find_move
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
from four_seasons_env.rules import RULES
from four_seasons_env.solver import solve
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import same

SINGLE = (FourSeasonsEnv, FourSeasonsNextDealEnv)
MANY = (FourSeasonsVectorEnv, FourSeasonsNextDealVectorEnv)


def step(env: Any) -> Any:
    """The answer to the first legal action of each game."""
    return env.step(env.action_masks().argmax(axis=-1))


def unharmed(*twins: Any) -> Iterator[Any]:
    """The first of two equal environments in an episode; at the end, both continue alike."""
    for each in twins:
        each.reset(seed=11)
        step(each)
    yield twins[0]
    ahead = [[step(each) for _ in range(20)] + [each.reset(), each.reset()] for each in twins]
    assert same(*ahead)
    assert same(*[each.np_random.bit_generator.state for each in twins])


@pytest.fixture(params=SINGLE)
def env(request) -> Iterator[Any]:
    yield from unharmed(request.param(), request.param())


@pytest.fixture(params=MANY)
def envs(request) -> Iterator[Any]:
    """Its games end, and others begin, during the test."""
    yield from unharmed(request.param(2, max_moves=9), request.param(2, max_moves=9))


def spoil(thing: Any) -> None:
    """Write into all arrays of an answer."""
    if isinstance(thing, np.ndarray) and thing.flags.writeable:
        thing[...] = 0
    elif isinstance(thing, dict | tuple | list):
        for part in thing.values() if isinstance(thing, dict) else thing:
            spoil(part)


@pytest.mark.parametrize("kind", [*SINGLE, *MANY])
def test_writing_into_answers_changes_nothing(kind):
    arguments = {"num_envs": 3, "max_moves": 5} if kind in MANY else {}
    env, twin = kind(**arguments), kind(**arguments)
    answers = [each.reset(seed=1) for each in (env, twin)]
    kept = []
    for _ in range(12):
        assert same(*answers)
        spoil([answers[0], env.action_masks()])
        kept.append((answers[1], copy.deepcopy(answers[1])))
        answers = [step(each) for each in (env, twin)]
    assert all(same(*each) for each in kept)  # no later step has written into them


@pytest.mark.parametrize("kind", [*SINGLE, *MANY])
def test_masks_need_a_reset(kind):
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
        *(
            ({"max_moves": each}, f"max_moves must be a positive integer, not {each!r}")
            for each in (0, True, 2.0, "2")
        ),
        ({"reward": "foundaton"}, "did you mean 'foundation'"),
    ],
)
def test_wrong_arguments(kind, arguments, message):
    with pytest.raises(ValueError, match=message):
        kind(**arguments)


def test_wrong_mask_and_copy():
    with pytest.raises(ValueError, match="unknown copy 'x': known: True, False"):
        FourSeasonsVectorEnv(copy="x")
    with pytest.raises(ValueError, match="unknown autoreset_mode 'NextSteps': did you mean 'NextS"):
        FourSeasonsVectorEnv(autoreset_mode="NextSteps")
    with pytest.raises(ValueError, match="unknown mask 'distinctive': did you mean 'distinct'"):
        FourSeasonsEnv(mask="distinctive")


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (17, TypeError, r"options must be \{'deal': 17\} or \{'deck': text\}, not 17"),
        ({"deals": 17}, ValueError, "unknown option 'deals': did you mean 'deal'"),
        ({"deal": True}, ValueError, "deal must be an integer, not True: did you mean 1"),
        ({"deal": -1}, ValueError, "deal must be 0 to"),
        ({"deal": 17, "deck": "AC"}, ValueError, "give only one"),
        ({"game": 3}, TypeError, "game must be a four_seasons_env.Game, not 3"),
        (
            {"deck": 17},
            ValueError,
            "a deck must be text such as 'QH 3D ... 5D', or a list",
        ),
    ],
)
def test_wrong_reset_options(env, envs, options, kind, message):
    for each, seed in itertools.product((env, envs), (None, 99)):
        with pytest.raises(kind, match=message):
            each.reset(seed=seed, options=options)


@pytest.mark.parametrize("kind", MANY)
def test_seeds_of_many_games(kind):
    envs = kind(2)
    envs.reset(seed=2**64 - 2)
    for wrong in (2**64 - 1, [1, 2, 3], [1, -3]):
        with pytest.raises(ValueError, match=r"seed must be 0 to 2\^64 - 2 for 2 games, not|seed"):
            envs.reset(seed=wrong)
    first, second = (envs.reset(seed=seed)[1]["deal"] for seed in (np.array(5), 5))
    assert same(first, second)


def test_one_deal_per_game(env, envs):
    with pytest.raises(ValueError, match="deal must be an integer, not"):
        env.reset(options={"deal": [17]})
    for deals in ([17], [17, "18"]):
        with pytest.raises(ValueError, match=r"deal must be (one number or 2|an integer, not)"):
            envs.reset(options={"deal": deals})


@pytest.mark.parametrize("seed", [True, "1", 1.0, -1, 2**64])
def test_wrong_seeds(env, envs, seed):
    for each in (env, envs):
        with pytest.raises(ValueError, match="seed must be"):
            each.reset(seed=seed)


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (True, TypeError, "must be an integer, not True: did you mean 1"),
        (np.array([0]), TypeError, r"of shape \(1,\): take its one element with \.item\(\)"),
        (np.array([0, 0]), TypeError, r"not an array of shape \(2,\)$"),
        (0.0, TypeError, r"must be an integer, not 0\.0"),
        ("deal", TypeError, "must be an integer, not 'deal'"),
        *(
            (wrong, ValueError, f"^action must be 0 to 31, not {min(wrong, 2**63 - 1)}$")
            for wrong in (-1, 32, 10**30)
        ),
    ],
)
def test_wrong_action(env, action, error, message):
    with pytest.raises(error, match=message):
        env.step(action)


@pytest.mark.parametrize(
    ("actions", "kind", "message"),
    [
        (0, ValueError, r"^actions must be of shape \(2,\), not of shape \(\)"),
        ([0, 0, 0], ValueError, r"^actions must be of shape \(2,\), not of shape \(3,\)"),
        ([True, False], TypeError, "actions must be integers, not bool"),
        ([0.0, 0.0], TypeError, "actions must be integers, not float64"),
        (["deal", "deal"], TypeError, "actions must be integers, not <U4"),
        ([0, 32], ValueError, "^action in game 1 must be 0 to 31, not 32"),
        ([-1, 0], ValueError, "^action in game 0 must be"),
        (np.array([0, 2**64 - 1], np.uint64), ValueError, "^action in game 1 must be"),
    ],
)
def test_wrong_actions(envs, actions, kind, message):
    with pytest.raises(kind, match=message):
        envs.step(np.array(actions))


@pytest.mark.parametrize(
    ("written", "text"),
    [("w > f", "W>F"), (" Deal ", "deal"), ("f:♥ > t3", "F:H>T3")],
)
def test_moves_as_people_write_them(written, text):
    assert str(find_move(RULES["pysolfc/simplicity"], written)) == text


@pytest.mark.parametrize("earned", [np.zeros(3), "1"])
def test_wrong_reward_of_a_function(earned):
    envs = FourSeasonsVectorEnv(2, reward=lambda before, after: earned)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"must return numbers of shape \(2,\), one per game"):
        envs.step(np.zeros(2, np.int64))


@pytest.mark.parametrize("many", [False, True])
def test_reward_that_is_not_finite(many):
    earned = np.array([0.0, np.nan] if many else [np.inf])
    arguments = {"reward": lambda before, after: earned}
    env = FourSeasonsVectorEnv(2, **arguments) if many else FourSeasonsEnv(**arguments)
    env.reset(seed=0)
    with pytest.raises(
        ValueError, match=r"reward must be finite, not (nan in game 1|inf in game 0)"
    ):
        env.step([0, 0] if many else 0)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"game": "four-seasons"}, TypeError, "game must be a Game"),
        ({"seconds": "10"}, TypeError, "seconds must be a number, not '10'"),
        ({"seconds": float("nan")}, ValueError, "seconds must be more than 0, not nan"),
        ({"seed": -1}, ValueError, "seed must be 0 to"),
        ({"max_positions": 0}, ValueError, "max_positions must be more than 0"),
    ],
)
def test_wrong_arguments_of_solve(arguments, error, message):
    with pytest.raises(error, match=message):
        solve(**({"game": Game(deal=17), "max_positions": 1} | arguments))
