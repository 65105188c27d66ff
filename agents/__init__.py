"""Agents: players of the game behind one protocol, made by name.

>>> agent = make_agent("heuristic")
>>> actions = agent.act(games, masks, rng)
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.registry import AGENTS, Agent

if TYPE_CHECKING:
    from four_seasons_env.agents.policy_agent import policy
    from four_seasons_env.agents.search.agent import SearchAgent

if not Path(__file__).is_file():
    raise ImportError(
        "agents read weights from a folder, so they cannot run from a zip file: unpack it"
    )

__all__ = ["AGENTS", "Agent", "SearchAgent", "make_agent", "policy"]

_HOMES = {"policy": "policy_agent", "SearchAgent": "search.agent"}


def __getattr__(name: str) -> Any:
    """Load the environments and the solver on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
