"""What `four-seasons train` needs from an algorithm: a `Trainer`, which starts a `Learner`."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from four_seasons_env.agents.registry import AGENTS
from four_seasons_env.rules import Rules, nearest

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from four_seasons_env.agents.policy_files import PolicyCard
    from four_seasons_env.experiments.parallel.pool import Pool
    from four_seasons_env.experiments.training.clock import Clock
    from four_seasons_env.experiments.training.monitor import Monitor


class Learner(abc.ABC):
    """What learns in a run: a model with its optimiser and its games."""

    @property
    @abc.abstractmethod
    def steps(self) -> int:
        """Steps learned from so far."""

    @abc.abstractmethod
    def describe(self) -> str:
        """Its size, for the first line that a run prints."""

    @abc.abstractmethod
    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
        """Card and weights of the policy learned so far.

        Args:
            training: the origin of the policy, for the card.
        """

    @abc.abstractmethod
    def play_deals(
        self, card: PolicyCard, weights: dict[str, NDArray[np.float32]], deals: range
    ) -> pd.DataFrame:
        """Play deals with a policy, for validation; see
        `four_seasons_env.experiments.matches.play.play_deals`."""

    @abc.abstractmethod
    def warm_start(self, teacher: str) -> None:
        """Start from an agent that `Trainer.check_warm_start` accepts."""

    @abc.abstractmethod
    def learn(self, monitor: Monitor) -> None:
        """Learn until the monitor ends the run; calls `Monitor.between_updates`."""

    @abc.abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything that learning depends on into the folder of a checkpoint."""

    @abc.abstractmethod
    def restore(self, folder: Path) -> None:
        """Continue from the folder of a checkpoint, of a run with the same settings and seed."""


class Trainer(abc.ABC):
    """An algorithm."""

    name: str
    """Registered name of its agent."""
    unit: str
    """What a step is, in the plural."""
    schema: type[Any]
    """Dataclass of its hyperparameters."""
    steps: str
    """Steps of a run by default."""
    log_steps: int
    """Most steps between two rows of the log."""
    threads: int | None
    """Threads of torch while it learns; None: torch's own choice."""
    uses_workers: bool
    """Whether its games are split over workers."""

    @abc.abstractmethod
    def read_settings(self, overrides: Iterable[str] = ()) -> Any:
        """Its hyperparameters, with overrides such as "gamma=0.99"; see
        `four_seasons_env.agents.learned.settings.read_settings`."""

    @abc.abstractmethod
    def settings_from(self, values: dict[str, Any]) -> Any:
        """Its hyperparameters from a dictionary that holds all of them."""

    @abc.abstractmethod
    def check_warm_start(self, teacher: str, rules: Rules) -> None:
        """Refuse an agent that it cannot start from.

        Raises:
            ValueError: naming the agents that it can start from.
        """

    @abc.abstractmethod
    def compile(self, settings: Any, rules: Rules, pool: Pool) -> None:
        """Compile what learning needs, so that compilation does not count as learning.

        Args:
            settings: of `read_settings`.
            rules: the rule set to learn.
            pool: workers, which compile too if the algorithm uses them.
        """

    @abc.abstractmethod
    def start(self, settings: Any, rules: Rules, seed: int, clock: Clock, pool: Pool) -> Learner:
        """A learner at its first step.

        Args:
            settings: of `read_settings`.
            rules: the rule set to learn.
            seed: training seed of the deals, the network and the exploration.
            clock: learning rates fall with it.
            pool: workers, for algorithms that use them.
        """


def get_trainer(agent: str) -> Trainer:
    """The trainer of a learning agent. Unknown agents are refused before torch is imported.

    Raises:
        ValueError: for an agent that does not learn, with the nearest that does.
    """
    learning = [name for name, entry in AGENTS.items() if entry.learns]
    if agent not in learning:
        raise ValueError(f"no learning agent {agent!r}: {nearest(agent, learning)}")
    if agent == "planner":
        from four_seasons_env.experiments.training.planner import PlannerTrainer

        return PlannerTrainer()
    from four_seasons_env.experiments.training.stable_baselines import StableBaselinesTrainer

    return StableBaselinesTrainer(agent)
