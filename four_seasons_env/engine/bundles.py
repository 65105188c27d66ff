"""`Bundle`: the arguments that a compiled function gets at every call, passed as one reference.

At each call, Numba checks the type of each argument, and of each element of a tuple, and unpacks
it. For the arrays of a batch that takes longer than the steps of a dozen games. A bundle's arrays
are unpacked once, when it is made.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.experimental import structref

from four_seasons_env.engine.jit import TypedProxy, jit, typed


@structref.register
class BundleType(types.StructRef):
    """Numba's type of a `Bundle`."""


class Bundle(TypedProxy):
    """Three NamedTuples for compiled functions: the fields ``buffers``, ``settings``, ``scratch``.

    It holds the arrays that it was made of, not copies. It cannot be pickled: a copy of its owner
    makes a bundle of its own arrays.
    """

    __slots__ = ()


structref.define_proxy(Bundle, BundleType, ["buffers", "settings", "scratch"])


@jit
def bundle_of(buffers, settings, scratch):
    """See `make_bundle`."""
    return Bundle(buffers, settings, scratch)  # type: ignore[no-untyped-call]


def make_bundle(buffers: Any, settings: Any, scratch: Any = ()) -> Bundle:
    """A bundle of these NamedTuples.

    Args:
        buffers: arrays that are written into.
        settings: values that do not change.
        scratch: arrays whose content is not needed after a call; () for none.
    """
    bundle: Bundle = typed(bundle_of(buffers, settings, scratch))
    return bundle
