"""JSON files that are checked against a schema, and the types that schemas use.

A schema is a dataclass in the module that it describes; msgspec checks the values against its
types. An error is one line that names the place in the file, such as `$.layers[0]`. msgspec comes
with the extra `agents`, so the environments do not import this file.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import msgspec
from msgspec import Meta

from four_seasons_env.arguments import nearest

_LARGEST = sys.float_info.max  # leaves out infinity; no bound lets NaN pass

Count = Annotated[int, Meta(ge=0)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Positive = Annotated[int, Meta(ge=1)]
Number = Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]
Amount = Annotated[float, Meta(ge=0, le=_LARGEST)]
Rate = Annotated[float, Meta(gt=0, le=_LARGEST)]
Share = Annotated[float, Meta(ge=0, le=1)]
Deals = Annotated[str, Meta(pattern="^[0-9]+-[0-9]+$")]
Digest = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 in hex."""


def one_of(choices: Iterable[str]) -> Meta:
    """The constraint that a string is one of these."""
    choices = tuple(choices)
    pattern = f"^({'|'.join(map(re.escape, choices))})$"
    return Meta(pattern=pattern, extra={"choices": choices})


T = TypeVar("T")


def read_json(path: Path, schema: type[T], more: bool = False) -> T:
    """Read a JSON file.

    Args:
        path: of the file.
        schema: a dataclass, or any type that msgspec knows.
        more: whether the file may hold more than a dataclass names.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: naming the file, if it is not JSON, or does not fit the schema.
    """
    data = path.read_bytes()
    try:
        values = json.loads(data)
        checked = fitting(values, schema)
        if dataclasses.is_dataclass(schema) and not more:
            known = [each.name for each in dataclasses.fields(schema)]
            for name in values:
                if name not in known:
                    raise ValueError(f"unknown {name!r}: {nearest(name, known)}")
    except RecursionError:
        raise ValueError(f"{path} is damaged: its brackets are nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    return checked


def fitting(values: Any, schema: type[T], strict: bool = True) -> T:
    """Convert values to the type of a schema.

    Args:
        values: of JSON or YAML.
        schema: a dataclass, or any type that msgspec knows.
        strict: do not convert text to numbers.

    Raises:
        ValueError: if they do not fit it.
    """
    return msgspec.convert(values, schema, strict=strict, dec_hook=_from_text)


def check_fields(values: Mapping[str, Any], schema: type[Any]) -> None:
    """Check the values of a user one by one, each named in its error. Text may be a number.

    Args:
        values: by name; they may lack some.
        schema: a dataclass with fields of these names.

    Raises:
        ValueError: for a value that does not fit. If it must be `one_of` some texts, the error
            names the nearest.
    """
    hints = get_type_hints(schema, include_extras=True)
    for name, value in values.items():
        # msgspec would only say that the text does not match a pattern.
        for meta in getattr(hints[name], "__metadata__", ()):
            choices = (meta.extra or {}).get("choices")
            if choices and value not in choices:
                raise ValueError(f"unknown {name} {value!r}: {nearest(str(value), choices)}")
        try:
            fitting(value, hints[name], strict=False)
        except ValueError as error:
            raise ValueError(f"{name} is {value!r}: {error}") from None


def _from_text(expected: type, value: Any) -> Any:
    """Convert a type that msgspec does not know, and that is text in JSON: a path, or a name."""
    if issubclass(expected, (Path, str)) and isinstance(value, str):
        return expected(value)
    raise ValueError(f"Expected `{expected.__name__}`, got `{type(value).__name__}`")
