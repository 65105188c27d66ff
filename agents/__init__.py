"""Agents: players of the game behind one protocol, made by name.

Examples:
    >>> agent = make_agent("heuristic")
    >>> actions = agent.act(games, masks, rng)
"""

import importlib
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.registry import AGENTS, Agent

if TYPE_CHECKING:
    from four_seasons_env.agents.learned.candidate_policy import CandidatePolicy as CandidatePolicy
    from four_seasons_env.agents.learned.candidate_policy import TableEncoder as TableEncoder
    from four_seasons_env.agents.policy_agent import policy
    from four_seasons_env.agents.search.agent import SearchAgent

# Without the classes for Stable-Baselines3: `import *` must not need torch.
__all__ = ["AGENTS", "Agent", "SearchAgent", "make_agent", "policy"]

_HOMES = {
    "CandidatePolicy": "learned.candidate_policy",
    "SearchAgent": "search.agent",
    "TableEncoder": "learned.candidate_policy",
    "policy": "policy_agent",
}


def __getattr__(name: str) -> Any:
    """Load the environments, the solver and torch on first use.

    Raises:
        ImportError: naming the extra that is missing.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from four_seasons_env.extras import missing_extra

    try:
        home = importlib.import_module(f"{__name__}.{_HOMES[name]}")
    except ModuleNotFoundError as error:
        raise missing_extra(name, error) from None
    return getattr(home, name)


def __dir__() -> list[str]:
    """The names of the module, with those that are not loaded yet and need no torch."""
    return sorted(globals().keys() | set(__all__))
