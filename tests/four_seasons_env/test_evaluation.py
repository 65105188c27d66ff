"""`evaluate`: one game a deal, masks handed over, what is done against them counted."""

import gymnasium as gym
import numpy as np
import pytest

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import Evaluation, evaluate
from tests.helpers import small

IDS = ("FourSeasons-v0", "FourSeasonsNextDeal-v0")
GAMES = 12


def hashed(observation: np.ndarray, mask: np.ndarray) -> int:
    """A legal action that depends only on the observation."""
    legal = np.flatnonzero(mask)
    return int(legal[int(observation.astype(np.float64).sum() * 1000) % len(legal)])


def seen(observations):
    return observations["observation"] if isinstance(observations, dict) else observations


def policy(observations, masks):
    rows = zip(seen(observations), masks, strict=True)
    return [hashed(observation, mask) for observation, mask in rows]


@pytest.mark.parametrize(
    ("env_id", "kwargs"),
    [(IDS[0], {"rules": small("four-seasons"), "max_moves": 60}), (IDS[1], {"candidates": 4})],
)
@pytest.mark.parametrize("deal", [0, 10_000])
def test_it_plays_as_single_environments_do(env_id: str, kwargs: dict, deal: int) -> None:
    env = gym.make(env_id, **kwargs)
    won, up = [], []
    for i in range(GAMES):
        observation, info = env.reset(options={"deal": deal + i})
        over = False
        while not over:
            action = hashed(seen(observation), info["action_mask"])
            observation, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        won.append(info["won"])
        up.append(info["cards_up"])
    found = evaluate(gym.make_vec(env_id, num_envs=GAMES, **kwargs), policy, deal)
    assert found == Evaluation(GAMES, np.mean(won), pytest.approx(np.mean(up)), 0)
    assert len(set(up)) > 1


def test_illegal_actions_are_counted() -> None:
    kwargs = {"rules": small("four-seasons"), "max_moves": 20}

    def blind(observations, masks):
        return (1 - masks).argmax(axis=1)

    found = evaluate(gym.make_vec(IDS[0], num_envs=3, **kwargs), blind)
    assert found.illegal == 3 * 20
    assert found.won == 0
