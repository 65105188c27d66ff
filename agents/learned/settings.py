"""Hyperparameters: one YAML file for each algorithm, checked against a dataclass before a run.

The dataclass is the schema: it names every key, its type and its bounds, and holds no values. The
values come from the algorithm's own file; those of a user's file override them, and flags such as
``learning_rate=1e-3`` override both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

import yaml

from four_seasons_env.episodes.batch import MASKS
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.rewards import REWARDS
from four_seasons_env.rules import nearest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

HERE = Path(__file__).parent
ACTIVATIONS = ("relu", "tanh")


def one_of(choices: Iterable[str]) -> Any:
    """A field whose value is one of these strings."""
    return dataclasses.field(metadata={"choices": tuple(choices)})


def between(low: float, high: float = float("inf")) -> Any:
    """A field whose value, or each value of its list, lies in this closed interval."""
    return dataclasses.field(metadata={"low": low, "high": high})


@dataclass(kw_only=True)
class Settings:
    """What all algorithms share; named as in Stable-Baselines3 where it has the same."""

    observation: str
    reward: str = one_of(REWARDS)
    max_moves: int = between(1)
    """Longest training episode, in moves."""
    games: int = between(1)
    """Games played in parallel."""
    batch_size: int = between(2)
    learning_rate: float = between(0)
    """At the start; falls linearly to a twentieth, which it reaches before the end of the run."""
    gamma: float = between(0, 1)
    max_grad_norm: float = between(0)
    layers: list[int] = between(1)
    """Units of the hidden layers."""
    cloning_moves: int = between(1)
    """Actions of the teacher to clone in a warm start."""
    cloning_epochs: int = between(1)
    cloning_learning_rate: float = between(0)

    def falling_rate(self, remaining: float) -> float:
        """The learning rate when this share of the run remains (1 to 0)."""
        return self.learning_rate * max(remaining, 0.05)


@dataclass(kw_only=True)
class MoveSettings(Settings):
    """What algorithms share if their actions are moves."""

    observation: str = one_of(OBSERVATIONS)
    mask: str = one_of(MASKS)
    activation: str = one_of(ACTIVATIONS)


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
        values[key.strip()] = yaml.safe_load(value)
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
    kinds = get_type_hints(schema)
    checked = {
        each.name: _check(each, kinds[each.name], values[each.name])
        for each in dataclasses.fields(schema)
    }
    return schema(**checked)


def _read_yaml(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"no hyperparameters at {path}")
    try:
        values = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValueError(f"{path} is not YAML: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold lines of the form 'key: value'")
    return values


def _check(each: dataclasses.Field[Any], kind: Any, value: Any) -> Any:
    """The value, if it has the field's type and is within its bounds; an int passes for a float."""
    name, expected = each.name, getattr(kind, "__name__", str(kind))
    is_right: Any
    if kind == list[int]:
        is_right = isinstance(value, list) and all(type(item) is int for item in value) and value
        expected = "list of integers"
    elif kind is float:
        if isinstance(value, str):
            value = _as_number(value)
        is_right = type(value) in (int, float)
    else:
        is_right = type(value) is kind
    if not is_right:
        raise ValueError(f"{name} must be a {expected}, not {value!r}")
    choices = each.metadata.get("choices")
    if choices and value not in choices:
        raise ValueError(f"unknown {name} {value!r}: {nearest(value, choices)}")
    if "low" in each.metadata:
        low, high = each.metadata["low"], each.metadata["high"]
        for item in value if isinstance(value, list) else [value]:
            if not low <= item <= high:
                bound = f"at least {low}" if high == float("inf") else f"from {low} to {high}"
                raise ValueError(f"{name} must be {bound}, not {item!r}")
    return float(value) if kind is float else value


def _as_number(text: str) -> Any:
    """The number in a string: YAML 1.1 reads "1e-3" as a string because it has no dot."""
    try:
        return float(text)
    except ValueError:
        return text
