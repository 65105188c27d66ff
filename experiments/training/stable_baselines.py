"""Training of Stable-Baselines3's algorithms, as `four_seasons_env.agents.learned.algorithms`
lists them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback

from four_seasons_env.agents.learned.algorithm import Algorithm
from four_seasons_env.agents.learned.algorithms import get_algorithm
from four_seasons_env.agents.learned.cloning import clone
from four_seasons_env.agents.learned.loading import PLAYERS
from four_seasons_env.agents.learned.sb3_internals import schedule_by
from four_seasons_env.agents.learned.settings import PpoSettings
from four_seasons_env.agents.policy_files import PolicyCard
from four_seasons_env.agents.registry import AGENTS
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.parallel.pool import Pool
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.learner import Learner, Trainer
from four_seasons_env.experiments.training.model_state import restore_model, save_model
from four_seasons_env.experiments.training.monitor import Monitor
from four_seasons_env.rules import Rules, nearest


class StableBaselinesTrainer(Trainer):
    """An algorithm by its agent's name."""

    steps = "20M"
    log_steps = 32_768
    uses_workers = False

    def __init__(self, agent: str) -> None:
        algorithm = self.algorithm = get_algorithm(agent)
        self.name, self.unit, self.schema = algorithm.name, algorithm.unit, algorithm.schema
        self.threads = algorithm.threads

    def read_settings(self, overrides: Iterable[str] = ()) -> PpoSettings:
        """See `Trainer.read_settings`."""
        return self.algorithm.read_settings(overrides=overrides)

    def settings_from(self, values: dict[str, Any]) -> PpoSettings:
        """See `Trainer.settings_from`."""
        return self.algorithm.settings_from(values)

    def check_warm_start(self, teacher: str, rules: Rules) -> None:
        """It can imitate any agent that does not learn."""
        teachers = [name for name, entry in AGENTS.items() if not entry.learns]
        if teacher not in teachers:
            raise ValueError(
                f"no teacher {teacher!r} for a warm start: {nearest(teacher, teachers)}"
            )

    def compile(self, settings: PpoSettings, rules: Rules, pool: Pool) -> None:
        """Learn from a few steps and drop the model; the next one seeds all random states."""
        small = dataclasses.replace(settings, games=2, batch_size=2)
        games = self.algorithm.make_games(small, rules, seed=0)
        self.algorithm.make_model(games, small, 0).learn(2)

    def start(
        self, settings: PpoSettings, rules: Rules, seed: int, clock: Clock, pool: Pool
    ) -> Learner:
        """See `Trainer.start`."""
        return StableBaselinesLearner(self.algorithm, settings, rules, seed, clock)


class StableBaselinesLearner(Learner):
    """A model of Stable-Baselines3 and the mean of its weights."""

    def __init__(
        self, algorithm: Algorithm, settings: PpoSettings, rules: Rules, seed: int, clock: Clock
    ) -> None:
        self._algorithm, self._settings, self._rules = algorithm, settings, rules
        self._seed, self._clock = seed, clock
        env = algorithm.make_games(settings, rules, threads=torch.get_num_threads())
        self.model: Any = algorithm.make_model(env, settings, seed)
        # Stable-Baselines3 has seeded the games with seed, seed + 1, ...: two training seeds would
        # share most of their games. Here each training seed has games of its own.
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

    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
        """Card and weights of the mean of the model's weights."""
        self.average.update(self.model, self.steps)
        with self.average.in_place_of(self.model):
            return self._algorithm.policy_of(self.model, self._settings, self._rules, training)

    def play_deals(
        self, card: PolicyCard, weights: dict[str, NDArray[np.float32]], deals: range
    ) -> pd.DataFrame:
        """Play deals with a policy, all of them side by side."""
        player = PLAYERS[card.agent](self._rules, card, weights)
        return play_deals(player, self._rules, deals)

    def warm_start(self, teacher: str) -> None:
        """Imitate an agent before learning (`four_seasons_env.agents.learned.cloning`)."""
        clone(self.model, self._algorithm, self._settings, self._rules, self._seed, teacher)

    def learn(self, monitor: Monitor) -> None:
        """Learn until the monitor ends the run."""
        self.model.set_logger(monitor.logger)
        self.model.learn(
            self._clock.steps - self.steps,
            callback=_TrainingCallback(monitor, self.average),
            log_interval=None,
            reset_num_timesteps=not self._resumed,
        )

    def save(self, folder: Path) -> None:
        """See `Learner.save`."""
        save_model(folder, self.model)
        torch.save(self.average.state(), folder / _AVERAGE)

    def restore(self, folder: Path) -> None:
        """See `Learner.restore`."""
        self._resumed = True
        restore_model(folder, self.model)
        self.average.restore(torch.load(folder / _AVERAGE, weights_only=True))


_AVERAGE = "average.pt"


class _TrainingCallback(BaseCallback):
    """Reports games and rollouts to the monitor, and stops the model when the monitor says so."""

    def __init__(self, monitor: Monitor, average: WeightAverage) -> None:
        super().__init__()
        self._monitor = monitor
        self._average = average
        self._stops = False

    def _on_training_start(self) -> None:
        # Stable-Baselines3 lets the learning rate fall with the steps; here it falls with the
        # clock, for runs with a limit of time.
        schedule_by(self.model, lambda: 1.0 - self._monitor.clock.done)

    def _on_step(self) -> bool:
        self._monitor.clock.done_steps = self.num_timesteps
        ended = [self.locals["infos"][i] for i in np.flatnonzero(self.locals["dones"])]
        self._monitor.add_games(
            [info["is_success"] for info in ended], [info["cards_up"] for info in ended]
        )
        return not self._stops

    def _on_rollout_start(self) -> None:
        self._average.update(self.model, self.model.num_timesteps)
        self._stops = self._monitor.between_updates()


class WeightAverage:
    """A running mean of the weights over about the last part of a run.

    The latest weights of a policy vary with every batch of games; their mean varies less and plays
    better (Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992).
    Learning itself uses the latest weights.

    Args:
        share: share of the steps so far that the mean covers; 0: only the latest weights.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self.steps = 0
        self.weights: dict[str, torch.Tensor] = {}

    def update(self, model: Any, steps: int) -> None:
        """Add a model's weights after this number of steps, unless that number was added."""
        if not self._share or steps <= self.steps:
            return
        latest = model.policy.state_dict()
        weight = min(1.0, (steps - self.steps) / (self._share * steps))
        if not self.weights:
            self.weights = {name: each.detach().clone() for name, each in latest.items()}
        for name, mean in self.weights.items():
            mean.lerp_(latest[name], weight)
        self.steps = steps

    @contextmanager
    def in_place_of(self, model: Any) -> Iterator[None]:
        """Give a model the mean as its weights within a block."""
        if not self.weights:
            yield
            return
        latest = {name: each.clone() for name, each in model.policy.state_dict().items()}
        model.policy.load_state_dict(self.weights)
        try:
            yield
        finally:
            model.policy.load_state_dict(latest)

    def state(self) -> dict[str, Any]:
        """The part of a checkpoint."""
        return {"steps": self.steps, "weights": self.weights}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a `state`."""
        self.steps, self.weights = state["steps"], state["weights"]
