"""Checks of arguments that several modules share, and constructors that take settings."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from textwrap import fill
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np

E = TypeVar("E")
P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for an error message: the nearest known word, and all of them."""
    known = list(known)
    close = difflib.get_close_matches(str(word), known, n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}known: {', '.join(known)}"


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


def takes(
    settings: Callable[P, S],
) -> Callable[[Callable[[E, S], None]], Callable[Concatenate[E, P], None]]:
    """Make a constructor take the fields of a settings dataclass as its arguments.

    The constructor gets the settings, made of its arguments. Each argument is written once: as
    a field, with its type, its default and a docstring. Signature and docstring of the constructor
    are made of the fields.
    """
    signature = inspect.signature(settings)
    known = list(signature.parameters)

    def decorate(init: Callable[[E, S], None]) -> Callable[Concatenate[E, P], None]:
        @functools.wraps(init)
        def constructor(self: E, /, *args: P.args, **kwargs: P.kwargs) -> None:
            for name in kwargs:
                if name not in known:
                    owner = type(self).__name__
                    raise TypeError(f"{owner} has no argument {name!r}: {nearest(name, known)}")
            init(self, settings(*args, **kwargs))

        own = next(iter(inspect.signature(init).parameters.values()))  # self
        constructor.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[own, *signature.parameters.values()]
        )
        constructor.__doc__ = _documented(settings, known)
        return constructor

    return decorate


def _documented(settings: Any, arguments: list[str]) -> str:
    """The docstring of a constructor that takes settings."""
    texts = {
        name: text
        for kind in reversed(settings.__mro__[:-1])  # the last is object
        for (owner, name), text in _field_docstrings(kind.__module__).items()
        if owner == kind.__name__
    }
    listed = [
        fill(
            f"{name}: {texts.get(name, '')}", 96, initial_indent=" " * 4, subsequent_indent=" " * 8
        )
        for name in arguments
    ]
    return "\n".join(["Make the environment.\n", "Args:", *listed, _ERRORS])


_ERRORS = """
Raises:
    ValueError: for an argument that is out of range, with the nearest valid one.
    TypeError: for an unknown argument, with the nearest one."""


@functools.cache
def _field_docstrings(module: str) -> dict[tuple[str, str], str]:
    """(class, field) -> the docstring below the field, from the module's source if it is there."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:  # installed without source
        return {}
    return dict(_fields(tree))


def _fields(tree: ast.Module) -> Iterator[tuple[tuple[str, str], str]]:
    for kind in tree.body:
        if isinstance(kind, ast.ClassDef):
            for field, below in pairwise(kind.body):
                match field, below:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(text))),
                    ):
                        yield (kind.name, name), inspect.cleandoc(text)
