"""Hyperparameters: one YAML file for each algorithm, checked against a dataclass before a run.

The dataclass is the schema (`four_seasons_env.agents.schemas`): it names every key, its type and
its bounds, and holds no values. The values come from the algorithm's own file; those of a user's
file override them, and flags such as ``learning_rate=1e-3`` override both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

from msgspec import Meta

from four_seasons_env.agents.schemas import Amount, Positive, Share, fitting, one_of
from four_seasons_env.agents.yaml_values import parse_yaml, read_yaml
from four_seasons_env.episodes.batch import MASKS
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rewards import REWARDS
from four_seasons_env.rules import nearest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HERE = Path(__file__).parent
ACTIVATIONS = ("relu", "tanh")


@dataclass(kw_only=True)
class Settings:
    """What all algorithms share; named as in Stable-Baselines3 where it has the same."""

    observation: str
    reward: Annotated[str, one_of(REWARDS)]
    max_moves: Positive
    """Longest training episode, in moves."""
    games: Positive
    """Games played in parallel."""
    batch_size: Annotated[int, Meta(ge=2)]
    learning_rate: Amount
    """At the start; falls linearly to a twentieth, which it reaches before the end of the run."""
    gamma: Share
    max_grad_norm: Amount
    layers: Annotated[list[Positive], Meta(min_length=1)]
    """Units of the hidden layers."""
    cloning_moves: Positive
    """Actions of the teacher to clone in a warm start."""
    cloning_epochs: Positive
    cloning_learning_rate: Amount

    def falling_rate(self, remaining: float) -> float:
        """The learning rate when this share of the run remains (1 to 0)."""
        return self.learning_rate * max(remaining, 0.05)


@dataclass(kw_only=True)
class MoveSettings(Settings):
    """What algorithms share if their actions are moves."""

    observation: Annotated[str, one_of(OBSERVATIONS)]
    mask: Annotated[str, one_of(MASKS)]
    activation: Annotated[str, one_of(ACTIVATIONS)]


_RENAMED = {"averaged": "averaging"}
"""Former names, accepted for one release."""

S = TypeVar("S", bound="DataclassInstance")


def read_settings(
    schema: type[S],
    agent: str,
    path: Path | None = None,
    overrides: Iterable[str] = (),
    folder: Path = HERE,
) -> S:
    """The hyperparameters of an algorithm.

    Args:
        schema: the algorithm's dataclass.
        agent: its name, which is also the name of its YAML file.
        path: a YAML file with values that override those.
        overrides: strings such as "gamma=0.99", which override both files.
        folder: of that file.

    Raises:
        FileNotFoundError: if ``path`` is not a file.
        ValueError: for an unknown key, naming the nearest one, or a value of a wrong type.
    """
    values = _read_yaml(folder / f"{agent}.yaml")
    if path is not None:
        values |= _read_yaml(path)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"hyperparameters are set as key=value, not {text!r}")
        values[key.strip()] = parse_yaml(value, key)
    return make_settings(schema, values, agent)


def make_settings(schema: type[S], values: dict[str, Any], agent: str) -> S:
    """Hyperparameters from a dictionary, checked.

    Raises:
        ValueError: for an unknown or missing key, or a value of a wrong type or out of bounds.
    """
    known = [each.name for each in dataclasses.fields(schema)]
    values = {_RENAMED.get(key, key): value for key, value in values.items()}
    for key in values:
        if key not in known:
            raise ValueError(f"unknown hyperparameter {key!r} of {agent}: {nearest(key, known)}")
    missing = [name for name in known if name not in values]
    if missing:
        raise ValueError(f"hyperparameters of {agent} are missing: {', '.join(missing)}")
    kinds = get_type_hints(schema, include_extras=True)
    return schema(**{name: _checked(name, kinds[name], values[name]) for name in known})


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"no hyperparameters at {path}")
    values = read_yaml(path)
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold lines of the form 'key: value'")
    return values


def _checked(name: str, kind: Any, value: Any) -> Any:
    """The value as its type has it: an int passes for a float, as does "1e-3".

    Raises:
        ValueError: with the nearest, if it is none of the type's choices.
    """
    (meta,) = kind.__metadata__
    choices = meta.extra and meta.extra["choices"]
    if choices and value not in choices:
        raise ValueError(f"unknown {name} {value!r}: {nearest(str(value), choices)}")
    if kind.__origin__ is float and isinstance(value, str):
        with suppress(ValueError):
            value = float(value)  # YAML 1.1 reads "1e-3" as a string because it has no dot
    try:
        return fitting(value, kind)
    except ValueError as error:
        raise ValueError(f"{name} is {value!r}: {error}") from None
