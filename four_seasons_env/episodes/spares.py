"""`Spares`: arrays that are returned to callers again once nobody refers to them.

Allocating a large array costs more than writing it, because the system clears each of its pages.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T", bound=tuple[NDArray[Any], ...])

_MOST = 4
"""Tuples that are kept: those of this step, of the step before, and spares."""


def _references(arrays: Iterable[NDArray[Any]]) -> list[int]:
    """How many names, views, tensors and the like refer to each array."""
    return [sys.getrefcount(array) for array in arrays]


(_UNHELD,) = _references((np.zeros(1),))
"""References to an array that only its tuple refers to."""


class Spares(Generic[T]):
    """Tuples of arrays of the same shapes and dtypes.

    Return only views of them to a caller, who may change a view's flags and shape.
    """

    def __init__(self) -> None:
        self._given: deque[T] = deque(maxlen=_MOST)

    def take(self, make: Callable[[], T]) -> T:
        """Arrays that nobody refers to, with their old content; new ones if there are none."""
        for arrays in self._given:
            if set(_references(arrays)) == {_UNHELD}:
                return arrays
        arrays = make()
        self._given.append(arrays)
        return arrays

    def __reduce__(self) -> tuple[type[Spares[T]], tuple[()]]:
        """A copy starts empty."""
        return Spares, ()
