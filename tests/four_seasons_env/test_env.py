import json
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import TimeLimit

from four_seasons_env.engine.moves import find_move
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import MAX_MOVES
from four_seasons_env.next_deal import FourSeasonsNextDealEnv
from four_seasons_env.registration import ENVS, NEXT_DEAL, TEXT
from four_seasons_env.rewards import ILLEGAL_PENALTY
from four_seasons_env.rules import RULES, Rules, get_rules
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import (
    cards_in_order,
    deck_with,
    random_steps,
    run_python,
    same,
)

SMALL = Rules(name="small", ranks=4, piles=3)
IN_ORDER = "AS AH AD AC 2C 2S 2H 2D 3C 3S 3H 3D 4C 4S 4H 4D"
WINNING = ["T0>F", "T1>F", "T2>F"] + ["deal", "W>F"] * 12
IDS = ("FourSeasons-v0", NEXT_DEAL)


def started(rules: Rules = SMALL, deck: Any = IN_ORDER, **arguments: Any) -> FourSeasonsEnv:
    """An environment at the opening of a deck."""
    env = FourSeasonsEnv(rules, **arguments)
    env.reset(options={"deck": deck})
    return env


def rewards_of(env: FourSeasonsEnv, moves: list[str]) -> list[float]:
    return [float(env.step(find_move(env.rules, move).number)[1]) for move in moves]


def test_each_id_has_its_rules():
    for env_id, rules in ENVS.items():
        for env in (gym.make(env_id), gym.make_vec(env_id, num_envs=2)):
            assert env.unwrapped.rules is RULES[rules]


def test_an_id_with_the_package_needs_no_import():
    run_python("-c", 'import gymnasium as gym; gym.make("four_seasons_env:FourSeasons-v0")')


def test_deals_differ_without_a_seed():
    env = FourSeasonsEnv()
    deals = [each.reset()[1]["deal"] for each in (env, env, FourSeasonsEnv())]
    deals += gym.make_vec("FourSeasons-v0", num_envs=2).reset()[1]["deal"].tolist()
    assert len(set(deals)) == 5


# --- rewards ------------------------------------------------------------------------------------


def test_reward_of_a_won_game():
    up = [1 / 16 if move.endswith(">F") else 0 for move in WINNING]
    assert rewards_of(started(), WINNING) == [*up[:-1], up[-1] + 1]
    assert rewards_of(started(reward="win"), WINNING) == [0.0] * 26 + [1.0]


def test_reward_of_worrying_back():
    env = started(Rules(piles=2, worrying_back=True), deck_with("3H 5S 2C"))
    assert rewards_of(env, ["F:C>T0", "T0>F"]) == [-1 / 52, 1 / 52]


def test_reward_of_a_function():
    calls = []

    def stock_dealt(before, after):
        calls.append((before["dealt"].tolist(), after["dealt"].tolist()))
        return (after["dealt"].astype(float) - before["dealt"]) * 2

    assert rewards_of(started(reward=stock_dealt), ["T0>F", "deal"]) == [0, 2]
    assert calls == [([4], [4]), ([4], [5])]


def test_a_reward_that_raises_at_an_end_starts_the_next_episode():
    envs = FourSeasonsVectorEnv(2, max_moves=2, reward=lambda _, after: 1 / (after["moves"] != 2))
    with np.errstate(divide="ignore"):
        envs.reset(seed=1)
        envs.step([0, 0])
        with pytest.raises(ValueError, match="reward must be finite, not inf in game 0"):
            envs.step([0, 0])
        assert not envs.games["moves"].any()
        assert not envs.step([0, 0])[3].any()


# --- illegal actions ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [FourSeasonsEnv, FourSeasonsNextDealEnv])
def test_illegal_action_stays_and_pays(kind):
    env = kind(reward=lambda before, after: np.ones(len(after)), max_moves=3)
    observation, info = env.reset(seed=2)
    before = env.game
    assert not info["illegal"]
    answer = env.step(int(info["action_mask"].argmin()))
    assert same(answer[0], observation)
    assert answer[1] == -ILLEGAL_PENALTY
    assert ILLEGAL_PENALTY > 0
    assert answer[2:4] == (False, False)
    assert answer[4].pop("illegal") is True
    del info["illegal"]
    assert same(answer[4], info)
    assert env.game == before
    assert env.step(0)[4]["illegal"] is False
    assert env.step(0)[2:4] == (False, True)  # the illegal one was counted


# --- one limit: the spec, Gymnasium's wrappers and the games agree ------------------------------


def length(env, seed: int = 5) -> tuple[int, bool, bool]:
    """The length of an episode of the lowest legal actions, and how it ended."""
    _, info = env.reset(seed=seed)
    steps, ended = 0, (False, False)
    while not any(ended):
        _, _, *ended, info = env.step(int(info["action_mask"].argmax()))
        steps += 1
    return steps, *ended


@pytest.mark.parametrize("env_id", IDS)
def test_the_spec_says_what_the_games_keep(env_id):
    for how, limit in (({}, MAX_MOVES), ({"max_moves": 7}, 7)):
        for env in (gym.make(env_id, **how), gym.make_vec(env_id, num_envs=2, **how)):
            assert env.spec.max_episode_steps == env.unwrapped.spec.max_episode_steps == limit
        sync = gym.make_vec(env_id, num_envs=2, vectorization_mode="sync", **how)
        assert sync.get_attr("spec")[0].max_episode_steps == limit


def test_episodes_end_at_the_limit():
    made = gym.make("FourSeasons-v0", max_moves=3)
    again = gym.make(made.spec)
    assert again.spec == made.spec
    by_gymnasium = gym.make("FourSeasons-v0", max_episode_steps=3)
    wrapped = TimeLimit(made.unwrapped, made.unwrapped.spec.max_episode_steps)  # as d3rlpy does
    for env in (made, again, by_gymnasium, wrapped):
        assert length(env) == (3, False, True)
    limits = [{"max_moves": 3}, {"max_episode_steps": 3}, {"max_moves": 9, "max_episode_steps": 3}]
    vectors = [gym.make_vec("FourSeasons-v0", num_envs=2, **each) for each in limits]
    for env in (*vectors, gym.make_vec(made.spec, num_envs=2)):
        assert env.spec.max_episode_steps == 3
        _, infos = env.reset(seed=5)
        for step in range(1, 4):
            *_, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
            assert truncated.all() == (step == 3)


def test_a_game_may_end_at_the_limit():
    steps, terminated, truncated = length(gym.make("FourSeasons-v0"))
    assert (terminated, truncated) == (True, False)
    exact = gym.make("FourSeasons-v0", max_moves=steps)
    assert length(exact) == (steps, True, False)


# --- the deal in infos --------------------------------------------------------------------------


def keys_in(value: Any) -> set[str]:
    """All keys of nested dictionaries."""
    if not isinstance(value, dict):
        return set()
    return set(value).union(*map(keys_in, value.values()))


@pytest.mark.parametrize("env_id", IDS)
def test_the_deal_can_be_hidden(env_id):
    hidden, shown = (
        gym.make_vec(env_id, num_envs=3, max_moves=60, reveal_deal=reveal)
        for reveal in (False, True)
    )
    infos = [
        [env.reset(seed=4)[1], *(answer[-1] for answer in random_steps(env, 150))]
        for env in (hidden, shown)
    ]
    for without, with_it in zip(*infos, strict=True):
        assert "deal" in with_it
        assert keys_in(with_it) - keys_in(without) <= {"deal", "_deal"}
        assert not keys_in(without) & {"deal", "_deal"}


@pytest.mark.parametrize("env_id", [*IDS, TEXT])
@pytest.mark.parametrize(
    "rules", [RULES["czarina"], Rules(name="mine", piles=3), "four-seasons(piles=3)"]
)
def test_a_spec_is_json(env_id, rules):
    how = {"rules": rules, "deals": range(10_000, 10_003), "max_moves": np.int64(9)}
    how["reveal_deal"] = False
    for make in [gym.make] if env_id == TEXT else [gym.make, gym.make_vec]:
        more = {"autoreset_mode": AutoresetMode.NEXT_STEP} if make is gym.make_vec else {}
        spec = make(env_id, **how, **more).spec
        again = make(gym.envs.registration.EnvSpec.from_json(spec.to_json()))
        assert "deal" not in again.reset(seed=1)[1]
        assert again.unwrapped.rules == get_rules(rules)
        assert again.unwrapped.rules.name == get_rules(rules).name
        first, second = (json.loads(each.to_json())["kwargs"] for each in (spec, again.spec))
        assert first.items() <= second.items()  # make_vec adds the limit


# --- the ends of an episode -----------------------------------------------------------------------


@pytest.mark.parametrize("illegal", ["stay", "raise"])
def test_game_over_at_the_opening(illegal):
    """All sixteen cards go up while the cross is laid out as in 1883."""
    rules = Rules(ranks=4, piles=1, base_from="first", opening="as_dealt")
    env = started(rules, cards_in_order(4), illegal=illegal)
    assert not env.action_masks().any()
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["won"] and not info["illegal"]
