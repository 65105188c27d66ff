"""The planner's network as a policy: its card and weights, and the player made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.agents.planner.value_network import Network, new_network
from four_seasons_env.agents.policy_files import (
    PolicyCard,
    PolicyFileError,
    load_policy,
    rules_fields,
)
from four_seasons_env.next_deal.features import GAME_ROWS
from four_seasons_env.rules import Rules

AGENT = "planner"
"""Its registered name."""


def policy_of(
    network: Network, rules: Rules, training: dict[str, Any]
) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
    """Card and weights of a network, for `four_seasons_env.agents.policy_files.save_policy`.

    Args:
        network: is copied.
        rules: the rule set that it was trained on.
        training: where it comes from, for the card.
    """
    card = PolicyCard(
        agent=AGENT,
        rules=rules_fields(rules),
        observation="four_seasons_env.agents.planner.features",
        mask="distinct",
        layers=[network.suits.shape[1], network.piles.shape[1], network.game.shape[1]],
        activation="relu",
        training=training,
    )
    return card, {name: getattr(network, name).copy() for name in Network._fields}


def _shapes(weights: dict[str, NDArray[np.float32]]) -> dict[str, tuple[int, ...]]:
    """The shapes that the weights of a network have: today's, or those of narrower ones."""
    today = {name: each.shape for name, each in zip(Network._fields, new_network(0), strict=True)}
    if "pairs" in weights:
        return today
    del today["pairs"]
    narrower = {"game": (GAME_ROWS, 64), "hidden": (256, 32), "hidden_bias": (32,), "out": (32,)}
    return today | narrower


def network_of(weights: dict[str, NDArray[np.float32]]) -> Network:
    """A network with these weights.

    Networks were narrower before they knew of pairs in the waste. Such a one keeps its values: its
    new units can learn, but nothing hangs on them yet.
    """
    network = new_network(0)
    if "pairs" not in weights:
        network.hidden[len(weights["hidden"]) :] = 0
        network.out[:] = 0
    for name, mine in network._asdict().items():
        if name in weights:
            mine[tuple(map(slice, weights[name].shape))] = weights[name]
    return network


def load_network(folder: Path, rules: Rules, any_rules: bool = False) -> tuple[PolicyCard, Network]:
    """Read a network and its card; see `load_policy` for the arguments.

    Raises:
        FileNotFoundError: if a file is missing.
        PolicyFileError: if a file is damaged, or made for another agent or rule set.
    """
    card, weights = load_policy(folder, AGENT, rules, any_rules)
    for name, shape in _shapes(weights).items():
        if name not in weights or weights[name].shape != shape:
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
    """
    del trust
    folder = path or bundled_weights(agent, rules.name)
    card, network = load_network(folder, rules)
    return PlannerAgent(rules, network, train_seed=card.training.get("seed"), **options)
