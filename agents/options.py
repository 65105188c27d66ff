"""Options of agents: the signature of an agent's maker gives their names and types."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from four_seasons_env.arguments import nearest

NOT_IN_NAMES = ("rules", "card", "weights", "deterministic")
"""Arguments of makers that are no options in an agent's name."""

_KINDS = {
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    bool: "true or false",
    str: "a text",
}


def check_options(
    agent: str, make: Callable[..., Any], options: Iterable[str], reserved: Collection[str]
) -> None:
    """Check that an agent's maker takes these options.

    Args:
        agent: the agent's name.
        make: has them as arguments.
        options: the options' names.
        reserved: arguments that are no options here.

    Raises:
        ValueError: for an unknown option, naming the nearest one.
    """
    parameters = inspect.signature(make).parameters.values()
    known = [each.name for each in parameters if each.name not in reserved]
    takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters)
    for option in options:
        if option in reserved or not (takes_any or option in known):
            hint = nearest(option, known) if known else "it takes none"
            raise ValueError(f"agent {agent!r} has no option {option!r}: {hint}")


def convert_options(
    agent: str, make: Callable[..., Any], options: Mapping[str, Any], text: bool
) -> dict[str, Any]:
    """Check the values of options against the annotations of a maker's arguments.

    Numbers are counts, times or shares, so none is below 0. The maker checks values with other
    annotations.

    Args:
        agent: the agent's name.
        make: has the options as arguments.
        options: values by name.
        text: whether the values are text to convert, as in an agent's name. Where there is no
            annotation, text that is JSON is read as such.

    Raises:
        ValueError: for a value of another kind, naming the kind and the default.
    """
    if not options:
        return {}  # without the import of msgspec, which is an extra
    hints: dict[str, Any] = {}
    with suppress(NameError):  # a name that another package imports for type checkers only
        hints = typing.get_type_hints(make.__init__ if isinstance(make, type) else make)  # type: ignore[misc]
    parameters = inspect.signature(make).parameters
    converted = {}
    for name, value in options.items():
        try:
            converted[name] = _convert(value, hints.get(name), text)
        except ValueError as error:
            default = parameters[name].default
            has_default = default not in (None, inspect.Parameter.empty)
            hint = f" (default {default})" if has_default else ""
            raise ValueError(
                f"{name} of agent {agent!r} must be {error}, not {value!r}{hint}"
            ) from None
    return converted


def _convert(value: Any, hint: Any, text: bool) -> Any:
    """A value of an annotated kind.

    Raises:
        ValueError: whose message is the expected kind.
    """
    import msgspec

    from four_seasons_env.schemas import Amount, Count

    if hint is None:
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(value) if text else value
        return value
    kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if not all(kind in _KINDS or kind is types.NoneType for kind in kinds):
        return value
    bounds = {int: Count, float: Amount}
    bounded: Any = typing.Union[tuple(bounds.get(kind, kind) for kind in kinds)]  # noqa: UP007
    try:
        plain = value.item() if isinstance(value, np.generic) else value
        return msgspec.convert(plain, bounded, strict=not text)
    except msgspec.ValidationError:
        raise ValueError(" or ".join(_KINDS[kind] for kind in kinds if kind in _KINDS)) from None
