"""What a training run needs of an algorithm: `Trainer` and `Learner`, whatever learns."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import torch

from four_seasons_env.agents.policy_files import PolicyCard
from four_seasons_env.experiments.parallel.pool import Pool
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.rules import Rules

if TYPE_CHECKING:
    from four_seasons_env.experiments.training.monitor import Monitor


class Learner(abc.ABC):
    """What learns in a run: a model with its optimiser and its games."""

    @property
    @abc.abstractmethod
    def steps(self) -> int:
        """Steps learned from so far."""

    @abc.abstractmethod
    def describe(self) -> str:
        """Its size, for the line that a run starts with."""

    @abc.abstractmethod
    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """Card and weights of the policy learned so far.

        Args:
            training: where the policy comes from, for the card.
        """

    @abc.abstractmethod
    def play_deals(
        self, card: PolicyCard, weights: dict[str, torch.Tensor], deals: range
    ) -> pd.DataFrame:
        """Play deals by a policy, for validation; see
        `four_seasons_env.experiments.evaluation.play.play_deals`."""

    def warm_start(self, teacher: str) -> None:
        """Start from an agent that `Trainer.check_warm_start` has let pass."""
        raise NotImplementedError

    @abc.abstractmethod
    def learn(self, monitor: Monitor) -> None:
        """Learn until the monitor ends the run; call its `between_updates` between two updates."""

    @abc.abstractmethod
    def save(self, folder: Path, state: dict[str, Any]) -> None:
        """Write a checkpoint to a folder, replacing the one before as a whole.

        Args:
            folder: of the checkpoint.
            state: the monitor's part, JSON.
        """

    @abc.abstractmethod
    def restore(self, folder: Path) -> dict[str, Any]:
        """Continue from a checkpoint; returns the monitor's part of it.

        Raises:
            ValueError: for a damaged checkpoint, or one of other settings.
        """


class Trainer(abc.ABC):
    """An algorithm as `four-seasons train` sees it."""

    name: str
    """Registered name of its agent."""
    unit: str
    """What a step is, in the plural."""
    schema: type[Any]
    """Dataclass of its hyperparameters."""
    steps: str
    """Steps of a run by default."""
    log_steps: int
    """Steps between two rows of the log at most."""
    counts_cards_up: bool
    """Whether its training games have a number of cards up."""
    threads: int | None
    """Of torch, when it learns; None: as many as torch has."""
    uses_workers: bool
    """Whether its games are split over workers."""

    @abc.abstractmethod
    def read_settings(self, path: Path | None = None, overrides: Iterable[str] = ()) -> Any:
        """Its hyperparameters; see `four_seasons_env.agents.learned.settings.read_settings`."""

    @abc.abstractmethod
    def settings_from(self, values: dict[str, Any]) -> Any:
        """Its hyperparameters from a dictionary that holds all of them."""

    @abc.abstractmethod
    def check_warm_start(self, teacher: str, rules: Rules) -> str:
        """What a run says of a start from an agent: its name, and what else tells it from others.

        Args:
            teacher: the agent.
            rules: the rule set to learn.

        Raises:
            ValueError: if it cannot start from that agent; says from which.
        """

    @abc.abstractmethod
    def compile(self, settings: Any, rules: Rules, pool: Pool) -> None:
        """Compile what learning needs, so that compilation does not count as learning.

        Args:
            settings: of `read_settings`.
            rules: the rule set to learn.
            pool: workers, if it uses them, who compile too.
        """

    @abc.abstractmethod
    def start(self, settings: Any, rules: Rules, seed: int, clock: Clock, pool: Pool) -> Learner:
        """A learner at its first step.

        Args:
            settings: of `read_settings`.
            rules: the rule set to learn.
            seed: training seed, of the deals, the network and the exploration.
            clock: learning rates fall with it.
            pool: workers, if it uses them.
        """
