"""Environments in any order of reset, step, copy and pickle, against the slow model.

Hypothesis chooses what is done next. After every step each game of the environment has to be where
the slow model is, its mask has to be the slow model's legal moves, and copies taken on the way have
to stay what they were and play as their original does.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import cloudpickle
import gymnasium as gym
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from four_seasons_env import FourSeasonsEnv, FourSeasonsVectorEnv
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.rules import RULES, Rules
from tests.helpers import board, numbered_deck, small, training_deals
from tests.reference.slow_model import SlowGame

COPIERS: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "cloudpickle": lambda env: pickle.loads(cloudpickle.dumps(env)),
}
MOST_MOVES = 40


KINDS: dict[str, dict[str, Any]] = {
    "single": {},
    "vector": {},
    "vector without copies": {"copy": False},
    "threads": {"num_threads": 2},
}


def made(kind: str, rules: Rules) -> gym.vector.VectorEnv[Any, Any, Any]:
    """An environment of a kind; a single one as Gymnasium's batch of one."""
    how = {"rules": rules, "max_moves": MOST_MOVES} | KINDS[kind]
    if kind == "single":
        one = partial(FourSeasonsEnv, **how)
        return gym.vector.SyncVectorEnv([one], autoreset_mode=gym.vector.AutoresetMode.SAME_STEP)
    return FourSeasonsVectorEnv(3, **how)


class Player:
    """An environment with slow models of its games."""

    def __init__(self, kind: str, rules: Rules) -> None:
        self.rules = rules
        self.env = made(kind, rules)
        self.names = [str(move) for move in all_moves(rules)]

    def reset(self, seed: int) -> None:
        self.env.reset(seed=seed)
        self.deals = [iter(training_deals(seed + i, 100)) for i in range(self.env.num_envs)]
        self.models = [self.next_model(i) for i in range(self.env.num_envs)]

    def next_model(self, game: int) -> SlowGame:
        deck = numbered_deck(next(self.deals[game]), self.rules.ranks)
        return SlowGame(self.rules, deck)

    def step(self, choices: list[int], legal: list[bool]) -> None:
        actions = np.zeros(self.env.num_envs, np.int64)
        for i, model in enumerate(self.models):
            allowed = [self.names.index(name) for name in sorted(model.legal_moves())]
            others = [action for action in range(len(self.names)) if action not in allowed]
            of = allowed if legal[i] and allowed else others or allowed
            actions[i] = of[choices[i] % len(of)]
            if actions[i] in allowed:
                model.play(self.names[actions[i]])
        _, _, terminated, truncated, _ = self.env.step(actions)
        for i in np.flatnonzero(terminated | truncated):
            self.models[i] = self.next_model(i)

    def check(self) -> None:
        games, masks = self.env.call("game"), self.env.call("action_masks")
        for game, mask, model in zip(games, masks, self.models, strict=True):
            assert board(game) == board(model)
            assert {self.names[i] for i in np.flatnonzero(mask)} == (
                set() if model.is_over else model.legal_moves()
            )

    def copied(self, how: str) -> Player:
        other = copy.copy(self)
        other.env = COPIERS[how](self.env)
        other.models = copy.deepcopy(self.models)
        kept = [list(deals) for deals in self.deals]
        self.deals = [iter(deals) for deals in kept]
        other.deals = [iter(deals) for deals in kept]
        return other


class Environments(RuleBasedStateMachine):
    """Environments, each with its models."""

    players = Bundle("players")

    @initialize(
        target=players,
        kind=st.sampled_from(list(KINDS)),
        name=st.sampled_from(list(RULES)),
        ranks=st.integers(4, 13),
        seed=st.integers(0, 2**40),
    )
    def start(self, kind: str, name: str, ranks: int, seed: int) -> Player:
        piles = RULES[name].piles if ranks > 6 else 2
        player = Player(kind, small(name, ranks=ranks, piles=piles))
        player.reset(seed)
        self.all = [player]
        return player

    @rule(player=players, seed=st.integers(0, 2**40))
    def reset(self, player: Player, seed: int) -> None:
        player.reset(seed)

    @rule(
        player=players,
        choices=st.lists(st.integers(0, 10**6), min_size=3, max_size=3),
        legal=st.lists(st.integers(0, 9).map(bool), min_size=3, max_size=3),
        times=st.integers(1, 12),
    )
    def step(self, player: Player, choices: list[int], legal: list[bool], times: int) -> None:
        for turn in range(times):
            player.step([choice + 7 * turn for choice in choices], legal)
            player.check()

    @rule(target=players, player=players, how=st.sampled_from(list(COPIERS)))
    @precondition(lambda self: len(self.all) < 6)
    def copy(self, player: Player, how: str) -> Any:
        other = player.copied(how)
        self.all.append(other)
        return multiple(other)

    @invariant()
    def each_is_where_its_models_are(self) -> None:
        for player in getattr(self, "all", []):
            player.check()


SETTINGS = settings(
    max_examples=6,
    stateful_step_count=12,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestEnvironments = Environments.TestCase
TestEnvironments.settings = SETTINGS


class ManyEnvironments(Environments):
    """The same, more often."""


TestManyEnvironments = pytest.mark.slow(ManyEnvironments.TestCase)
TestManyEnvironments.settings = settings(SETTINGS, max_examples=100, stateful_step_count=30)
