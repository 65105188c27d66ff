"""Policies that have learned nothing, made without torch."""

from itertools import pairwise

import numpy as np

from four_seasons_env.agents.network.evaluation import Network, network_of
from four_seasons_env.agents.network.rows import MOVE_ROWS, ROWS, kinds_of
from four_seasons_env.agents.policy_files import PolicyCard, rules_fields
from four_seasons_env.positions.features import TABLES
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
    """The card of `maskable_ppo` with small layers."""
    about = ("places", "no_repeats", [8, 16, 8])
    return PolicyCard("maskable_ppo", rules_fields(rules), *about, dict(training))


def move_weights() -> Weights:
    rng = np.random.default_rng(0)
    kinds, move_kinds = (int(each.max()) + 1 for each in kinds_of(13))
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.table.rows": (ROWS, 8),
        "encoder.table.shared": (kinds, 8),
        "moves.rows": (MOVE_ROWS, 16),
        "moves.shared": (move_kinds, 16),
        "score": (16,),
    }
    tables = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return tables | layers(["dense"], [8, 16])


def candidate_card(rules: Rules, endings: str = "search", **training: object) -> PolicyCard:
    """The card of `next_deal_ppo` with small tables and a small search."""
    return PolicyCard(
        *("next_deal_ppo", rules_fields(rules), "features", "distinct", [8, 4, 8, 8]),
        dict(training),
        decisions={
            "candidates": 10,
            "expansions": 20,
            "order": "advice",
            "endings": endings,
            "ending_expansions": 40,
        },
    )


def table_weights(widths: tuple[int, ...], heads: tuple[str, ...], seed: int = 1) -> Weights:
    """Random weights of the network over positions."""
    rng = np.random.default_rng(seed)
    suit, pile, game, hidden = widths
    columns = {"suits": suit, "piles": pile, "game": game, "pairs": game}
    tables = {
        name: (0.2 * rng.normal(size=(rows, columns[name]))).astype(np.float32)
        for name, rows in TABLES.items()
    }
    weights = tables | layers(["dense"], [suit + pile + game, hidden], seed)
    for i, name in enumerate(heads, start=1):
        weights |= layers([name], [hidden, 1], seed + i)
    return weights


def candidate_weights() -> Weights:
    return table_weights((8, 4, 8, 8), ("score", "value"))


def planner_card(rules: Rules) -> PolicyCard:
    """The card of `planner` with a small network."""
    return PolicyCard("planner", rules_fields(rules), "features", "distinct", [16, 8, 24, 8])


def value_weights(seed: int = 0) -> Weights:
    """Weights for `planner_card`, with values near the middle."""
    weights = table_weights((16, 8, 24, 8), ("value",), seed)
    weights["dense.weight"] *= 0.15
    weights["value.weight"] *= 0.3
    return weights


def value_network(seed: int = 0) -> Network:
    """The network of `value_weights`."""
    return network_of(value_weights(seed), (16, 8, 24, 8), ("value",))


SMALL_RUNS = {
    "planner": [
        *("games=4", "positions=10", "expansions=5", "batch_size=32"),
        *("ending_positions=50", "ending_expansions=25"),
    ],
    "next_deal_ppo": [
        *("games=4", "n_steps=8", "batch_size=16", "layers=[8,4,8,8]", "candidates=8"),
        *("expansions=10", "ending_expansions=20", "play_candidates=8", "play_expansions=10"),
        "play_endings=search",
    ],
    "maskable_ppo": ["games=4", "n_steps=8", "batch_size=16", "layers=[8,16,8]", "max_moves=30"],
}
"""Hyperparameters with which a learner takes seconds."""
