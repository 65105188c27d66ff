"""Four Seasons, a game of patience, as a Gymnasium environment for reinforcement learning.

Examples:
    >>> import gymnasium as gym
    >>> import four_seasons_env
    >>> env = gym.make("FourSeasons-v0")
    >>> observation, info = env.reset(seed=7)
    >>> info["cards_up"], info["won"]
    (1, False)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from four_seasons_env.optima import SmallGame, small_games
from four_seasons_env.registration import register_envs

if TYPE_CHECKING:
    from four_seasons_env.engine.moves import find_move
    from four_seasons_env.env import FourSeasonsEnv
    from four_seasons_env.evaluation import evaluate
    from four_seasons_env.game import Game, IllegalMove
    from four_seasons_env.games import Games, stock_order
    from four_seasons_env.next_deal import FourSeasonsNextDealEnv, FourSeasonsNextDealVectorEnv
    from four_seasons_env.rules import RULES, Rules
    from four_seasons_env.text import FourSeasonsTextEnv
    from four_seasons_env.vector import FourSeasonsVectorEnv

__version__ = "5.0.0"

__all__ = [
    "RULES",
    "FourSeasonsEnv",
    "FourSeasonsNextDealEnv",
    "FourSeasonsNextDealVectorEnv",
    "FourSeasonsTextEnv",
    "FourSeasonsVectorEnv",
    "Game",
    "Games",
    "IllegalMove",
    "Rules",
    "SmallGame",
    "evaluate",
    "find_move",
    "register_envs",
    "small_games",
    "stock_order",
]

# Names that are loaded on first use, and their modules.
_HOMES = {
    "FourSeasonsEnv": "env",
    "FourSeasonsNextDealEnv": "next_deal",
    "FourSeasonsNextDealVectorEnv": "next_deal",
    "FourSeasonsTextEnv": "text",
    "FourSeasonsVectorEnv": "vector",
    "Game": "game",
    "Games": "games",
    "IllegalMove": "game",
    "RULES": "rules",
    "Rules": "rules",
    "evaluate": "evaluation",
    "find_move": "engine.moves",
    "stock_order": "games",
}


def __getattr__(name: str) -> Any:
    """Load a module when its name is first used: the compiled engine takes time to load."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """The names of the module, with those that are not loaded yet."""
    return sorted(globals().keys() | _HOMES.keys())


register_envs()
