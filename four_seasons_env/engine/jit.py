"""Compile functions with Numba, and cache the machine code on disk.

Which decorator a compiled function takes:

| decorator   | called from      | machine code                  | cost                          |
| ----------- | -----------------| ----------------------------- | ----------------------------- |
| `jit`       | Python, compiled | cached; one for each constant | a wrapper for Python          |
| `internal`  | compiled         | cached; one for each type     | a call, with its arguments    |
| `inlined`   | compiled         | in each caller, by LLVM       | compiled again in each caller |
| `merged`    | Python, compiled | in each caller, by Numba      | compiled again in each caller |
| `by_type`   | compiled         | in each caller, by its types  | a function for each variant   |
| `intrinsic` | compiled         | an instruction (`bits`)       | written in LLVM's terms       |

Take `jit` for what Python calls, `internal` for what only compiled code calls. The others are for
functions where a measurement asks for them: `inlined` in the inner loops of a step, where constants
shape the code; `merged` for a function with one caller, or with tuples of many arrays; `by_type`
where one variant of a game needs less code than another.

Two rules follow from the cost of a compilation:

- *A variant has a type of its own.* A first step compiles for seven seconds or more. Code for the
  observation `tops` leaves out what only `cards` needs, which saves a fifth of that. A number that
  names the observation could not do that: all of the code would be compiled. So a variant that is
  known when an environment is made is an instance of a NamedTuple class, often an empty one, such
  as `observations.Tops`. `by_type` chooses the function by the class (`is_a`).
- *A number that varies is no constant.* A compiled caller that passes a constant of its module to a
  `jit` function compiles that function for this constant alone. `numbers` makes constants that
  are taken as values.

Cached code is compiled again if its file has changed, or a file that it imports at the top level
(`module_digest`). A `Bundle` passes many arrays to a compiled function at the cost of one.

Memory has an owner. In compiled code a record (``games[0]``) or its field (``g.deck``) is a
pointer, which does not keep its array alive. Numba frees an array that compiled code has made after
the last use of the array itself, even if a record of it is still in use. So compiled functions make
no arrays of records: the caller passes the room, and an object in Python owns it. Compiled code
does not check indices either. `make test-memory` looks for both faults.

This is the only file that touches private parts of Numba. Each place says which public way is
missing, and which issue of Numba asks for it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import logging
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.experimental import structref
from numba.extending import models, overload, register_model, typeof_impl

from four_seasons_env.engine import interpreted


@functools.cache
def _warn_uncached() -> None:
    warnings.warn(
        "four_seasons_env cannot keep its compiled code, because no cache folder is writable or "
        "the disk is full: every process compiles again. Set NUMBA_CACHE_DIR to a folder that is "
        "writable.",
        RuntimeWarning,
        stacklevel=4,
    )


class _Cache(FunctionCache):
    """Numba's cache of one function, which can fail without failing the call.

    Private parts of Numba, which has no public equivalent:

    - `_source_stamp`: Numba compares the time of the function's own file only, so code of a
      function that calls one in a changed file would be loaded (numba issues 1833 and 9304, open).
    - `_load_index`: no function says whether there is machine code on disk, which `announce` asks.
    - `_index_path`: `flush` writes an empty index, for which a full disk has no room.

    A file that is empty, cut short, or names a class that has moved raises whatever unpickling
    raises (numba issue 10434, open). Then the function is compiled again.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        file = self._cache_file
        file._source_stamp = (file._source_stamp, module_digest(function.__module__))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for a signature; None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep machine code; warn, once in a process, if it cannot be kept."""
        try:
            if self.index() is None:
                self.flush()  # type: ignore[no-untyped-call]
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError:
            # Numba writes the index first, so it may now name a file with code of an older source.
            with contextlib.suppress(OSError):
                Path(self._cache_file._index_path).unlink()
            _warn_uncached()

    def index(self) -> dict[Any, str] | None:
        """The files of machine code for the present source; None if the index is damaged."""
        try:
            found: dict[Any, str] = self._cache_file._load_index()
        except Exception:
            return None
        return found


_numba_log = logging.getLogger("numba")
if _numba_log.level == logging.NOTSET:  # with DEBUG from above, millions of bytes for one function
    _numba_log.setLevel(logging.WARNING)

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}
_njit: Any = numba.njit  # its types do not know all options


def _cached(function: Callable[..., Any], **options: Any) -> Any:
    # By default, Numba passes `forceinline` on from a caller to what it calls.
    dispatcher = _njit(**_OPTIONS, forceinline=False, **options)(function)
    if _file(function.__module__) is None:  # what its code depends on could not be told
        return dispatcher
    try:
        # `enable_caching` takes no other class of cache.
        dispatcher._cache = _Cache(function)
    except RuntimeError:  # Numba found no writable folder
        _warn_uncached()
    return dispatcher


def jit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function, without the GIL, and keep the machine code on disk.

    Numba considers a cached function fresh while its *own* file is unchanged, even if it calls
    functions of a file that has changed. So the stamp that Numba compares also covers the files
    that its file imports (`module_digest`). Integer division follows NumPy (no exception
    on zero).

    The code is cached next to the source or, if that folder is read-only, in the user's cache
    folder; `NUMBA_CACHE_DIR` names another. Several processes may compile at once: each writes its
    own file and moves it into place. If no folder is writable, nothing is kept.
    """
    compiled: Callable[..., Any] = _cached(function)
    return compiled


def internal(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function for compiled callers only, which takes less time than `jit`.

    It has no wrapper for calls from Python. It is compiled once for all constants of a type, as is
    an `inlined` one; `jit` compiles a function for each constant that a compiled caller passes.
    """
    return _Internal(_cached(function, no_cpython_wrapper=True), _Widening)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function into each of its callers, so that a caller's constants shape its code.

    A call with ``piles=5`` gets loops that are unrolled five times, and another call of the same
    function works for any number of piles. Python cannot call it.
    """
    dispatcher = _njit(**_OPTIONS, forceinline=True, no_cpython_wrapper=True)(function)
    return _Internal(dispatcher, _Widening)


def merged(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function as a part of each of its few callers, and not also on its own before.

    For small functions that take a tuple of many arrays, too: passing these takes longer than the
    function. Python can call it.
    """
    compiled: Callable[..., Any] = _cached(function, inline="always")
    return compiled


class _Internal:
    """A function that Python cannot call: without its wrapper, a call would crash the process.

    Numba has no such functions (numba issue 2541, open).
    """

    def __init__(self, dispatcher: Any, kind: Callable[[Any], Any]) -> None:
        self._dispatcher = dispatcher  # its type holds only a weak reference
        self.type = kind(dispatcher)
        functools.update_wrapper(self, dispatcher.py_func)

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(f"{self.__name__} is for compiled code")  # type: ignore[attr-defined]


class _Widening(types.Dispatcher):
    """The type of a function that is compiled for the types of constants, not for their values.

    Numba has no option for that (numba pull request 6043 proposed a related one).
    """

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        unliteral: Any = types.unliteral
        args = tuple(map(unliteral, args))
        kws = {name: unliteral(each) for name, each in kws.items()}
        return super().get_call_type(context, args, kws)


register_model(_Widening)(models.OpaqueModel)


@typeof_impl.register(_Internal)
def _type_of(function: _Internal, _: Any) -> Any:
    return function.type


def by_type(choose: Callable[..., Any]) -> Callable[..., Any]:
    """An `inlined` function whose code depends on the types of its arguments.

    This is the one way in which a type chooses the code; the file's docstring says why.

    Args:
        choose: takes Numba's types of the arguments, and returns the function for them, which has
            parameters of the same names.
    """

    @functools.wraps(choose)
    def function(*arguments: Any) -> Any:
        raise NotImplementedError(f"{choose.__name__} is for compiled code")

    options: Any = {**_OPTIONS, "no_cpython_wrapper": True, "forceinline": True}
    overload(function, jit_options=options)(choose)
    return function


def is_a(kind: Any, variant: type) -> bool:
    """Whether an argument's type, or the argument, is of a NamedTuple class."""
    return getattr(kind, "instance_class", type(kind)) is variant


def numbers(count: int) -> tuple[Any, ...]:
    """The numbers 0 to count - 1, which compiled code takes as values and not as constants.

    >>> UNTIL_HIDDEN, UNTIL_PROGRESS = numbers(2)
    >>> int(UNTIL_PROGRESS)
    1

    To Numba, an int of a module is a type of its own, and a NumPy scalar is any int64.
    """
    return tuple(np.arange(count))


@functools.cache
def announce(function: Callable[..., Any]) -> None:
    """Say on stderr, once, that a part of the package compiles, if a function is not in the cache.

    Args:
        function: one made by `jit`, which stands for all that its caller is about to compile.
    """
    cache = getattr(function, "_cache", None)
    has_code = getattr(function, "signatures", None)
    if isinstance(cache, _Cache) and not has_code and not cache.index():
        part = function.__module__.rpartition(".")[0]
        print(
            f"{part}: compiling, once on this machine: seconds for an environment, up to a minute "
            "for the planner and the solver ...",
            file=sys.stderr,
        )


# --- what a module depends on -----------------------------------------------------------------


@functools.cache
def module_digest(name: str) -> str:
    """The SHA-256, in hex, of the files that a module depends on.

    These are the module's own file, the files that it imports at the top level, those that they
    import, and so on. Only files of this package, and of the module's own package or script folder,
    count; packages installed in that folder and imports inside functions do not.

    Args:
        name: of a module that is imported, or is being imported, from a file.
    """
    packages = {__name__.partition(".")[0], name.partition(".")[0]}
    folder = Path(str(sys.modules[name].__file__)).parent
    # A walk over the imports, each file once.
    files: dict[str, Path] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        path = _file(module)
        if module in files or path is None or path.suffix != ".py":
            continue
        is_script = path.is_relative_to(folder) and "site-packages" not in path.parts
        if is_script or module.partition(".")[0] in packages:
            files[module] = path
            waiting += _imports(module, path)
    # In the order of names, so that the digest does not depend on the order of the imports.
    digest = hashlib.sha256()
    for module in sorted(files):
        digest.update(files[module].read_bytes())
    return digest.hexdigest()


def _file(module: str) -> Path | None:
    """The file of a module on the disk; None for a module in a notebook or in an archive."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


@functools.cache
def _imports(module: str, path: Path) -> tuple[str, ...]:
    """The names that a module imports at the top level; some are modules, others are not."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    names: list[str] = []
    for statement in ast.parse(path.read_bytes()).body:
        if isinstance(statement, ast.Import):
            names += [alias.name for alias in statement.names]
        elif isinstance(statement, ast.ImportFrom):
            name = "." * statement.level + (statement.module or "")
            source = importlib.util.resolve_name(name, package)
            names += [source, *(f"{source}.{alias.name}" for alias in statement.names)]
    return tuple(names)


# --- many arrays in one argument --------------------------------------------------------------


class _TypedProxy(structref.StructRefProxy):
    """A structref whose type is an attribute, for `_typed`.

    Numba reads `_numba_type_` of a proxy at every call. Its own property for that is Python code
    in which an exception of a signal handler is dropped: Ctrl-C would be lost one time in twenty.
    Numba has no public way to store the type (numba pull request 5840 proposes one for tuples).
    """

    __slots__ = ("_numba_type_",)


def _typed(proxy: Any) -> Any:
    """The same proxy, with its type stored."""
    proxy._numba_type_ = super(_TypedProxy, proxy)._numba_type_
    return proxy


@structref.register
class BundleType(types.StructRef):
    """Numba's type of a `Bundle`."""


class Bundle(_TypedProxy):
    """Five NamedTuples for compiled functions, as `make_bundle` takes them.

    It is passed as one reference. At each call, Numba checks the type of each argument, and of each
    element of a tuple, and unpacks it. For the arrays of a batch that takes longer than the steps
    of a dozen games. A bundle's arrays are unpacked once, when it is made.

    It holds the arrays that it was made of, not copies. It cannot be pickled: a copy of its owner
    makes a bundle of its own arrays.
    """

    __slots__ = ()


structref.define_proxy(Bundle, BundleType, ["contract", "shared", "settings", "buffers", "scratch"])


@jit
def _bundle_of(contract, shared, settings, buffers, scratch):
    """See `make_bundle`."""
    return Bundle(contract, shared, settings, buffers, scratch)  # type: ignore[no-untyped-call]


def make_bundle(contract: Any, shared: Any, settings: Any, buffers: Any, scratch: Any) -> Bundle:
    """A bundle of these NamedTuples.

    Args:
        contract: values that do not change, and that every environment has.
        shared: arrays that are written into, and that every environment has.
        settings: values that do not change, of this kind of environment.
        buffers: arrays that are written into, of this kind of environment.
        scratch: arrays whose content is not needed after a call; () for none.
    """
    bundle: Bundle = _typed(_bundle_of(contract, shared, settings, buffers, scratch))
    return bundle


# --- without a compiler -------------------------------------------------------------------------

INTERPRETED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
"""Whether all this runs as Python."""

if INTERPRETED:
    jit = merged = interpreted.jit
    internal = inlined = interpreted.internal
    by_type, make_bundle = interpreted.by_type, interpreted.Bundle  # type: ignore[assignment]
