"""How the engine is compiled: Numba, cached on disk, and never stale."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba


@functools.cache
def _digest(folder: Path) -> str:
    """Of what a folder's Python files hold."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


_ENGINE = Path(__file__).parent


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function, without the GIL, and keep the machine code on disk.

    Numba takes a cached function for fresh while its *own* file is unchanged, even where it calls
    functions of another file that has changed. So the freshness stamp is widened to cover all the
    engine's files, and those beside the function's own. Integer division follows NumPy (no
    exception on zero).
    """
    dispatcher: Any = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    cache_file = getattr(dispatcher._cache, "_cache_file", None)
    if cache_file is not None:
        own = Path(function.__code__.co_filename).parent
        cache_file._source_stamp = (cache_file._source_stamp, _digest(_ENGINE), _digest(own))
    compiled: Callable[..., Any] = dispatcher
    return compiled


def announce(function: Callable[..., Any]) -> None:
    """Tell the user, on stderr, if a compiled function is about to be compiled for the first time.

    Args:
        function: one made by `jit`; whether it has been compiled stands for the whole engine.
    """
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if cache_file is None or getattr(function, "signatures", None) or cache_file._load_index():
        return
    print(
        "four_seasons_env: compiling the engine, this once (some ten seconds) ...", file=sys.stderr
    )
