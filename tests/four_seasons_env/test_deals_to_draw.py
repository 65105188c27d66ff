"""`deals=`: environments that draw from some deals."""

import copy

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from tests.helpers import training_deals

IDS = ("FourSeasons-v0", "FourSeasonsNextDeal-v0")
DEALS = (TRAIN_FROM + 5, 10_007, 2**63 - 1, 10_007)
SEED, STEPS = 11, 12


def drawn(seed: int, count: int) -> list[int]:
    """By the definition in docs/reference/deals.md."""
    return [DEALS[(deal - TRAIN_FROM) % len(DEALS)] for deal in training_deals(seed, count)]


@pytest.mark.parametrize("env_id", [*IDS, "FourSeasonsText-v0"])
def test_episodes_draw_from_them(env_id: str) -> None:
    env = gym.make(env_id, deals=iter(DEALS))
    played = [env.reset(seed=SEED)[1]["deal"]]
    twin = copy.deepcopy(env)
    played += [env.reset()[1]["deal"] for _ in range(8)]
    assert played == drawn(SEED, 9)
    assert [twin.reset()[1]["deal"] for _ in range(8)] == played[1:]
    assert env.reset(options={"deal": 17})[1]["deal"] == 17


@pytest.mark.parametrize("env_id", IDS)
@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
@pytest.mark.parametrize("threads", [1, 2])
def test_many_games_play_like_single_ones(env_id: str, mode: str, threads: int) -> None:
    common = {"deals": DEALS, "max_moves": 3}
    envs = gym.make_vec(env_id, 3, autoreset_mode=mode, num_threads=threads, **common)
    singles = [gym.make(env_id, **common) for _ in range(3)]
    _, infos = envs.reset(seed=SEED)
    firsts = [env.reset(seed=SEED + i) for i, env in enumerate(singles)]
    assert infos["deal"].tolist() == [info["deal"] for _, info in firsts]
    ended = np.zeros(3, bool)
    for _ in range(STEPS):
        actions = infos["action_mask"].argmax(axis=1)
        if mode == "Disabled" and ended.any():
            observations, infos = envs.reset(options={"reset_mask": ended})
            for i in np.flatnonzero(ended):
                singles[i].reset()
            ended[:] = False
            actions = infos["action_mask"].argmax(axis=1)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for i, env in enumerate(singles):
            if mode == "NextStep" and ended[i]:
                observation, info = env.reset()
                reward = 0.0
            else:
                observation, reward, terminated_here, truncated_here, info = env.step(actions[i])
                if mode == "SameStep" and (terminated_here or truncated_here):
                    assert infos["final_info"]["deal"][i] == info["deal"]
                    observation, info = env.reset()
            assert infos["deal"][i] == info["deal"]
            assert rewards[i] == reward
            assert (infos["action_mask"][i] == info["action_mask"]).all()
            assert all(
                np.array_equal(mine, theirs)
                for mine, theirs in zip(parts(observations, i), parts(observation), strict=True)
            )
        ended = terminated | truncated


def parts(observation, index=None):
    """The arrays of an observation, of one of many games if there is an index."""
    arrays = observation.values() if isinstance(observation, dict) else [observation]
    return [each if index is None else each[index] for each in arrays]


@pytest.mark.parametrize("env_id", IDS)
def test_they_can_be_replaced(env_id: str) -> None:
    env = gym.make(env_id, deals=DEALS)
    env.reset(seed=SEED)
    env.unwrapped.set_deals([10_001])
    assert env.reset()[1]["deal"] == 10_001
    env.unwrapped.set_deals(None)
    assert env.reset()[1]["deal"] == training_deals(SEED, 3)[2]


@pytest.mark.parametrize(
    ("deals", "error"),
    [
        ([], "one deal or more"),
        (17, "deals are numbers"),
        ("17", "deals are numbers"),
        ([10_000, "17"], "a deal is"),
        ([-1], "a deal is a number from 0"),
        ([10_000, 9_999], "deal 9999 is a test deal"),
    ],
)
def test_wrong_deals(deals, error) -> None:
    with pytest.raises(ValueError, match=error):
        gym.make("FourSeasons-v0", deals=deals)
    envs = gym.make_vec("FourSeasons-v0", 2)
    with pytest.raises(ValueError, match=error):
        envs.set_deals(deals)


def test_test_deals_can_be_allowed() -> None:
    env = gym.make("FourSeasons-v0", deals=[3], allow_test_deals=True)
    assert env.reset(seed=1)[1]["deal"] == 3
    with pytest.raises(ValueError, match="allow_test_deals"):
        gym.make("FourSeasons-v0", allow_test_deals="yes")
