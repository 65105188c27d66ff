"""The environments' ids in Gymnasium's registry."""

from __future__ import annotations

import gymnasium as gym

from four_seasons_env.rules import SMALL

ENVS = {
    "FourSeasons-v0": "four-seasons",
    "FourSeasons1883-v0": "four-seasons-1883",
    "Czarina-v0": "czarina",
    "Corners-v0": "corners",
    "Simplicity-v0": "simplicity",
    "Florentine-v1": "florentine",
    "KingsInTheCorner-v0": "kings-in-the-corner",
    "CornerPatience-v0": "corner-patience",
    "CornersHoffmann-v0": "corners-hoffmann",
    "Czarina1898-v0": "czarina-1898",
}
"""Environment id -> rule set."""

FORMER_ENVS = {"Florentine-v0": "florentine-0.1"}
"""The same for ids of which there is a later version; they play as they did (`rules.FORMER`)."""

NEXT_DEAL = "FourSeasonsNextDeal-v0"
"""The environment whose actions are positions, for every rule set."""


def _camel(small: str) -> str:
    """`small-4x3-cells` as ids have it: `FourSeasonsSmall4x3Cells`."""
    return "FourSeasons" + "".join(word.capitalize() for word in small.split("-"))


SMALL_ENVS = {f"{_camel(name)}-v0": name for name in SMALL}
"""The same for small games, whose optimum is known (`small_games`)."""

SMALL_NEXT_DEAL = {f"{_camel(name)}NextDeal-v0": name for name in SMALL}
"""Likewise, where actions are positions."""


def register_envs() -> None:
    """Register each id once; `gym.make("four_seasons_env:ID")` imports this package itself.

    Without Gymnasium's passive checker, which breaks an environment whose first `reset` has raised;
    what it checks, our tests check. The limit of an episode: see `episodes.limit`.
    """
    for env_id, rules in (ENVS | FORMER_ENVS | SMALL_ENVS).items():
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="four_seasons_env.env:FourSeasonsEnv",
                vector_entry_point="four_seasons_env.vector:FourSeasonsVectorEnv",
                disable_env_checker=True,
                kwargs={"rules": rules},
            )
    for env_id, kwargs in _next_deal_kwargs().items():
        if env_id not in gym.registry:
            gym.register(
                id=env_id,
                entry_point="four_seasons_env.next_deal:FourSeasonsNextDealEnv",
                vector_entry_point="four_seasons_env.next_deal:FourSeasonsNextDealVectorEnv",
                disable_env_checker=True,
                kwargs=kwargs,
            )


def _next_deal_kwargs() -> dict[str, dict[str, str]]:
    return {NEXT_DEAL: {}} | {env_id: {"rules": name} for env_id, name in SMALL_NEXT_DEAL.items()}
