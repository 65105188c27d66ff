"""The planner's network as a policy: what a card and its weights make."""

from __future__ import annotations

from typing import Any

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.network.evaluation import Network, Weights, network_of
from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError, load_policy
from four_seasons_env.rules import Rules

AGENT = "planner"
"""Its registered name."""
HEADS = ("value",)
"""Of its network."""


def planner_network(card: PolicyCard, weights: Weights) -> Network:
    """The network of a policy.

    Raises:
        PolicyFileError: if the weights do not fit the card.
    """
    try:
        return network_of(weights, card.layers, HEADS)
    except ValueError as error:
        raise PolicyFileError(f"the weights do not fit their card: {error}") from None


def bundled_network(rules: Rules) -> Network:
    """The network that comes with the project.

    Raises:
        FileNotFoundError: where there is none for these rules.
    """
    return planner_network(*load_policy(bundled_weights(AGENT, rules.name), AGENT, rules))


def make_planner(rules: Rules, card: PolicyCard, weights: Weights, **options: Any) -> PlannerAgent:
    """The planner with these weights; the options are those of `PlannerAgent`.

    Raises:
        PolicyFileError: if the weights do not fit the card.
    """
    seed = card.training.get("seed")
    return PlannerAgent(rules, planner_network(card, weights), train_seed=seed, **options)
