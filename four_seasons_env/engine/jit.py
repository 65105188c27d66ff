"""Compile functions with Numba, and cache the machine code on disk.

Cached code is compiled again if its file has changed, or a file that it imports at the top level.
"""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba.extending import overload

from four_seasons_env.engine.sources import module_digest


@functools.cache
def _warn_uncached() -> None:
    warnings.warn(
        "four_seasons_env cannot keep its compiled code, because no cache folder is writable: "
        "every process compiles again. Set NUMBA_CACHE_DIR to a folder that is writable.",
        RuntimeWarning,
        stacklevel=4,
    )


def _load_index(load: Callable[[], dict[Any, str]]) -> dict[Any, str]:
    """Numba's index of the machine code on disk; empty if it names a class that has moved.

    Numba unpickles the types of arguments before it checks that the index is fresh. Without this,
    a renamed NamedTuple would make the first call fail until someone deletes the cache.
    """
    try:
        return load()
    except (ImportError, AttributeError):
        return {}


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function, without the GIL, and keep the machine code on disk.

    Numba considers a cached function fresh while its *own* file is unchanged, even if it calls
    functions of a file that has changed. So the stamp that Numba compares also covers the files
    that its file imports (`sources.module_digest`). Integer division follows NumPy (no exception
    on zero).

    The code is cached next to the source or, if that folder is read-only, in the user's cache
    folder; `NUMBA_CACHE_DIR` names another. Several processes may compile at once: each writes its
    own file and moves it into place. If no folder is writable, nothing is kept.
    """
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy")(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # Numba found no writable folder
        _warn_uncached()
    cache_file = getattr(dispatcher._cache, "_cache_file", None)
    if cache_file is not None:
        digest = module_digest(function.__module__)
        cache_file._source_stamp = (cache_file._source_stamp, digest)
        cache_file._load_index = functools.partial(_load_index, cache_file._load_index)
    compiled: Callable[..., Any] = dispatcher
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function into each of its callers, so that a caller's constants shape its code.

    A call with ``piles=5`` gets loops that are unrolled five times, and another call of the same
    function works for any number of piles.
    """
    compiled: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", forceinline=True)(
        function
    )
    return compiled


def by_type(choose: Callable[..., Any]) -> Callable[..., Any]:
    """A function for compiled code only, whose code depends on the types of its arguments.

    Args:
        choose: takes Numba's types of the arguments, and returns the function for them, which has
            parameters of the same names.
    """

    @functools.wraps(choose)
    def function(*arguments: Any) -> Any:
        raise NotImplementedError(f"{choose.__name__} is for compiled code")

    overload(function, jit_options={"nogil": True, "error_model": "numpy"})(choose)
    return function


def announce(function: Callable[..., Any]) -> None:
    """Say on stderr that compilation is about to start, if a function is not in the cache.

    Args:
        function: one made by `jit`, which stands for all that its caller is about to compile.
    """
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if cache_file is None or getattr(function, "signatures", None) or cache_file._load_index():
        return
    print(
        "four_seasons_env: compiling, once on this machine; this can take a minute ...",
        file=sys.stderr,
    )
