"""`Algorithm`: what a training needs to know of MaskablePPO on one kind of environment."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.learned.settings import PpoSettings, make_settings, read_settings
from four_seasons_env.agents.policy_files import PolicyCard, rules_fields
from four_seasons_env.agents.registry import Agent
from four_seasons_env.rules import Rules

_PPO_ARGUMENTS = (
    *("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range"),
    *("ent_coef", "vf_coef", "max_grad_norm"),
)
"""Hyperparameters that MaskablePPO takes under the same names."""


class Algorithm(abc.ABC):
    """sb3-contrib's MaskablePPO, unmodified, with an environment and a policy class."""

    name: ClassVar[str]
    """Registered name of its agent, and of its YAML file."""
    schema: ClassVar[type[PpoSettings]]
    """Of its hyperparameters."""
    unit: ClassVar[str]
    """What a step is, in the plural: "moves" or "decisions"."""
    threads: ClassVar[int | None]
    """Threads of torch and of the games in training; None: as many as torch uses."""
    policy_class: ClassVar[Any]
    """Of Stable-Baselines3: a class, or a name that MaskablePPO knows."""
    device: ClassVar[str]
    """"auto" for a GPU if torch finds one, or "cpu"."""
    played_weights: ClassVar[tuple[str, ...]]
    """Prefixes of the names of the weights that a player needs."""

    def read_settings(self, overrides: Iterable[str] = ()) -> PpoSettings:
        """The hyperparameters; see `four_seasons_env.agents.learned.settings.read_settings`."""
        return read_settings(self.schema, self.name, overrides)

    def settings_from(self, values: dict[str, Any]) -> PpoSettings:
        """The hyperparameters from a dictionary that holds all of them."""
        return make_settings(self.schema, values, self.name)

    def make_model(
        self,
        env: FourSeasonsVecEnv,
        settings: PpoSettings,
        seed: int,
        learning_rate: Callable[[float], float] | None = None,
    ) -> MaskablePPO:
        """A model that has not learned.

        Args:
            env: the games.
            settings: the hyperparameters.
            seed: of the network and of exploration.
            learning_rate: a function of the share of the run that remains; by default the
                settings'.
        """
        return MaskablePPO(
            self.policy_class,
            env,
            learning_rate=learning_rate or settings.falling_rate,
            **{name: getattr(settings, name) for name in _PPO_ARGUMENTS},
            policy_kwargs=self.policy_arguments(settings),
            device=self.device,
            seed=seed,
        )

    def policy_of(
        self, model: Any, settings: PpoSettings, rules: Rules, training: dict[str, Any]
    ) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
        """Card and weights of a model's policy, for
        `four_seasons_env.agents.policy_files.save_policy`.

        Args:
            model: of Stable-Baselines3, during or after training.
            settings: its hyperparameters.
            rules: the rule set that it is trained on.
            training: `PolicyCard.training`.
        """
        card = PolicyCard(
            agent=self.name,
            rules=rules_fields(rules),
            training=training,
            **self.network_fields(settings),
        )
        return card, self.weights_of(model)

    def weights_of(self, model: Any) -> dict[str, NDArray[np.float32]]:
        """Copies of the weights that a player needs."""
        return {
            name: tensor.detach().cpu().numpy().copy()
            for name, tensor in model.policy.state_dict().items()
            if name.startswith(self.played_weights)
        }

    @abc.abstractmethod
    def make_games(
        self, settings: Any, rules: Rules, seed: int | None = None, threads: int = 1
    ) -> FourSeasonsVecEnv:
        """The games to learn from."""

    @abc.abstractmethod
    def policy_arguments(self, settings: Any) -> dict[str, Any]:
        """Arguments of the policy class."""

    @abc.abstractmethod
    def network_fields(self, settings: Any) -> dict[str, Any]:
        """What a policy's card says of its network."""

    @abc.abstractmethod
    def card_of_zip(self, path: Path, model: Any, rules: Rules) -> PolicyCard:
        """The card of a model from a zip of Stable-Baselines3.

        Args:
            path: of the zip, for error messages.
            model: found there.
            rules: the rule set to play.

        Raises:
            PolicyFileError: for a model of another shape.
        """

    @abc.abstractmethod
    def choice_of(
        self, teacher: Agent, env: FourSeasonsVecEnv, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The teacher's actions, int64 of shape (n,); -1 where it has none."""
