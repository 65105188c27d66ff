"""The environments' ids in Gymnasium's registry."""

from __future__ import annotations

import gymnasium as gym

ENVS = {
    "FourSeasons-v0": "four-seasons",
}
"""Environment id -> rule set."""


def register_envs() -> None:
    """Register each id once; Gymnasium calls this too, through its plugin entry point."""
    for env_id, rules in ENVS.items():
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="four_seasons_env.env:FourSeasonsEnv",
                vector_entry_point="four_seasons_env.vector:FourSeasonsVectorEnv",
                kwargs={"rules": rules},
            )
