"""Policies that have learned nothing, made without torch."""

from itertools import pairwise

import numpy as np

from four_seasons_env.agents.policy_files import PolicyCard, rules_fields
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.next_deal.features import GAME_ROWS, PILE_ROWS, SUIT_ROWS
from four_seasons_env.observations import observation_length
from four_seasons_env.rules import Rules

Weights = dict[str, np.ndarray]


def layers(names: list[str], sizes: list[int], seed: int = 0) -> Weights:
    """Dense layers with random weights, named and shaped as in torch."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, (inputs, outputs) in zip(names, pairwise(sizes), strict=True):
        weights[f"{name}.weight"] = rng.normal(size=(outputs, inputs)).astype(np.float32)
        weights[f"{name}.bias"] = rng.normal(size=outputs).astype(np.float32)
    return weights


def move_card(rules: Rules, **training: object) -> PolicyCard:
    """The card of `maskable_ppo` with one small layer."""
    return PolicyCard(
        "maskable_ppo", rules_fields(rules), "tops", "distinct", [8], "relu", dict(training)
    )


def move_weights(rules: Rules) -> Weights:
    sizes = [observation_length(rules, "tops"), 8, len(all_moves(rules))]
    return layers(["mlp_extractor.policy_net.0", "action_net"], sizes)


def candidate_card(rules: Rules, endings: str = "search", **training: object) -> PolicyCard:
    """The card of `next_deal_ppo` with small tables and a small search."""
    return PolicyCard(
        *("next_deal_ppo", rules_fields(rules), "features", "distinct", [8, 4, 8, 8], "relu"),
        dict(training),
        network="tables",
        decisions={
            "candidates": 10,
            "expansions": 20,
            "order": "advice",
            "endings": endings,
            "ending_expansions": 40,
        },
    )


def candidate_weights() -> Weights:
    rng = np.random.default_rng(1)
    shapes = {"suits": (SUIT_ROWS, 8), "piles": (PILE_ROWS, 4), "game": (GAME_ROWS, 8)}
    tables = {
        f"features_extractor.{name}": (0.2 * rng.normal(size=shape)).astype(np.float32)
        for name, shape in shapes.items()
    }
    heads = [layers([f"mlp_extractor.{name}"], [8, 1], 2) for name in ("score", "value")]
    return tables | layers(["features_extractor.dense"], [20, 8]) | heads[0] | heads[1]
