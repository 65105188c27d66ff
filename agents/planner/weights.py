"""The planner's network as a policy: what a card and its weights make."""

from __future__ import annotations

from typing import Any

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.network.evaluation import Network, Weights, network_of
from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.agents.policy_files import PolicyCard, load_policy
from four_seasons_env.rules import Rules

AGENT = "planner"
"""Its registered name."""
HEADS = ("value",)
"""Of its network."""


def bundled_network(rules: Rules) -> Network:
    """The network that comes with the project.

    Raises:
        FileNotFoundError: where there is none for these rules.
    """
    card, weights = load_policy(bundled_weights(AGENT, rules.name), AGENT, rules)
    return network_of(weights, card.layers, HEADS)


def make_planner(rules: Rules, card: PolicyCard, weights: Weights, **options: Any) -> PlannerAgent:
    """The planner with these weights; the options are those of `PlannerAgent`.

    Raises:
        PolicyFileError: if the weights do not fit the card.
    """
    seed = card.training.get("seed")
    network = network_of(weights, card.layers, HEADS)
    return PlannerAgent(rules, network, train_seed=seed, **options)
