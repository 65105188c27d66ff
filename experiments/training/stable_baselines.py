"""Trainings of Stable-Baselines3's algorithms, as `four_seasons_env.agents.learned.algorithms`
lists them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from four_seasons_env.agents.learned.algorithms import Algorithm
from four_seasons_env.agents.learned.cloning import clone
from four_seasons_env.agents.learned.settings import Settings
from four_seasons_env.agents.policy_files import PolicyCard
from four_seasons_env.agents.registry import AGENTS
from four_seasons_env.experiments.evaluation.play import play_deals
from four_seasons_env.experiments.parallel.pool import Pool
from four_seasons_env.experiments.training.average import WeightAverage
from four_seasons_env.experiments.training.callback import TrainingCallback
from four_seasons_env.experiments.training.checkpoints import restore_checkpoint, save_checkpoint
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.learner import Learner, Trainer
from four_seasons_env.experiments.training.monitor import Monitor
from four_seasons_env.rules import Rules, nearest


class StableBaselinesTrainer(Trainer):
    """One of `four_seasons_env.agents.learned.algorithms.ALGORITHMS`."""

    steps = "20M"
    log_steps = 32_768
    counts_cards_up = True
    uses_workers = False

    def __init__(self, algorithm: Algorithm) -> None:
        self.algorithm = algorithm
        self.name, self.unit, self.schema = algorithm.name, algorithm.unit, algorithm.schema
        self.threads = algorithm.threads

    def read_settings(self, path: Path | None = None, overrides: Iterable[str] = ()) -> Settings:
        """Its hyperparameters; see `four_seasons_env.agents.learned.settings.read_settings`."""
        return self.algorithm.read_settings(path, overrides)

    def settings_from(self, values: dict[str, Any]) -> Settings:
        """Its hyperparameters from a dictionary that holds all of them."""
        return self.algorithm.settings_from(values)

    def check_warm_start(self, teacher: str, rules: Rules) -> str:
        """It imitates any agent that does not learn."""
        teachers = [name for name, entry in AGENTS.items() if not entry.learns]
        if teacher not in teachers:
            raise ValueError(
                f"no teacher {teacher!r} for a warm start: {nearest(teacher, teachers)}"
            )
        return teacher

    def compile(self, settings: Settings, rules: Rules, pool: Pool) -> None:
        """Learn from a few steps and drop the model; the next one seeds all random states."""
        small = dataclasses.replace(settings, games=2, batch_size=2)
        games = self.algorithm.make_games(small, rules, seed=0)
        self.algorithm.make_model(games, small, 0).learn(2)

    def start(
        self, settings: Settings, rules: Rules, seed: int, clock: Clock, pool: Pool
    ) -> Learner:
        """A learner at its first step."""
        return StableBaselinesLearner(self.algorithm, settings, rules, seed, clock)


class StableBaselinesLearner(Learner):
    """A model of Stable-Baselines3 and the mean of its weights."""

    def __init__(
        self, algorithm: Algorithm, settings: Settings, rules: Rules, seed: int, clock: Clock
    ) -> None:
        self._algorithm, self._settings, self._rules = algorithm, settings, rules
        self._seed, self._clock = seed, clock
        env = algorithm.make_games(settings, rules, threads=torch.get_num_threads())
        self.model = algorithm.make_model(env, settings, seed)
        # Stable-Baselines3 has seeded the games with seed, seed + 1, ...: most of them would be the
        # next training seed's too. Here each training seed has games of its own.
        env.seed(seed * settings.games)
        self.average = WeightAverage(getattr(settings, "averaging", 0.0))
        self._resumed = False

    @property
    def steps(self) -> int:
        """Steps learned from so far."""
        return int(self.model.num_timesteps)

    def describe(self) -> str:
        """Its games, weights and device."""
        weights = sum(each.numel() for each in self.model.policy.parameters())
        return (
            f"{self._settings.games:,} games side by side, {weights:,} weights, on "
            f"{self.model.device}"
        )

    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """Card and weights of the mean of the model's weights."""
        self.average.update(self.model, self.steps)
        with self.average.in_place_of(self.model):
            return self._algorithm.policy_of(self.model, self._settings, self._rules, training)

    def play_deals(
        self, card: PolicyCard, weights: dict[str, torch.Tensor], deals: range
    ) -> pd.DataFrame:
        """Play deals by a policy, all of them side by side."""
        return play_deals(self._algorithm.player(card, weights, self._rules), self._rules, deals)

    def warm_start(self, teacher: str) -> None:
        """Imitate an agent before learning (`four_seasons_env.agents.learned.cloning`)."""
        clone(self.model, self._algorithm, self._settings, self._rules, self._seed, teacher)

    def learn(self, monitor: Monitor) -> None:
        """Learn until the monitor ends the run."""
        self.model.set_logger(monitor.logger)
        self.model.learn(
            self._clock.steps - self.steps,
            callback=TrainingCallback(monitor, self.average),
            log_interval=None,
            reset_num_timesteps=not self._resumed,
        )

    def save(self, folder: Path, state: dict[str, Any]) -> None:
        """Write a checkpoint."""
        save_checkpoint(folder, self.model, self.average, state)

    def restore(self, folder: Path) -> dict[str, Any]:
        """Continue from a checkpoint."""
        self._resumed = True
        return restore_checkpoint(folder, self.model, self.average)
