"""`Learner`, the base class of all training algorithms; their hyperparameters and mean weights.

A learner of your own, in my_module.py, is trained by `four-seasons train --agent my_module:Mine`,
and its policies are played by `four-seasons compare --agents mine=my_module:Mine:runs/x`.

The fields of a dataclass are the hyperparameters of a learner (`four_seasons_env.schemas`): their
names, types and bounds, and the values of a learner of your own. The values of ours are in a YAML
file for each. Flags such as ``learning_rate=1e-3`` replace them for a run.
"""

from __future__ import annotations

import abc
import dataclasses
import inspect
import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeVar

import numpy as np
import yaml

from four_seasons_env.agents.agent import Agent
from four_seasons_env.agents.names import AGENTS, Name, find_agent, load, load_ours, make_player
from four_seasons_env.agents.policy_files import PolicyCard, load_policy, rules_fields
from four_seasons_env.arguments import nearest
from four_seasons_env.rules import Rules, get_rules
from four_seasons_env.schemas import check_fields, fitting

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance
    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[np.float32]]

S = TypeVar("S", bound="DataclassInstance")

LOSS = "train/loss"
"""Name of the loss in the records of an update; it must be finite."""


class Learner(abc.ABC):
    """A network with its optimiser and its games, before its first step.

    Derive your learner from it, or from
    `four_seasons_env.agents.learned.sb3_learner.Sb3Learner`. It needs `schema`, `player`, `update`,
    `card_fields`, `state` and `restore`, and sets `module` when it is made.

    Args:
        rules: the rule set to learn.
        settings: hyperparameters; `rate(done)`, if they have it, is the learning rate of an update.
        seed: decides the deals, the first weights and the exploration.
        pool: plays the games, if the algorithm uses one.

    Attributes:
        steps: steps learned from so far.
        module: the network that learns.
        average: the mean of its weights.
    """

    name: ClassVar[str]
    """Name of its agent in `AGENTS`; of a learner of another package, its place, `module:class`,
    which is filled in."""
    schema: ClassVar[type[Any]]
    """Dataclass of its hyperparameters."""
    player: ClassVar[type[Agent]]
    """What plays its policies: a class that is made with the parameters `rules`, `card` and
    `weights`, and options. `AGENTS` says it of ours."""
    unit: ClassVar[str] = "steps"
    """Name of its steps, in the plural."""
    run_steps: ClassVar[str] = "1M"
    """Steps of a run by default."""
    log_steps: ClassVar[int] = 10_000
    """Maximum number of steps between two rows of the log."""
    uses_workers: ClassVar[bool] = False
    """Whether its games are split over workers."""
    smallest: ClassVar[dict[str, float]] = {}
    """Hyperparameters of a run that only compiles, and learns next to nothing."""
    played_weights: ClassVar[dict[str, str]] = {"": ""}
    """Prefixes of the names of the weights that a player needs, and what replaces them."""
    sizes: ClassVar[tuple[str, ...]] = ()
    """Fields of a rule set that a warm start from another one leaves as they are."""

    module: torch.nn.Module

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in vars(cls):
            cls.name = f"{cls.__module__}:{cls.__qualname__}"

    def __init__(
        self, rules: Rules, settings: Any, seed: int, pool: GamePool | None = None
    ) -> None:
        if seed >= 2**32:  # generators of libraries take, or distinguish, no more
            seed = int(np.random.SeedSequence(seed).generate_state(1)[0])
        self.rules, self.settings, self.seed = rules, settings, seed
        self.pool = pool or ThisProcess()
        self.steps = 0
        self.average = WeightAverage(getattr(settings, "averaging", 0.0))

    @classmethod
    def read_settings(cls, overrides: Iterable[str] = ()) -> Any:
        """Its hyperparameters: the values of its schema, or those in the YAML file of the learner
        of ours that it is or is derived from; and overrides.

        Args:
            overrides: strings such as "gamma=0.99", which replace them.

        Raises:
            ValueError: for an unknown key, naming the nearest one, or a value of a wrong type.
        """
        values: dict[str, Any] = {}
        for each in cls.__mro__:
            if (name := vars(each).get("name")) in AGENTS:
                file = Path(inspect.getfile(each)).with_name(f"{name}.yaml")
                values = _parse_yaml(file.read_text(encoding="utf-8"), str(file))
        given = {}
        for text in overrides:
            key, equals, value = (part.strip() for part in text.partition("="))
            if not equals:
                raise ValueError(f"a hyperparameter must be key=value, not {text!r}")
            if key in given:
                raise ValueError(f"hyperparameter {key!r} must be given once")
            given[key] = _parse_yaml(value, key)
        return make_settings(cls.schema, values | given, cls.name)

    @classmethod
    def first_weights(cls, start: str, rules: Rules, settings: Any) -> Arrays:
        """The weights to start from, also of other rules of the same sizes.

        Args:
            start: the agent's own name, or `NAME:FOLDER`.
            rules: the rule set to learn.
            settings: hyperparameters.

        Raises:
            ValueError: if it cannot start from these weights.
            FileNotFoundError: if there are no weights.
        """
        # 1. A policy of this agent, of any rules.
        name = Name(start)
        find_agent(name.registered)  # names the nearest, if there is none
        if name.registered != cls.name or name.options:
            raise ValueError(
                f"the warm start of {cls.name} must be {cls.name} or {cls.name}:FOLDER, not "
                f"{start!r}: {nearest(name.registered, [cls.name])}"
            )
        folder = name.weights(rules)
        if folder is None:  # only ours have weights of the project
            raise ValueError(f"the warm start of {cls.name} must be {cls.name}:FOLDER")
        card, weights = load_policy(folder, cls.name, rules, any_rules=True)
        # 2. Of rules whose observations mean the same.
        trained = get_rules(card.rules)
        for size in cls.sizes:
            there, here = getattr(trained, size), getattr(rules, size)
            if there != here:
                raise ValueError(
                    f"{start!r} was trained for {there} {size}, but {rules.name!r} has {here}"
                )
        # 3. With the network of this run.
        make_player(rules, card, weights, {})  # its tensors fit its card
        here = getattr(settings, "layers", card.layers)
        if card.layers != here:
            layers = ",".join(map(str, card.layers))
            raise ValueError(
                f"the weights of {start!r} have other layers than {here}: add --set "
                f"layers=[{layers}]"
            )
        return weights

    def warm_start(self, start: str) -> None:
        """Start from weights that `first_weights` returns; those that it lacks stay random."""
        import torch

        weights = self.first_weights(start, self.rules, self.settings)
        # A player's weights have other names than the module's, and lack the critic's.
        named = {
            name: torch.from_numpy(weights[played])
            for old, new in self.played_weights.items()
            for name in self.module.state_dict()
            if name.startswith(old) and (played := new + name.removeprefix(old)) in weights
        }
        self.module.load_state_dict(named, strict=False)

    def describe(self) -> str:
        """Its size, for the first line that a run prints."""
        weights = sum(each.numel() for each in self.module.parameters())
        return f"{getattr(self.settings, 'games', 1):,} games, {weights:,} weights"

    @abc.abstractmethod
    def update(self, done: float) -> Update:
        """Play the next games, and learn from them.

        Args:
            done: share of the run that is done, 0 to 1; the learning rate falls with it.
        """

    def warm_up(self) -> None:
        """Compile, or load, what an update needs; nobody uses this learner afterwards."""
        self.update(0.0)

    def checked_update(self, done: float) -> Update:
        """An `update` that counts its steps, and after which all numbers are finite.

        Raises:
            RuntimeError: naming the step and the learning rate, if the loss or a weight is not; or
                if no step was counted, as the run would never end.
            TypeError: for a learner that returns anything but an `Update`.
        """
        name, before = type(self).__name__, self.steps
        try:
            update = self.update(done)
        except Exception:  # libraries refuse such weights, too, but do not say why they are so
            self._check_finite(done)
            raise
        if not isinstance(update, Update):
            raise TypeError(f"{name}.update must return an Update, not a {type(update).__name__}")
        if self.steps <= before:
            raise RuntimeError(
                f"{name}.update must count its {self.unit}, but self.steps went from {before:,} to "
                f"{self.steps:,}: add those of this update, as in self.steps += n"
            )
        self._check_finite(done, update.records.get(LOSS, 0.0))
        return update

    def _check_finite(self, done: float, loss: float = 0.0) -> None:
        weights = [*self.module.state_dict().values(), *self.average.weights.values()]
        if not np.isfinite(loss) or not all(bool(each.isfinite().all()) for each in weights):
            rate = getattr(self.settings, "rate", None)
            at = f" at a learning rate of {rate(done):.2g}" if rate else ""
            raise RuntimeError(
                f"loss and weights must be finite, but are not after {self.steps:,} {self.unit}{at}"
                ": choose a lower learning_rate (--set) in a new run (--out). In a learner of your "
                "own, also mask the targets, by a finite number such as -1e9, and use float32"
            )

    @abc.abstractmethod
    def card_fields(self) -> dict[str, Any]:
        """The fields of a policy's card that say what the network reads and decides.

        At least "observation" and "mask"; "layers" are those of the settings, if they have some.
        """

    def policy(self, training: dict[str, Any]) -> tuple[PolicyCard, Arrays]:
        """Card and weights of the policy learned so far, the mean of the weights.

        Tensors of whole numbers are left out, such as the counter of batches in a `BatchNorm`.

        Args:
            training: the origin of the policy, for the card.
        """
        fields: dict[str, Any] = {"layers": getattr(self.settings, "layers", [])}
        fields |= self.card_fields()
        card = PolicyCard(
            agent=self.name, rules=rules_fields(self.rules), training=training, **fields
        )
        weights = self.average.weights or self.module.state_dict()
        floats = {name: each for name, each in weights.items() if each.is_floating_point()}
        return card, arrays_of(floats, self.played_weights)

    @property
    def playing_options(self) -> dict[str, Any]:
        """Options of the player in validations."""
        return {}

    @abc.abstractmethod
    def state(self) -> dict[str, Any]:
        """What learning depends on besides steps and mean weights: tensors and plain values."""

    @abc.abstractmethod
    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a `state`, with the steps and mean weights that were saved with it."""

    def saved(self) -> bytes:
        """Everything that learning depends on, for `load`."""
        import torch

        written = io.BytesIO()
        torch.save({"steps": self.steps, "mean": self.average.weights} | self.state(), written)
        return written.getvalue()

    def load(self, saved: bytes) -> None:
        """Continue from what was `saved` in a run with the same settings and seed.

        Raises:
            ValueError: if it has numbers that are out of range.
        """
        import torch

        state = torch.load(io.BytesIO(saved), weights_only=True, map_location="cpu")
        if not isinstance(state["steps"], int) or state["steps"] < 0:
            raise ValueError(f"steps must be a whole number, 0 or more, not {state['steps']!r}")
        self.steps = self.average.steps = state["steps"]
        self.average.weights = state["mean"]
        self.restore(state)


def get_learner(agent: str) -> type[Learner]:
    """The learner of an agent. Unknown agents are refused before torch is imported.

    Args:
        agent: its name in `AGENTS`, or the place of a learner of another package,
            "my_module:MyLearner".

    Raises:
        ValueError: for another agent, with the nearest; for a class that is no learner, or one
            without a schema or player.
        RuntimeError: for an error in the module of another package, which is its cause.
    """
    learning = [name for name, entry in AGENTS.items() if entry.learner]
    if agent in learning:
        found: type[Learner] = load_ours(AGENTS[agent].learner)
        return found
    if ":" not in agent:
        raise ValueError(f"no learning agent {agent!r}: {nearest(agent, learning)}")
    found = load(agent)
    if not (isinstance(found, type) and issubclass(found, Learner)):
        raise ValueError(
            f"{agent!r} is no learner: derive it from four_seasons_env.agents.training.Learner"
        )
    if not dataclasses.is_dataclass(getattr(found, "schema", None)):
        raise ValueError(
            f"schema of learner {agent!r} must be the dataclass of its hyperparameters"
        )
    player = getattr(found, "player", None)
    if player is None or not {"card", "weights"} <= player.parameters().keys():
        raise ValueError(
            f"player of learner {agent!r} must be a class of agents with parameters `card` and "
            "`weights`"
        )
    return found


class GamePool(Protocol):
    """Plays games for a learner; `four_seasons_env.experiments.workers.Pool` is one."""

    size: int

    def over_deals(self, function: Any, about: Any, deals: Any, shared: Arrays) -> list[Any]:
        """Call ``function((about, part), shared)`` for parts of the deals, in their order."""
        ...


class ThisProcess:
    """Plays all deals at once in this process."""

    size = 1

    def over_deals(self, function: Any, about: Any, deals: Any, shared: Arrays) -> list[Any]:
        """See `GamePool.over_deals`."""
        return [function((about, deals), shared)]


class Update(NamedTuple):
    """Results of an update."""

    won: list[bool]  # whether each training game that ended was won
    cards_up: list[int]  # at the end of these games; empty if the algorithm does not report them
    records: dict[str, float]  # for the log, by name


def _parse_yaml(text: str, what: str) -> Any:
    """The value of a YAML text; an error says what it is."""
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:  # ValueError: a date such as 2021-02-31
        raise ValueError(f"{what} is not YAML: {' '.join(str(error).split())}") from None


def make_settings(schema: type[S], values: dict[str, Any], agent: str) -> S:
    """Hyperparameters from a dictionary, checked.

    Raises:
        ValueError: for an unknown or missing key, or a value of a wrong type or out of bounds.
    """
    known = [each.name for each in dataclasses.fields(schema)]
    for key in values:
        if key not in known:
            raise ValueError(f"unknown hyperparameter {key!r} of {agent}: {nearest(key, known)}")
    check_fields(values, schema)
    try:
        # Not strict, as YAML 1.1 reads "1e-3" as text because it has no dot.
        return fitting(values, schema, strict=False)
    except ValueError as error:
        raise ValueError(f"hyperparameters of {agent}: {error}") from None


class WeightAverage:
    """A running mean of the weights over about the last part of a run.

    The latest weights of a policy vary with every batch of games; their mean varies less and plays
    better (Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992).
    Learning itself uses the latest weights.

    Args:
        share: share of the steps so far that the mean covers; 0: only the latest weights.

    Attributes:
        steps: at the last update.
        weights: the mean, by name; empty before the first update.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self.steps = 0
        self.weights: dict[str, torch.Tensor] = {}

    def update(self, module: torch.nn.Module, steps: int) -> None:
        """Add a module's weights after this number of steps.

        Of tensors of whole numbers, which have no mean, the latest are kept.
        """
        latest = module.state_dict()
        # With this weight, steps count about equally while they are among the last `share`.
        weight = min(1.0, (steps - self.steps) / max(self._share * steps, 1e-9))
        if not self.weights:
            self.weights = {name: each.detach().clone() for name, each in latest.items()}
        for name, mean in self.weights.items():
            if mean.is_floating_point():
                mean.lerp_(latest[name], weight)
            else:
                mean.copy_(latest[name])
        self.steps = steps


def arrays_of(weights: dict[str, torch.Tensor], prefixes: dict[str, str]) -> Arrays:
    """Copies of weights as arrays.

    Args:
        weights: by name.
        prefixes: of the names of those to copy, and what replaces them.
    """
    return {
        new + name.removeprefix(old): tensor.detach().cpu().numpy().copy()
        for old, new in prefixes.items()
        for name, tensor in weights.items()
        if name.startswith(old)
    }
