"""Bit sets in uint64 words: count and find bits with processor instructions, and build sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic as _intrinsic

from four_seasons_env.engine.jit import inlined


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's decorator, with types; compiled callers omit the typing context."""
    made: Callable[..., Any] = _intrinsic(function)
    return made


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a uint64 are set, as a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic
def lowest(typing_context: Any, word: Any) -> Any:
    """The number of the lowest bit that is set in a uint64, as a uint64; 64 for none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@intrinsic
def highest(typing_context: Any, word: Any) -> Any:
    """The number of the highest bit that is set in a uint64, as a uint64; not for 0."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, False))
        return builder.sub(context.get_constant(types.uint64, 63), zeros)

    return types.uint64(types.uint64), generate


@inlined
def bit_set(numbers, first, last):
    """The bit set, as a uint64, of the numbers (each below 64) at indices first to last - 1."""
    word = np.uint64(0)
    for i in range(first, last):
        word |= np.uint64(1) << np.uint64(numbers[i])
    return word
