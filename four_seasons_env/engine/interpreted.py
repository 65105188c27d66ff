"""Compiled functions as Python, statement by statement: with `NUMBA_DISABLE_JIT=1`.

For a measurement of which lines run (`make coverage`), and for a debugger; hundreds of times
slower. `engine/jit.py` takes its decorators from here then.

Python and NumPy compute differently from compiled code in two ways, which `Array` and `Record` make
up for:

- A field of a record is an attribute there (``g.dealt``).
- Numbers of 8, 16 or 32 bits are read as numbers of 64 bits there, which do not overflow where the
  sum of two uint8 would. Here they are read as an int, and stored without NumPy's check that they
  fit. A uint64 stays what it is, because hashes and sets of cards are meant to wrap around.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np


class Array(np.ndarray[Any, Any]):
    """A view of an array, whose elements are read as compiled code reads them."""

    def __getitem__(self, key: Any) -> Any:
        return _read(super().__getitem__(key))

    def __getattr__(self, name: str) -> Any:
        if name not in (self.dtype.names or ()):
            raise AttributeError(name)
        return self[name]

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, _written(value))


class Record:
    """An element of an array of records, which it changes in place."""

    __slots__ = ("_fields",)

    def __init__(self, fields: np.void) -> None:
        object.__setattr__(self, "_fields", fields)

    def __getattr__(self, name: str) -> Any:
        return _read(self._fields[name])

    def __setattr__(self, name: str, value: Any) -> None:
        self._fields[name] = _written(value)


def _written(value: Any) -> Any:
    """A value to store; the highest bits of an integer are lost where it does not fit."""
    if isinstance(value, Record):
        return value._fields
    return np.int64(value) if type(value) is int else value


def _read(value: Any) -> Any:
    """What compiled code would take an element, a field or an argument for."""
    if isinstance(value, np.ndarray):
        return value.view(Array)
    if isinstance(value, np.integer) and not isinstance(value, np.uint64):
        return int(value)
    return Record(value) if isinstance(value, np.void) else value


def _argument(value: Any) -> Any:
    """`_read` of an argument, and of what is in a tuple."""
    if not isinstance(value, tuple):
        return _read(value)
    parts = map(_argument, value)
    return value._make(parts) if hasattr(value, "_make") else tuple(parts)


_inside = threading.local()
"""Whether this thread is in a compiled function, whose calls pass what they were passed."""


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that Python calls, or compiled code."""

    @functools.wraps(function)
    def called(*arguments: Any) -> Any:
        if getattr(_inside, "is_true", False):
            return function(*arguments)
        _inside.is_true = True
        try:
            with np.errstate(all="ignore"):
                return function(*map(_argument, arguments))
        finally:
            _inside.is_true = False

    return called


def internal(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that only compiled code calls."""
    return function


def by_type(choose: Callable[..., Any]) -> Callable[..., Any]:
    """A function for each type, chosen at each call."""

    @functools.wraps(choose)
    def called(*arguments: Any) -> Any:
        return choose(*arguments)(*arguments)

    return called


class Bundle:
    """Five NamedTuples, as `engine.jit.Bundle`."""

    def __init__(
        self, contract: Any, shared: Any, settings: Any, buffers: Any, scratch: Any
    ) -> None:
        self.contract, self.shared = _argument(contract), _argument(shared)
        self.settings, self.buffers = _argument(settings), _argument(buffers)
        self.scratch = _argument(scratch)
