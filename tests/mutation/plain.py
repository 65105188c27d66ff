"""The engine without its compiler: stands in for `engine.jit` and `engine.bundles` in tests.

A fault in the kernel has everything above it compiled anew, for a minute or more. Run as Python it
is noticed by the same tests within seconds, so most mutants never meet the compiler. Numbers are
those of compiled code: integers do not overflow at the width of the array that they were read from,
uint64 wraps, and what is stored is cut to the width of its place. An index that is out of bounds is
an error here, where compiled code reads on.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np

_NARROW = {np.bool_, *(np.dtype(f"{kind}{size}").type for kind in "iu" for size in (1, 2, 4))}
_NARROW |= {np.int64, np.float64}


_get, _set = np.ndarray.__getitem__, np.ndarray.__setitem__


class Wide(np.ndarray):
    """An array whose integers are read as int, but for uint64, and its records as `Record`."""

    def __getitem__(self, at: Any) -> Any:
        value = _get(self, at)
        kind = type(value)
        if kind in _NARROW:
            return value.item()
        return Record(value) if kind is np.void else value

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __setitem__(self, at: Any, value: Any) -> None:
        if type(value) is Record:
            value = value.held
        try:
            _set(self, at, value)
        except OverflowError:
            _set(self, at, np.asarray(value).astype(self.dtype))


class Record:
    """A record whose fields are attributes, as they are in compiled code."""

    def __init__(self, held: np.void) -> None:
        self.__dict__["held"] = held

    def __getattr__(self, name: str) -> Any:
        value = self.held[name]
        if isinstance(value, np.ndarray):
            value = self.__dict__[name] = value.view(Wide)
            return value
        return _read(value)

    def __setattr__(self, name: str, value: Any) -> None:
        try:
            self.held[name] = value
        except OverflowError:
            self.held[name] = np.asarray(value).astype(self.held.dtype[name])

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)


def _wide(make: Callable[..., np.ndarray]) -> Callable[..., Wide]:
    return lambda *args, **named: make(*args, **named).view(Wide)


_MAKERS = ("zeros", "empty", "full", "ones", "arange", "array")
_ARRAYS = SimpleNamespace(**vars(np) | {name: _wide(getattr(np, name)) for name in _MAKERS})
"""NumPy, whose new arrays are `Wide`."""


def _read(value: Any) -> Any:
    kind = type(value)
    if kind is np.void:
        return Record(value)
    return value.item() if kind in _NARROW else value


def _given(value: Any) -> Any:
    """An argument as compiled code would see it."""
    kind = type(value)
    if kind is np.ndarray:
        return value.view(Wide)
    if isinstance(value, tuple):
        inner = [_given(each) for each in value]
        return kind(*inner) if hasattr(kind, "_fields") else tuple(inner)
    return _read(value)


_GLOBALS: dict[str, dict[str, Any]] = {}


def _globals(module: str) -> dict[str, Any]:
    """What a module's compiled functions see: arrays are `Wide`, other such functions uncovered."""
    if module not in _GLOBALS:
        seen = _GLOBALS[module] = {"__builtins__": __builtins__}
        for name, value in vars(sys.modules[module]).items():
            seen[name] = value.view(Wide) if type(value) is np.ndarray else _bare(value)
        seen["np"] = _ARRAYS
    return _GLOBALS[module]


def _bare(value: Any) -> Any:
    """The function that `jit` has covered, as others that it has covered call it."""
    function = getattr(value, "py_func", None)
    if function is None:
        return value
    if not hasattr(value, "bare"):
        seen = _globals(function.__module__)
        value.bare = FunctionType(function.__code__, seen, closure=function.__closure__)
    return value.bare


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """`engine.jit.jit`, and the other ways to compile."""

    @functools.wraps(function)
    def plain(*args: Any) -> Any:
        return _given(_bare(plain)(*map(_given, args)))

    plain.py_func = function  # type: ignore[attr-defined]
    return plain


inlined = jit


def by_type(choose: Callable[..., Any]) -> Callable[..., Any]:
    """`engine.jit.by_type`: the function for the types of the arguments is chosen at each call."""
    chosen: dict[Any, Callable[..., Any]] = {}

    @functools.wraps(choose)
    def plain(*args: Any) -> Any:
        key = tuple(getattr(each, "dtype", type(each)) for each in args)
        if key not in chosen:
            chosen[key] = choose(*map(numba.typeof, args))
        return chosen[key](*args)

    return plain


class Bundle(NamedTuple):
    """`engine.bundles.Bundle`."""

    buffers: Any
    settings: Any
    scratch: Any


def make_bundle(buffers: Any, settings: Any, scratch: Any = ()) -> Bundle:
    """`engine.bundles.make_bundle`."""
    return Bundle(buffers, settings, scratch)


def announce(_: Callable[..., Any]) -> None:
    """Nothing is compiled, so nothing is told."""


BITS: dict[str, Callable[[int], Any]] = {
    "popcount": lambda word: np.uint64(int(word).bit_count()),
    "lowest": lambda word: np.uint64((int(word) & -int(word)).bit_length() - 1 if word else 64),
    "highest": lambda word: np.uint64(int(word).bit_length() - 1),
}
"""What a processor does in one instruction, by the names in `engine.bits`."""


def install() -> None:
    """Have the engine, which is not imported yet, run as Python."""
    np.seterr(over="ignore")
    numba.extending.intrinsic = lambda function: BITS[function.__name__]
    for name in ("jit", "bundles"):
        sys.modules[f"four_seasons_env.engine.{name}"] = sys.modules[__name__]
