"""Fakes: agents as a package outside ours would have them, and policies that have learned nothing.

The policies are made without torch.
"""

import random
from dataclasses import dataclass

import numpy as np

from four_seasons_env.agents import Agent, policy
from four_seasons_env.agents.network.evaluation import Network, network_of
from four_seasons_env.agents.network.rows import MOVE_ROWS, ROWS, kinds_of
from four_seasons_env.agents.policy_files import PolicyCard, rules_fields
from four_seasons_env.agents.training import Learner
from four_seasons_env.engine import kernel
from four_seasons_env.positions.features import TABLES
from four_seasons_env.rules import Rules

HERE = __name__
"""The module's name, for names of agents such as f"{HERE}:First"."""

# --- agents ---------------------------------------------------------------------------------------


def any_of(masks, numbers):
    """The legal action with the highest number in each row."""
    return np.where(masks, numbers, -1).argmax(axis=1)


class First(Agent):
    """Has nothing but `act`: the first legal move."""

    def act(self, games, masks, rng):
        return masks.argmax(axis=1)


class Last(Agent):
    """Plays the last one, and has an option."""

    kind, mask = "rule of thumb", "distinct"

    def __init__(self, rules, depth=1):
        self.rules, self.depth = rules, depth

    def act(self, games, masks, rng):
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)


class Dated(First):
    kind, train_seed = "learned", 20240917


class Later(Dated):
    train_seed = 20240918


class ByRules(First):
    """Describes itself by the rule set."""

    plays = ("stochastic",)

    def __init__(self, rules):
        self.kind, self.mask = rules.name, "legal" if rules.name == "czarina" else "distinct"


class Both(First):
    """Is told how to play."""

    plays = ("deterministic", "stochastic")

    def __init__(self, deterministic):
        self.deterministic = deterministic


class Drawn(Agent):
    """Draws without the random numbers that it is given."""

    plays = ("stochastic",)

    def act(self, games, masks, rng):
        return any_of(masks, np.array([[random.random() for _ in row] for row in masks]))


@policy("FourSeasons-v0", plays=("stochastic",), mask="distinct")
def drawn_by_torch(observations, masks, rng):
    import torch

    return any_of(masks, torch.rand(masks.shape).numpy())


@policy("FourSeasonsNextDeal-v0", plays=("stochastic",), candidates=8)
def drawn_by_rng(observations, masks, rng):
    assert observations["observation"].shape[:2] == masks.shape
    return any_of(masks, rng.random(masks.shape))


@policy("FourSeasonsNextDeal-v0", plays=("deterministic", "stochastic"), candidates=8)
def both(observations, masks, rng, deterministic):
    return masks.argmax(axis=1) if deterministic else any_of(masks, rng.random(masks.shape))


@policy("FourSeasons-v0", plays=("deterministic", "stochastic"), block=5)
def seeded(observations, masks, rng, deterministic, train_seed=0, width: float = 1):
    random_numbers = np.random.default_rng(train_seed) if deterministic else rng
    return any_of(masks, random_numbers.random(masks.shape) * width)


# --- agents that cannot play ----------------------------------------------------------------------


def plain(observations, masks, rng):
    """A policy that does not say for which environment."""
    return masks.argmax(axis=1)


class Alike:
    """Looks like an agent, and is not derived from `Agent`."""

    mask, plays, kind, block = "distinct", ("deterministic",), "rule of thumb", 10

    def act(self, games, masks, rng):
        return masks.argmax(axis=1)


def maker(rules):
    """Makes an agent, and is no class."""
    return First()


class OddMask(First):
    """Names its mask when it is made."""

    def __init__(self):
        self.mask = "legall"


class Lettered(First):
    train_seed = "a"


class NoPlayer(Learner):
    """A learner whose policies nothing plays."""

    @dataclass
    class schema:
        games: int = 1


class Loaded(First):
    """Plays a policy."""

    def __init__(self, rules, card, weights):
        pass


class NoSchema(Learner):
    """A learner without hyperparameters."""

    player = Loaded


class Floats(First):
    mask = "legal"

    def act(self, games, masks, rng):
        return masks.argmax(axis=1).astype(float)


class Unsigned(First):
    def act(self, games, masks, rng):
        return np.full(len(games), 2**64 - 1, np.uint64)


class Broken(First):
    """Fails when it is made."""

    def __init__(self):
        {}["mine"]


class Deep(First):
    """Needs an argument that no option has given."""

    def __init__(self, depth):
        pass


class Failing(Agent):
    """Fails at its first move."""

    def act(self, games, masks, rng):
        return self.first(games)

    def first(self, games):
        return {}["nobody"]


class Shuttle(Agent):
    """Moves a card back and forth as soon as it can, and ignores the mask."""

    def __init__(self, rules):
        self.rules, self.rule = rules, kernel.compile_rules(rules)

    def act(self, games, masks, rng):
        words, legal = kernel.new_masks(len(games), self.rules)
        kernel.legal_all(games, self.rule, False, words, np.zeros(len(games), bool))
        return legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)


# --- policies -------------------------------------------------------------------------------------

Weights = dict[str, np.ndarray]


def drawn(shapes: dict[str, tuple[int, ...]], seed: int = 0, scale: float = 1) -> Weights:
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, scale, shape).astype(np.float32) for name, shape in shapes.items()}


def card_of(agent: str, rules: Rules, observation: str, mask: str, *layers: int) -> PolicyCard:
    return PolicyCard(agent, rules_fields(rules), observation, mask, list(layers))


def move_card(rules: Rules, **training: object) -> PolicyCard:
    """The card of `maskable_ppo` with small layers."""
    card = card_of("maskable_ppo", rules, "places", "no_repeats", 8, 16, 8)
    card.training = training
    return card


def move_weights(ranks: int = 13) -> Weights:
    kinds, move_kinds = (int(each.max()) + 1 for each in kinds_of(ranks))
    return drawn(
        {
            "encoder.table.rows": (ROWS, 8),
            "encoder.table.shared": (kinds, 8),
            "moves.rows": (MOVE_ROWS, 16),
            "moves.shared": (move_kinds, 16),
            "score": (16,),
            "dense.weight": (16, 8),
            "dense.bias": (16,),
        }
    )


def candidate_card(rules: Rules, endings: str = "search", **training: object) -> PolicyCard:
    """The card of `next_deal_ppo` with small tables and a small search."""
    card = card_of("next_deal_ppo", rules, "features", "distinct", 8, 4, 8, 8)
    limits = {"candidates": 10, "expansions": 20, "ending_expansions": 40}
    card.training, card.decisions = training, limits | {"order": "advice", "endings": endings}
    return card


def table_weights(widths: tuple[int, ...], heads: tuple[str, ...], seed: int = 1) -> Weights:
    """Random weights of the network over positions."""
    suit, pile, game, hidden = widths
    columns = {"suits": suit, "piles": pile, "game": game, "pairs": game}
    shapes = {name: (rows, columns[name]) for name, rows in TABLES.items()}
    layers = {"dense": (hidden, suit + pile + game)} | dict.fromkeys(heads, (1, hidden))
    weights = drawn(shapes, seed, 0.2)
    for i, (name, shape) in enumerate(layers.items()):
        weights |= drawn({f"{name}.weight": shape, f"{name}.bias": shape[:1]}, seed + i)
    return weights


def candidate_weights() -> Weights:
    return table_weights((8, 4, 8, 8), ("score", "value"))


def planner_card(rules: Rules) -> PolicyCard:
    """The card of `planner` with a small network."""
    return card_of("planner", rules, "features", "distinct", 16, 8, 24, 8)


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
