"""How the engine is compiled: Numba, cached on disk, and never stale."""

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
        "four_seasons_env cannot keep its compiled code, as no cache folder is writable: every "
        "process compiles anew. Name a folder in NUMBA_CACHE_DIR.",
        RuntimeWarning,
        stacklevel=4,
    )


def _load_index(load: Callable[[], dict[Any, str]]) -> dict[Any, str]:
    """Numba's list of the machine code on disk; empty where it names a class that has moved since.

    Numba reads the names of argument types before it looks whether the list is fresh.
    """
    try:
        return load()
    except (ImportError, AttributeError):
        return {}


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function, without the GIL, and keep the machine code on disk.

    Numba takes a cached function for fresh while its *own* file is unchanged, even where it calls
    functions of another file that has changed. So the freshness stamp is widened to cover the files
    that its own imports. Integer division follows NumPy (no exception on zero).

    The code is kept beside the engine's files or, where that folder is read-only, in the user's
    cache folder; `NUMBA_CACHE_DIR` names another. Processes that compile at once each write their
    own file and move it into place. With no folder to write to, nothing is kept.
    """
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy")(function)
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # Numba found no folder
        _warn_uncached()
    cache_file = getattr(dispatcher._cache, "_cache_file", None)
    if cache_file is not None:
        digest = module_digest(function.__module__)
        cache_file._source_stamp = (cache_file._source_stamp, digest)
        cache_file._load_index = functools.partial(_load_index, cache_file._load_index)
    compiled: Callable[..., Any] = dispatcher
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function into each that calls it, where the caller's constants shape its code.

    A call with ``piles=5`` then gets loops unrolled five times and branches on it decided, beside a
    call for any number of piles, from one source.
    """
    compiled: Callable[..., Any] = numba.njit(nogil=True, error_model="numpy", forceinline=True)(
        function
    )
    return compiled


def by_type(choose: Callable[..., Any]) -> Callable[..., Any]:
    """A function for compiled code alone, whose code depends on the types of its arguments.

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
    """Tell the user, on stderr, if a compiled function is about to be compiled for the first time.

    Args:
        function: one made by `jit`; whether it has been compiled stands for the whole engine.
    """
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if cache_file is None or getattr(function, "signatures", None) or cache_file._load_index():
        return
    print(
        "four_seasons_env: compiling, once on this machine; this can take a minute ...",
        file=sys.stderr,
    )
