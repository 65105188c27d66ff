"""Five networks on moves, trained by plain Stable-Baselines3: one agent, five training seeds."""

from functools import cache

import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecNormalize

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents import policy

SETTINGS = {"observation": "cards", "mask": "no_repeats"}


def train(steps: int = 500_000) -> None:
    """Train a network for each seed, and save it in this folder."""
    torch.set_num_threads(1)  # more are no faster for a small network
    how = {"n_steps": 64, "batch_size": 512, "n_epochs": 4, "learning_rate": 1e-3}
    for seed in range(5):
        env = FourSeasonsVecEnv(64, max_moves=300, **SETTINGS)
        env = VecNormalize(env, norm_obs=False)  # the size of rewards that PPO expects
        model = MaskablePPO("MlpPolicy", env, seed=seed, **how)  # also of the deals
        model.learn(steps).save(f"net-{seed}")


@cache
def load(train_seed):
    """The trained network of a seed."""
    return MaskablePPO.load(f"net-{train_seed}")


@policy("FourSeasons-v0", plays=("deterministic", "stochastic"), **SETTINGS)
def net(observations, masks, rng, deterministic, train_seed=0):
    """An action of that network in each game."""
    how = {"action_masks": masks, "deterministic": deterministic}
    return load(train_seed).predict(observations, **how)[0]


if __name__ == "__main__":
    tyro.cli(train)
