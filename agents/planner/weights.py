"""The planner's name, and the network that comes with the project."""

from __future__ import annotations

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.network.evaluation import Network, network_of
from four_seasons_env.agents.policy_files import load_policy
from four_seasons_env.rules import Rules

AGENT = "planner"
"""Its registered name."""
HEADS = ("value",)
"""Heads of its network."""


def bundled_network(rules: Rules) -> Network:
    """The network that comes with the project.

    Raises:
        FileNotFoundError: where there is none for these rules.
    """
    card, weights = load_policy(bundled_weights(AGENT, rules.name), AGENT, rules)
    return network_of(weights, card.layers, HEADS)
