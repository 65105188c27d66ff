"""Checks of arguments. An error names the argument and the nearest valid choice.

A wrong type is a `TypeError` (here a `WrongType`), a wrong value a `ValueError`.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
T = TypeVar("T")

_INT64 = np.dtype(np.int64)


class WrongType(TypeError, ValueError):
    """An argument of a wrong type; also a ValueError, which stands for any wrong argument."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for an error message: the nearest known word, and all of them."""
    names = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(str(word).casefold(), names, n=1, cutoff=0.5)
    guess = f"did you mean {names[close[0]]!r}? " if close else ""
    return f"{guess}known: {', '.join(names.values())}"


def whole_number(name: str, value: Any) -> int:
    """An argument that is a whole number, of Python or of NumPy, as an int; not True or False.

    Args:
        name: the argument, for the message: "deal".
        value: its value.

    Raises:
        WrongType: for anything else, including an array with one element, which may have been meant
            for several games.
    """
    if isinstance(value, np.ndarray) and value.ndim:
        hint = ": take its one element with .item()" if value.size == 1 else ""
        raise WrongType(f"{name} must be an integer, not an array of shape {value.shape}{hint}")
    if isinstance(value, (bool, np.bool_)):
        raise WrongType(f"{name} must be an integer, not {value!r}: did you mean {int(value)}?")
    try:
        return int(value.__index__())
    except (AttributeError, TypeError):
        raise WrongType(f"{name} must be an integer, not {reprlib.repr(value)}") from None


def check_number(name: str, value: Any, count: int) -> int:
    """The number of one of several things, 0 to ``count`` - 1, as an int.

    Raises:
        WrongType: if it is not an integer; see `whole_number`.
        ValueError: if it is out of range.
    """
    number = whole_number(name, value)
    if not 0 <= number < count:
        raise ValueError(f"{name} must be 0 to {count - 1}, not {number}")
    return number


def check_positive(name: str, value: Any, largest: int = 2**63 - 1) -> int:
    """An argument that counts something, as an int.

    Args:
        name: the argument, for the message.
        value: its value.
        largest: its largest value. Compiled code holds no integer above the default.

    Raises:
        WrongType: if it is not an integer; see `whole_number`.
        ValueError: if it is not positive, or too large.
    """
    number = whole_number(name, value)
    if number < 1:
        raise ValueError(f"{name} must be a positive integer, not {number}")
    if number > largest:
        raise ValueError(f"{name} must be {largest:,} or less, not {number:,}")
    return number


def check_share(name: str, value: Any) -> float:
    """An argument that is a share, a number from 0 to 1.

    Raises:
        WrongType: if it is not a number.
        ValueError: if it is out of range.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise WrongType(f"{name} must be a number from 0 to 1, not {reprlib.repr(value)}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be 0 to 1, not {value}")
    return float(value)


def check_limits(seconds: Any, **counts: Any) -> None:
    """Check the limits of a search; None is no limit.

    Raises:
        ValueError: for a limit that is not positive.
        WrongType: for a limit that is not a number, or a count that is not an integer.
    """
    for name, limit in counts.items():
        if limit is not None:
            check_positive(name, limit)
    if seconds is not None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float, np.number)):
            raise WrongType(f"seconds must be a number, not {seconds!r}")
        if not seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {seconds!r}")


def check_integers(name: str, values: Any, count: int) -> NDArray[np.int64]:
    """An integer for each of several games, in the one form for which the code is compiled.

    Args:
        name: the argument, for the message: "actions".
        values: an array-like.
        count: number of games.

    Returns:
        A contiguous int64 array of shape (count,): ``values`` itself if it is one.

    Raises:
        WrongType: for floats and bools, which a cast would change without a word.
        ValueError: for another shape, or a number that int64 cannot hold.
    """
    array = np.asarray(values)
    kept = array.dtype == _INT64 and array.flags.carray
    if not (kept or array.dtype.kind in "iu" or not array.size):  # [] is an array of floats
        raise WrongType(f"{name} must be integers, not {array.dtype}")
    if array.shape != (count,):
        raise ValueError(f"{name} must be of shape ({count},), not of shape {array.shape}")
    return array if kept else as_int64(name, array)


def as_int64(name: str, array: NDArray[Any]) -> NDArray[np.int64]:
    """Integers of any dtype as a new, contiguous int64 array; also an empty array of floats.

    Raises:
        ValueError: for a number of uint64 that int64 cannot hold: a cast would make it negative.
    """
    if array.dtype.kind == "u" and (largest := int(array.max(initial=0))) >= 2**63:
        raise ValueError(f"{name} must be less than 2^63, not {largest}")
    return np.array(array, _INT64)


def check_type(name: str, value: Any, expected: type[T]) -> T:
    """An argument's value, if it is of a type.

    Raises:
        WrongType: if it is not.
    """
    if not isinstance(value, expected):
        home = ".".join(each for each in expected.__module__.split(".") if not each.startswith("_"))
        raise WrongType(f"{name} must be a {home}.{expected.__name__}, not {reprlib.repr(value)}")
    return value


def check_choice(name: str, value: T, choices: tuple[T, ...]) -> T:
    """An argument's value, if it is one of its choices.

    Raises:
        ValueError: if it is not, with the nearest choice.
    """
    if isinstance(value, np.ndarray) or value not in choices:
        known = [str(choice) for choice in choices]
        raise ValueError(f"unknown {name} {value!r}: {nearest(str(value), known)}")
    return value


def names_nearest(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function refuse an unknown argument with the nearest of its own.

    Raises:
        TypeError: for an argument that the function does not have.
    """
    known = [name for name in inspect.signature(function).parameters if name != "self"]
    owner = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            if name not in known:
                raise TypeError(f"{owner} has no argument {name!r}: {nearest(name, known)}")
        return function(*args, **kwargs)

    return checked
