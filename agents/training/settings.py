"""Hyperparameters: one YAML file for each algorithm, checked against a dataclass before a run.

The dataclass is the schema (`four_seasons_env.schemas`): it names every key, its type and
its bounds, and holds no values. The values come from the algorithm's file; flags such as
``learning_rate=1e-3`` override them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from four_seasons_env.arguments import nearest
from four_seasons_env.schemas import check_fields, fitting

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

S = TypeVar("S", bound="DataclassInstance")


def read_settings(schema: type[S], path: Path, overrides: Iterable[str] = ()) -> S:
    """The hyperparameters of an algorithm.

    Args:
        schema: the algorithm's dataclass.
        path: its YAML file, named like its agent.
        overrides: strings such as "gamma=0.99", which override the file.

    Raises:
        ValueError: for an unknown key, naming the nearest one, or a value of a wrong type.
    """
    values: dict[str, Any] = read_yaml(path)
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"hyperparameters are set as key=value, not {text!r}")
        values[key.strip()] = parse_yaml(value, key)
    return make_settings(schema, values, path.stem)


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


def parse_yaml(text: str, what: str) -> Any:
    """The value of a YAML text.

    Args:
        text: of plain values, lists and mappings.
        what: it is, for errors.

    Raises:
        ValueError: if it is not YAML.
    """
    try:
        return yaml.safe_load(text)
    # ValueError: a date such as 2021-02-31; RecursionError: brackets without end
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{what} is not YAML: {' '.join(str(error).split())[:200]}") from None


def read_yaml(path: Path) -> Any:
    """The value of a YAML file.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file, if it is not YAML.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text: {error}") from None
    return parse_yaml(text, str(path))
