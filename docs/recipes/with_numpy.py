"""No library: random legal actions."""

import json

import gymnasium as gym
import numpy as np

from four_seasons_env import evaluate

rng = np.random.default_rng(0)


def legal(observations, masks):
    """A legal action at random."""
    return (masks * rng.random(masks.shape)).argmax(axis=1)


for ID, KWARGS in (("FourSeasons-v0", {}), ("FourSeasonsNextDeal-v0", {"candidates": 16})):
    envs = gym.make_vec(ID, num_envs=100, **KWARGS)
    result = evaluate(envs, legal)
    assert result.illegal == 0
    print(json.dumps({"environment": ID, "steps": 0, **result._asdict()}))
