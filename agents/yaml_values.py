"""Values that people write as YAML: hyperparameters, options of agents, sweeps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

_DEEPEST = 50
"""Lists and mappings within each other."""


def parse_yaml(text: str, what: str) -> Any:
    """The value of a YAML text. Aliases are not read: a short text could grow without end by them.

    Nor is nesting that nobody writes, for which the parser takes long.

    Args:
        text: of plain values, lists and mappings.
        what: it is, for errors.

    Raises:
        ValueError: if it is not YAML, or nested too deeply.
    """
    try:
        if all(depth <= _DEEPEST for depth in _depths(text)):
            return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        raise ValueError(f"{what} is not YAML: {' '.join(str(error).split())[:200]}") from None
    raise ValueError(f"{what} is nested too deeply")


def _depths(text: str) -> Iterator[int]:
    """How deep each event of a YAML text is nested; the parser reads on as they are asked for."""
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read, write the value out")
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        yield depth


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
