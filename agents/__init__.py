"""Agents: players of the game behind one class (`Agent`), made by name (`make_agent`).

Names that need an extra, such as torch, are loaded on first use.

Examples:
    >>> agent = make_agent("heuristic")
    >>> agent.kind, agent.mask
    ('rule of thumb', 'distinct')
    >>> moves = agent.act(games, masks, rng)
"""

import importlib
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.agent import Agent
from four_seasons_env.agents.names import AGENTS, make_agent

if TYPE_CHECKING:
    from four_seasons_env.agents.learned.candidate_policy import CandidatePolicy as CandidatePolicy
    from four_seasons_env.agents.learned.candidate_policy import TableEncoder as TableEncoder
    from four_seasons_env.agents.learned.move_policy import MovePolicy as MovePolicy
    from four_seasons_env.agents.network.places import MoveNetwork as MoveNetwork
    from four_seasons_env.agents.network.rows import move_rows_of as move_rows_of
    from four_seasons_env.agents.network.rows import rows_of as rows_of
    from four_seasons_env.agents.policy_agent import policy
    from four_seasons_env.agents.policy_files import PolicyCard as PolicyCard
    from four_seasons_env.agents.policy_files import load_policy as load_policy
    from four_seasons_env.agents.policy_files import save_policy as save_policy
    from four_seasons_env.agents.search.agent import SearchAgent

# Without what needs an extra: `import *` must not need one.
__all__ = ["AGENTS", "Agent", "SearchAgent", "make_agent", "policy"]

_HOMES = {
    "policy": "policy_agent",
    "SearchAgent": "search.agent",
    # Policies in files, and what their networks read: the extra `agents`.
    "PolicyCard": "policy_files",
    "load_policy": "policy_files",
    "save_policy": "policy_files",
    "rows_of": "network.rows",
    "move_rows_of": "network.rows",
    # Networks of torch, and policies of Stable-Baselines3: the extra `train`.
    "MoveNetwork": "network.places",
    "MovePolicy": "learned.move_policy",
    "CandidatePolicy": "learned.candidate_policy",
    "TableEncoder": "learned.candidate_policy",
}


def __getattr__(name: str) -> Any:
    """Load environments, solver and libraries on first use.

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
    """The names of the module, with those that are not loaded yet and need no extra."""
    return sorted(globals().keys() | set(__all__))
