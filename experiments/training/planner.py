"""Training of the planner, which learns from games that it plays against itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.learned.settings import make_settings
from four_seasons_env.agents.planner import value_learning as planner
from four_seasons_env.agents.planner.value_network import Network
from four_seasons_env.agents.planner.weights import AGENT, load_network, network_of, policy_of
from four_seasons_env.agents.registry import split_name
from four_seasons_env.experiments.parallel.pool import Pool
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.learner import Learner, Trainer
from four_seasons_env.experiments.training.planner_games import PlannerGames
from four_seasons_env.rules import Rules

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from four_seasons_env.agents.policy_files import PolicyCard
    from four_seasons_env.experiments.training.monitor import Monitor

_ARRAYS = "arrays.npz"


def _network(teacher: str, rules: Rules) -> Network:
    """The network that a planner's name stands for; it may be trained on other rules.

    Raises:
        ValueError: if the name is not a planner's, or its weights cannot be used.
        FileNotFoundError: if there are no weights.
    """
    name = split_name(teacher)
    if name.registered != AGENT or name.options:
        raise ValueError(
            f"the planner starts from a planner's weights, not from {teacher!r}: write planner, or "
            "planner:FOLDER"
        )
    folder = name.path or bundled_weights(AGENT, rules.name)
    return load_network(folder, rules, any_rules=True)[1]


class PlannerTrainer(Trainer):
    """TD(lambda) of the planner; a step is a game."""

    name = AGENT
    unit = "games"
    schema = planner.Hyperparameters
    steps = "300k"
    log_steps = 2560
    threads = 1
    uses_workers = True

    def read_settings(self, overrides: Iterable[str] = ()) -> planner.Hyperparameters:
        """See `Trainer.read_settings`."""
        return planner.read_hyperparameters(overrides=overrides)

    def settings_from(self, values: dict[str, Any]) -> planner.Hyperparameters:
        """See `Trainer.settings_from`."""
        return make_settings(planner.Hyperparameters, values, AGENT)

    def check_warm_start(self, teacher: str, rules: Rules) -> None:
        """It can start from a planner's weights, of any rules: `planner`, or `planner:FOLDER`."""
        _network(teacher, rules)

    def compile(self, settings: planner.Hyperparameters, rules: Rules, pool: Pool) -> None:
        """Learn from one game of each worker, with little search."""
        small = {"games": pool.size, "nodes": 2, "expansions": 1, "batch_size": 1}
        small |= {"endgame_nodes": 2, "endgame_expansions": 1}
        tiny = dataclasses.replace(settings, **small)
        planner.ValueLearner(rules, tiny, 0, PlannerGames(rules, tiny, pool).play).update(0.0)

    def start(
        self, settings: planner.Hyperparameters, rules: Rules, seed: int, clock: Clock, pool: Pool
    ) -> Learner:
        """See `Trainer.start`."""
        return PlannerLearner(settings, rules, seed, clock, pool)


class PlannerLearner(Learner):
    """The planner's learner in a run."""

    def __init__(
        self, settings: planner.Hyperparameters, rules: Rules, seed: int, clock: Clock, pool: Pool
    ) -> None:
        self._settings, self._rules, self._clock, self._pool = settings, rules, clock, pool
        self._games = PlannerGames(rules, settings, pool)
        self._learner = planner.ValueLearner(rules, settings, seed, self._games.play)

    @property
    def steps(self) -> int:
        """Games played so far."""
        return self._learner.games

    def describe(self) -> str:
        """Its games, weights and workers."""
        weights = sum(each.size for each in self._learner.network)
        return (
            f"{self._settings.games:,} games between two updates, played {self._pool}, "
            f"{weights:,} weights"
        )

    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
        """Card and weights of the mean network."""
        return policy_of(self._learner.average, self._rules, training)

    def play_deals(
        self, card: PolicyCard, weights: dict[str, NDArray[np.float32]], deals: range
    ) -> pd.DataFrame:
        """Play deals with the search limits of training, and without votes."""
        return self._games.validate(network_of(weights), deals)

    def warm_start(self, teacher: str) -> None:
        """Start from a planner's weights."""
        self._learner.start_from(_network(teacher, self._rules))

    def learn(self, monitor: Monitor) -> None:
        """Play and learn until the monitor ends the run."""
        while not monitor.between_updates():
            done, elsewhere = self._clock.done, self._pool.core_seconds
            won, loss = self._learner.update(done)
            self._clock.add_core_seconds(self._pool.core_seconds - elsewhere)
            games = self._settings.games
            monitor.add_games([True] * won + [False] * (games - won))
            monitor.logger.record("train/loss", loss)
            monitor.logger.record("train/learning_rate", self._learner.learning_rate(done))

    def save(self, folder: Path) -> None:
        """See `Learner.save`."""
        self._learner.save(folder / _ARRAYS)

    def restore(self, folder: Path) -> None:
        """See `Learner.restore`."""
        self._learner.load(folder / _ARRAYS)
