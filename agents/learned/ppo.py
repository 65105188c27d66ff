"""`Ppo`: sb3-contrib's MaskablePPO, unmodified, as a learner on one kind of environment.

Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020).
"""

from __future__ import annotations

import abc
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.learned.sb3_state import restore_model, save_model
from four_seasons_env.agents.learned.settings import PpoSettings
from four_seasons_env.agents.policy_files import PolicyCard, rules_fields
from four_seasons_env.agents.training.learner import Learner, Pool, Update
from four_seasons_env.agents.training.weights import WeightAverage, arrays_of, save_state
from four_seasons_env.rules import Rules

_PPO_ARGUMENTS = (
    *("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range"),
    *("ent_coef", "vf_coef", "max_grad_norm"),
)
"""Hyperparameters that MaskablePPO takes under the same names."""
_AVERAGE = "average.pt"


class Ppo(Learner):
    """A model of Stable-Baselines3, and the mean of its weights."""

    run_steps = "20M"
    log_steps = 32_768
    smallest = {"games": 2, "n_steps": 64, "batch_size": 64}

    policy_class: ClassVar[Any]
    """Of Stable-Baselines3: a class, or a name that MaskablePPO knows."""
    device: ClassVar[str]
    """"auto" for a GPU if torch finds one, or "cpu"."""
    played_weights: ClassVar[dict[str, str]]
    """Prefixes of the names of the weights that a player needs, and what replaces them."""

    def __init__(
        self, rules: Rules, settings: PpoSettings, seed: int, pool: Pool | None = None
    ) -> None:
        super().__init__(rules, settings, seed, pool)
        env = self.make_games(threads=torch.get_num_threads())
        self._done = 0.0
        self.model: Any = MaskablePPO(
            self.policy_class,
            env,
            # Stable-Baselines3's own schedule follows the steps, this one also a limit of time.
            learning_rate=lambda _: settings.rate(self._done),
            **{name: getattr(settings, name) for name in _PPO_ARGUMENTS},
            policy_kwargs=self.policy_arguments(),
            device=self.device,
            seed=seed,
        )
        self.model.set_logger(Logger(None, []))
        # Stable-Baselines3 has seeded the games with seed, seed + 1, ...: two training seeds would
        # share most of their games. Here each training seed has its own games.
        env.seed(seed * settings.games)
        self.average = WeightAverage(getattr(settings, "averaging", 0.0))

    @property
    def steps(self) -> int:  # type: ignore[override]
        """Steps learned from so far."""
        return int(self.model.num_timesteps)

    def describe(self) -> str:
        """Its games, weights and device."""
        weights = sum(each.numel() for each in self.model.policy.parameters())
        return (
            f"{self.settings.games:,} games side by side, {weights:,} weights, on "
            f"{self.model.device}"
        )

    def update(self, done: float) -> Update:
        """One rollout, and what is learned from it."""
        self._done = done
        ended: list[dict[str, Any]] = []

        def note(found: dict[str, Any], _: Any) -> bool:
            ended.extend(found["infos"][i] for i in np.flatnonzero(found["dones"]))
            return True

        self.model.learn(1, note, log_interval=None, reset_num_timesteps=False)
        self.average.update(self.model.policy, self.steps)
        return Update(
            [bool(info["is_success"]) for info in ended],
            [int(info["cards_up"]) for info in ended],
            dict(self.model.logger.name_to_value),
        )

    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
        """Card and weights of the mean of the model's weights."""
        card = self.card_of(self.rules, self.settings, training)
        return card, self.weights_of(self.average.of(self.model.policy))

    @classmethod
    def card_of(cls, rules: Rules, settings: Any, training: dict[str, Any]) -> PolicyCard:
        """The card of a policy that was learned with these settings."""
        return PolicyCard(
            agent=cls.name,
            rules=rules_fields(rules),
            layers=settings.layers,
            training=training,
            **cls.network_fields(settings),
        )

    @classmethod
    def weights_of(cls, weights: dict[str, torch.Tensor]) -> dict[str, NDArray[np.float32]]:
        """Copies of the weights that a player needs, from those of a policy."""
        return arrays_of(weights, cls.played_weights)

    def save(self, folder: Path) -> None:
        """See `Learner.save`."""
        save_model(folder, self.model)
        save_state(folder / _AVERAGE, self.average.state())

    def load(self, folder: Path) -> None:
        """See `Learner.load`."""
        restore_model(folder, self.model)
        self.average.restore(torch.load(folder / _AVERAGE, weights_only=True))

    @abc.abstractmethod
    def make_games(self, seed: int | None = None, threads: int = 1) -> FourSeasonsVecEnv:
        """The games to learn from."""

    @abc.abstractmethod
    def policy_arguments(self) -> dict[str, Any]:
        """Arguments of the policy class."""

    @classmethod
    @abc.abstractmethod
    def network_fields(cls, settings: Any) -> dict[str, Any]:
        """What else a policy's card says of its network."""
