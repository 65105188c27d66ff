"""Checks of arrays before compiled code uses their values as indices.

Compiled code does not look: a number that is too large reads or writes memory of somebody else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from four_seasons_env.engine.jit import jit

UNSCALED = "VecNormalize(norm_obs=False)"
"""The remedy where whole numbers arrive as other floats."""


def check_array(
    name: str,
    array: Any,
    dtypes: tuple[Any, ...],
    shape: tuple[int | None, ...],
    largest: Any = None,
    chosen: Any = None,
) -> None:
    """Check dtype, shape and values of an array.

    Args:
        name: the argument, for the message: "places".
        array: its value.
        dtypes: those that it may have.
        shape: None for a length that may be any.
        largest: the largest value of each element of a row, or of all; the smallest is 0. None:
            the values are not checked.
        chosen: int64 of shape (m,), the rows to check. None: all.

    Raises:
        TypeError: unless it is an array of one of the dtypes.
        ValueError: for another shape, or a value that is out of range.
    """
    if not isinstance(array, np.ndarray) or array.dtype not in dtypes:
        expected = " or ".join(np.dtype(each).name for each in dtypes)
        found = getattr(array, "dtype", type(array).__name__)
        scaled = name == "places" and getattr(found, "kind", "") == "f"
        hint = f"; use {UNSCALED}" if scaled else ""
        raise TypeError(f"{name} must be an array of {expected}, not of {found}{hint}")
    lengths = zip(array.shape, shape, strict=False)
    if array.ndim != len(shape) or not all(length in (None, size) for size, length in lengths):
        expected = str(shape).replace("None", "n")
        raise ValueError(f"{name} must be of shape {expected}, not {array.shape}")
    if largest is None:
        return
    most = np.empty(array.shape[1:], array.dtype)
    most[...] = largest
    if (i := _first_wrong(array.reshape(len(array), most.size), most.ravel(), chosen)) >= 0:
        j = tuple(np.argwhere((array[i] < 0) | (array[i] > most))[0].tolist())
        raise ValueError(f"{name}{[i, *j]} must be 0 to {most[j]}, not {array[i][j]}")


@jit
def _first_wrong(array, largest, chosen):
    """The first row of (n, m) with a value below 0, or above its largest of (m,); -1: none."""
    for k in range(len(array) if chosen is None else len(chosen)):
        i = k if chosen is None else chosen[k]
        wrong = False
        for j in range(len(largest)):  # without a branch, for vector units
            wrong |= (array[i, j] < 0) | (array[i, j] > largest[j])
        if wrong:
            return i
    return -1
