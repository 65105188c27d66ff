"""The learning algorithms of Stable-Baselines3, by their agents' names."""

from __future__ import annotations

from four_seasons_env.agents.learned.algorithm import Algorithm
from four_seasons_env.agents.learned.maskable_ppo import MoveLevelPpo
from four_seasons_env.agents.learned.next_deal_ppo import NextDealPpo
from four_seasons_env.rules import nearest

ALGORITHMS: dict[str, Algorithm] = {each.name: each for each in (NextDealPpo(), MoveLevelPpo())}


def get_algorithm(name: str) -> Algorithm:
    """A learning algorithm by its agent's name.

    Raises:
        ValueError: for an unknown one, naming the nearest.
    """
    if name not in ALGORITHMS:
        raise ValueError(f"no learning agent {name!r}: {nearest(name, ALGORITHMS)}")
    return ALGORITHMS[name]
