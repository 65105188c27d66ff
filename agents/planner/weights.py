"""The planner's network as a policy: its card and weights, and the player made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from agents.bundled import bundled_weights
from agents.options import check_options, check_values
from agents.planner.agent import PlannerAgent
from agents.planner.learner import AGENT
from agents.planner.value_network import Network, new_network
from agents.policy_files import PolicyCard, PolicyFileError, load_policy, rules_fields
from four_seasons_env.rules import Rules


def policy_of(
    network: Network, rules: Rules, training: dict[str, Any]
) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
    """Card and weights of a network, for `agents.policy_files.save_policy`.

    Args:
        network: is copied.
        rules: the rule set that it was trained on.
        training: where it comes from, for the card.
    """
    card = PolicyCard(
        agent=AGENT,
        rules=rules_fields(rules),
        observation="agents.planner.features",
        mask="distinct",
        layers=[network.suits.shape[1], network.piles.shape[1], network.game.shape[1]],
        activation="relu",
        training=training,
    )
    return card, {name: torch.tensor(getattr(network, name)) for name in Network._fields}


def network_of(weights: dict[str, torch.Tensor]) -> Network:
    """A network with these weights."""
    return Network(*(weights[name].numpy().copy() for name in Network._fields))


def load_network(folder: Path, rules: Rules, any_rules: bool = False) -> tuple[PolicyCard, Network]:
    """Read a network and its card; see `load_policy` for the arguments.

    Raises:
        FileNotFoundError: if a file is missing.
        PolicyFileError: if a file is damaged, or made for another agent or rule set.
    """
    card, weights = load_policy(folder, AGENT, rules, any_rules)
    expected = new_network(0)
    for name in Network._fields:
        shape = getattr(expected, name).shape
        if name not in weights or tuple(weights[name].shape) != shape:
            raise PolicyFileError(f"{folder} has no {name!r} of shape {shape}")
    return card, network_of(weights)


def load_planner(
    rules: Rules, agent: str, path: Path | None = None, trust: bool = False, **options: Any
) -> PlannerAgent:
    """The planner with its weights.

    Args:
        rules: the rule set to play.
        agent: its name.
        path: the folder of a policy; by default the weights in the repository.
        trust: has no effect; the files hold no code.
        **options: passed to `PlannerAgent`.

    Raises:
        FileNotFoundError: where there are no weights.
        PolicyFileError: for damaged weights, or weights for other rules.
        ValueError: for an unknown option.
    """
    del trust
    check_options(agent, PlannerAgent, options)
    check_values(agent, PlannerAgent, options)
    folder = path or bundled_weights(AGENT, rules.name)
    card, network = load_network(folder, rules)
    return PlannerAgent(rules, network, train_seed=card.training.get("seed"), **options)
