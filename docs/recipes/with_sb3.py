"""Stable-Baselines3: MaskablePPO of sb3-contrib on the native batch."""

import json

import gymnasium as gym
from sb3_contrib import MaskablePPO

from four_seasons_env import evaluate
from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv
from four_seasons_env.agents import CandidatePolicy, TableEncoder

ID, KWARGS = "FourSeasonsNextDeal-v0", {"candidates": 16}

# As many threads as pay. The model's seed is also that of the deals.
envs = FourSeasonsNextDealVecEnv(128, num_threads=None, illegal="raise", **KWARGS)
model = MaskablePPO(
    CandidatePolicy,
    envs,
    n_steps=32,
    batch_size=1024,
    learning_rate=1e-3,
    gamma=1.0,
    gae_lambda=0.9,
    policy_kwargs={"features_extractor_class": TableEncoder},
    seed=0,
    stats_window_size=512,  # games in success_rate: four of each environment
    verbose=1,
)
model.learn(32_768)
model.save("four-seasons-sb3")


def policy(observations, masks):
    """The most likely of the legal actions."""
    return model.predict(observations, action_masks=masks, deterministic=True)[0]


result = evaluate(gym.make_vec(ID, num_envs=100, **KWARGS), policy)
assert result.illegal == 0
print(json.dumps({"environment": ID, "steps": model.num_timesteps, **result._asdict()}))
