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

NEXT_DEAL = "FourSeasonsNextDeal-v0"
"""The environment whose actions are positions, for every rule set."""

TEXT = "FourSeasonsText-v0"
"""The environment whose observations and actions are text, for every rule set."""


def _camel(small: str) -> str:
    """`small-4x3-cells` in the form of ids: `FourSeasonsSmall4x3Cells`."""
    return "FourSeasons" + "".join(word.capitalize() for word in small.split("-"))


SMALL_ENVS = {f"{_camel(name)}-v0": name for name in SMALL}
"""Environment id -> small game with a known optimum (`small_games`)."""

SMALL_NEXT_DEAL = {f"{_camel(name)}NextDeal-v0": name for name in SMALL}
"""The ids of the same games with positions as actions."""


def register_envs() -> None:
    """Register each id once; `gym.make("four_seasons_env:ID")` imports this package.

    Gymnasium's passive checker is off, because it breaks an environment whose first `reset` has
    raised; our tests check the same. `env.LimitInSpec` explains the limit of an episode.
    """
    for env_id, rules in (ENVS | SMALL_ENVS).items():
        _register(env_id, _MOVES, rules=rules)
    _register(NEXT_DEAL, _NEXT_DEAL)
    _register(TEXT, ("four_seasons_env.text:FourSeasonsTextEnv", None))
    for env_id, rules in SMALL_NEXT_DEAL.items():
        _register(env_id, _NEXT_DEAL, rules=rules)


_MOVES = "four_seasons_env.env:FourSeasonsEnv", "four_seasons_env.vector:FourSeasonsVectorEnv"
_NEXT_DEAL = (
    "four_seasons_env.next_deal:FourSeasonsNextDealEnv",
    "four_seasons_env.next_deal:FourSeasonsNextDealVectorEnv",
)


def _register(env_id: str, entry_points: tuple[str, str | None], **kwargs: str) -> None:
    """Register an id, unless it is registered, with its environments."""
    if env_id not in gym.registry:  # a second import, such as by `importlib.reload`
        gym.register(
            id=env_id,
            entry_point=entry_points[0],
            vector_entry_point=entry_points[1],
            disable_env_checker=True,
            kwargs=kwargs,
        )
