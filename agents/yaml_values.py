"""Values that people write as YAML: hyperparameters and sweeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


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
