"""`Learner`: the interface of all training algorithms."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from four_seasons_env.agents.plugins import load
from four_seasons_env.agents.registry import AGENTS
from four_seasons_env.agents.training.settings import read_settings
from four_seasons_env.arguments import nearest
from four_seasons_env.rules import Rules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from four_seasons_env.agents.policy_files import PolicyCard


class Pool(Protocol):
    """Plays games for a learner; `four_seasons_env.experiments.parallel.pool.Pool` is one."""

    size: int

    def over_deals(
        self, function: Callable[..., Any], about: Any, deals: Any, *shared: NDArray[Any]
    ) -> list[Any]:
        """Call ``function((about, part), *shared)`` for parts of the deals, in their order."""
        ...


class ThisProcess:
    """Plays all deals at once in this process."""

    size = 1

    def over_deals(
        self, function: Callable[..., Any], about: Any, deals: Any, *shared: NDArray[Any]
    ) -> list[Any]:
        """See `Pool.over_deals`."""
        return [function((about, deals), *shared)]


class Update(NamedTuple):
    """Results of an update."""

    won: list[bool]  # whether each training game that ended was won
    cards_up: list[int]  # at the end of these games; empty if the algorithm does not report them
    records: dict[str, float]  # for the log, by name


class Learner(abc.ABC):
    """A network with its optimiser and its games; made at its first step.

    Args:
        rules: the rule set to learn.
        settings: hyperparameters.
        seed: decides the deals, the first weights and the exploration.
        pool: plays the games, if the algorithm uses one.

    Attributes:
        steps: steps learned from so far.
    """

    name: ClassVar[str]
    """Registered name of its agent."""
    schema: ClassVar[type[Any]]
    """Dataclass of its hyperparameters."""
    settings_file: ClassVar[Path]
    """YAML file of their values."""
    unit: ClassVar[str]
    """Name of its steps, in the plural."""
    run_steps: ClassVar[str]
    """Steps of a run by default."""
    log_steps: ClassVar[int]
    """Most steps between two rows of the log."""
    threads: ClassVar[int | None] = None
    """Threads of torch while it learns; None: torch's own choice."""
    uses_workers: ClassVar[bool] = False
    """Whether its games are split over workers."""
    smallest: ClassVar[dict[str, int]]
    """Hyperparameters of a run that only compiles."""

    steps: int

    def __init__(self, rules: Rules, settings: Any, seed: int, pool: Pool | None = None) -> None:
        self.rules, self.settings, self.seed = rules, settings, seed
        self.pool = pool or ThisProcess()

    @classmethod
    def read_settings(cls, overrides: Iterable[str] = ()) -> Any:
        """Its hyperparameters; see `four_seasons_env.agents.training.settings.read_settings`."""
        return read_settings(cls.schema, cls.settings_file, overrides)

    @classmethod
    def check_warm_start(cls, start: str, rules: Rules, settings: Any) -> None:
        """Check the name of the weights to start from; most algorithms take none.

        Raises:
            ValueError: if it cannot start from these weights.
        """
        raise ValueError(
            f"{cls.name} starts from random weights, not from {start!r}: leave out --warm-start"
        )

    def warm_start(self, start: str) -> None:
        """Start from weights that `check_warm_start` accepts, not from random ones."""
        raise NotImplementedError

    @abc.abstractmethod
    def describe(self) -> str:
        """Its size, for the first line that a run prints."""

    @abc.abstractmethod
    def update(self, done: float) -> Update:
        """Play the next games, and learn from them.

        Args:
            done: share of the run that is done, 0 to 1; the learning rate falls with it.
        """

    @abc.abstractmethod
    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, dict[str, NDArray[np.float32]]]:
        """Card and weights of the policy learned so far.

        Args:
            training: the origin of the policy, for the card.
        """

    @property
    def playing_options(self) -> dict[str, Any]:
        """Options of the player in validations."""
        return {}

    @abc.abstractmethod
    def save(self, folder: Path) -> None:
        """Write everything that learning depends on into the folder of a checkpoint."""

    @abc.abstractmethod
    def load(self, folder: Path) -> None:
        """Continue from the folder of a checkpoint, of a run with the same settings and seed."""


def get_learner(agent: str, among: Sequence[str] | None = None) -> type[Learner]:
    """The learner of an agent. Unknown agents are refused before torch is imported.

    Args:
        agent: its registered name.
        among: valid names; by default, those of all agents that learn.

    Raises:
        ValueError: for another agent, with the nearest.
    """
    learning = among or [name for name, entry in AGENTS.items() if entry.learns]
    if agent not in learning:
        raise ValueError(f"no learning agent {agent!r}: {nearest(agent, learning)}")
    learner: Any = load(AGENTS[agent].learner)
    found: type[Learner] = learner
    return found
