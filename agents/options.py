"""Options of agents: which there are, and what values they take, as makers' signatures say."""

from __future__ import annotations

import inspect
import math
import numbers
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from four_seasons_env.rules import nearest

_NOT_FOR_USERS = (
    *("rules", "agent", "path", "trust", "network", "train_seed"),
    *("card", "weights", "layer_names", "deterministic"),
)


def check_options(
    registered: str,
    make: Callable[..., Any],
    options: Iterable[str],
    not_for_users: Collection[str] = _NOT_FOR_USERS,
) -> None:
    """Check that an agent's maker takes these options.

    Args:
        registered: the agent's name.
        make: its maker.
        options: the options' names.
        not_for_users: arguments of the maker that are no options.

    Raises:
        ValueError: for an unknown option, naming the nearest one.
    """
    parameters = inspect.signature(make).parameters.values()
    known = [each.name for each in parameters if each.name not in not_for_users]
    passes_on = any(each.kind is each.VAR_KEYWORD for each in parameters)  # and checks them there
    for option in options:
        if option in not_for_users or not (passes_on or option in known):
            hint = nearest(option, known) if known else "it takes none"
            raise ValueError(f"agent {registered!r} has no option {option!r}: {hint}")


def check_values(registered: str, make: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """Check that the values of options are what the maker's annotations say.

    Numbers of agents count something, or are a time or a share: none is below 0.

    Args:
        registered: the agent's name.
        make: its maker.
        options: values by name; those that it passes on are left to whom it passes them.

    Raises:
        ValueError: for a value of another kind, naming the kind and the default.
    """
    annotated = make.__init__ if isinstance(make, type) else make  # type: ignore[misc]
    hints = typing.get_type_hints(annotated)
    parameters = inspect.signature(make).parameters
    for option, value in options.items():
        hint = hints.get(option, Any) if option in parameters else Any
        kinds = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        if any(_fits(value, kind) for kind in kinds):
            continue
        default = parameters[option].default
        told = f" (default {default})" if default not in (None, inspect.Parameter.empty) else ""
        text = " or ".join(_TEXTS[kind] for kind in kinds if kind in _TEXTS)
        raise ValueError(f"{option} of agent {registered!r} must be {text}, not {value!r}{told}")


_TEXTS = {
    int: "a whole number, 0 or more",
    float: "a number, 0 or more",
    bool: "true or false",
    str: "a text",
}


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind; True for kinds that are not known here."""
    if kind in (int, float):
        is_number = isinstance(value, numbers.Integral if kind is int else numbers.Real)
        return is_number and not isinstance(value, bool) and 0 <= value < math.inf
    return isinstance(value, kind) if kind in (bool, str, types.NoneType) else True
