"""The planner's name, and its networks on disk."""

from __future__ import annotations

from pathlib import Path

from four_seasons_env.agents.network.evaluation import Network, network_of
from four_seasons_env.agents.policy_files import PolicyCard, load_policy
from four_seasons_env.rules import Rules

AGENT = "planner"
"""Its registered name."""
HEADS = ("value",)
"""Heads of its network."""


def read_planner(policy: Path, rules: Rules) -> tuple[PolicyCard, Network]:
    """The card and the network of a planner's policy.

    Args:
        policy: its folder.
        rules: the rule set to play.

    Raises:
        FileNotFoundError: if there are no weights.
        PolicyFileError: if they cannot be used.
    """
    card, weights = load_policy(policy, AGENT, rules)
    return card, network_of(weights, card.layers, HEADS)
