"""Agents: players of the game behind one protocol, made by name.

>>> agent = make_agent("heuristic")
>>> actions = agent.act(games, masks, rng)
"""

from typing import Any

from four_seasons_env.agents.registry import AGENTS, Agent, make_agent

__all__ = ["AGENTS", "Agent", "make_agent", "policy"]


def __getattr__(name: str) -> Any:
    """Load `policy`, which needs the environments, only when it is asked for."""
    if name != "policy":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from four_seasons_env.agents.policy_agent import policy

    return policy
