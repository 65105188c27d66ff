"""Checks of arguments that several modules share."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from four_seasons_env.rules import nearest

T = TypeVar("T")


def whole_number(what: str, value: Any) -> int:
    """An argument that is a whole number, of Python or of NumPy, as an int; not True or False.

    Args:
        what: the argument, for the message: "a deal".
        value: its value.

    Raises:
        TypeError: for anything else, including an array with one element, which may have been meant
            for several games.
    """
    if isinstance(value, np.ndarray):
        if value.ndim:
            hint = ": take its one element with .item()" if value.size == 1 else ""
            raise TypeError(f"{what} is an integer, not an array of shape {value.shape}{hint}")
        value = value[()]
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{what} is an integer, not {value!r}: did you mean {int(value)}?")
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise TypeError(f"{what} is an integer, not {value!r}") from None


def check_positive(name: str, value: Any) -> int:
    """An argument that counts something, as an int.

    Raises:
        ValueError: if it is not a positive integer.
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ValueError(f"{name} must be a positive integer, not {value!r}")
    return int(value)


def check_choice(name: str, value: T, choices: tuple[T, ...]) -> T:
    """An argument's value, if it is one of its choices.

    Raises:
        ValueError: if it is not, with the nearest choice.
    """
    if value not in choices:
        known = [str(choice) for choice in choices]
        raise ValueError(f"unknown {name} {value!r}: {nearest(str(value), known)}")
    return value
