"""Players of other people: classes and functions, as a package outside ours would have them."""

import random

import numpy as np

from four_seasons_env.agents import policy
from four_seasons_env.engine import kernel

HERE = __name__
"""The module's name, for names of agents such as f"{HERE}:First"."""


def any_of(masks, numbers):
    """The legal action with the highest number in each row."""
    return np.where(masks, numbers, -1).argmax(axis=1)


class First:
    """Plays the first legal move."""

    def act(self, games, masks, rng):
        return masks.argmax(axis=1)


class Last:
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

    plays = "stochastic"

    def __init__(self, rules):
        self.kind, self.mask = rules.name, "legal" if rules.name == "czarina" else "distinct"


class Both(First):
    """Is told how to play."""

    plays = ("deterministic", "stochastic")

    def __init__(self, deterministic):
        self.deterministic = deterministic


class Drawn:
    """Draws without the random numbers that it is given."""

    plays = "stochastic"

    def act(self, games, masks, rng):
        return any_of(masks, np.array([[random.random() for _ in row] for row in masks]))


@policy("FourSeasons-v0", plays=("stochastic",), mask="distinct")
def drawn_by_torch(observations, masks, rng):
    import torch

    return any_of(masks, torch.rand(masks.shape).numpy())


@policy("FourSeasonsNextDeal-v0", plays="stochastic", candidates=8)
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


# --- that cannot play -----------------------------------------------------------------------------


def plain(observations, masks, rng):
    """A policy that does not say for which environment."""
    return masks.argmax(axis=1)


class Short:
    def act(self, games, masks):
        return masks.argmax(axis=1)


class OddMask(First):
    mask = "legall"


class OddPlays(First):
    plays = ("stochastc",)


class Untold(First):
    kind = None


class Lettered(First):
    train_seed = "a"


class Floats(First):
    mask = "legal"

    def act(self, games, masks, rng):
        return masks.argmax(axis=1).astype(float)


class Broken:
    """Fails when it is made."""

    def __init__(self):
        {}["mine"]


class Deep:
    """Needs an argument that no option has given."""

    def __init__(self, depth):
        pass


class Failing:
    """Fails at its first move."""

    def act(self, games, masks, rng):
        return self.first(games)

    def first(self, games):
        return {}["nobody"]


class Shuttle:
    """Moves a card back and forth as soon as it can, and ignores the mask."""

    def __init__(self, rules):
        self.rules, self.rule = rules, kernel.compile_rules(rules)

    def act(self, games, masks, rng):
        words, legal = kernel.new_masks(len(games), self.rules)
        kernel.legal_all(games, self.rule, False, words, np.zeros(len(games), bool))
        return legal.shape[1] - 1 - legal[:, ::-1].argmax(axis=1)
