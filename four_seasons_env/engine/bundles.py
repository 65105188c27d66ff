"""`Bundle`: what compiled functions are given at every call, handed over as one reference.

At each call, Numba looks at the type of each argument, and of each element of a tuple, and unpacks
it; for the arrays of a batch that takes longer than steps of a dozen games. A bundle's are unpacked
once, when it is made.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.experimental import structref

from four_seasons_env.engine.jit import jit


@structref.register
class BundleType(types.StructRef):
    """Numba's type of a `Bundle`."""


class Bundle(structref.StructRefProxy):
    """Three NamedTuples for compiled functions: the fields ``buffers``, ``settings``, ``scratch``.

    The arrays in them are those that it was made of, not copies. It cannot be pickled: a copy of
    its owner makes one of its own arrays.

    Numba asks a proxy for its type at every call, through a property that is Python code, and drops
    what a signal's handler raises there: Ctrl-C would be lost one time in twenty. So the type is an
    attribute here.
    """

    __slots__ = ("_numba_type_",)


structref.define_proxy(  # type: ignore[no-untyped-call]
    Bundle, BundleType, ["buffers", "settings", "scratch"]
)


@jit
def _bundle(buffers, settings, scratch):
    return Bundle(buffers, settings, scratch)  # type: ignore[no-untyped-call]


def make_bundle(buffers: Any, settings: Any, scratch: Any = ()) -> Bundle:
    """A bundle of these NamedTuples.

    Args:
        buffers: arrays that are written into.
        settings: what does not change.
        scratch: arrays that hold nothing between two calls; () for none.
    """
    bundle: Bundle = _bundle(buffers, settings, scratch)
    bundle._numba_type_ = super(Bundle, bundle)._numba_type_  # type: ignore[misc]
    return bundle
