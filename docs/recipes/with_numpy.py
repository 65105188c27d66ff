"""No library: random legal actions, and a policy that ignores the masks."""

import json

import gymnasium as gym
import numpy as np

import four_seasons_env  # noqa: F401  registers the environments
from four_seasons_env.evaluation import evaluate

rng = np.random.default_rng(0)


def legal(observations, masks):
    """A legal action at random."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


def blind(observations, masks):
    """Any action at random: what evaluation without masks comes to."""
    return rng.integers(masks.shape[1], size=len(masks))


for ID, KWARGS in (("FourSeasons-v0", {}), ("FourSeasonsNextDeal-v0", {"candidates": 16})):
    envs = gym.make_vec(ID, num_envs=100, **KWARGS)
    print("without masks:", evaluate(envs, blind))
    result = evaluate(envs, legal)
    assert result.illegal == 0
    print(json.dumps({"environment": ID, "steps": 0, **result._asdict()}))
