"""`Spares`: arrays that were given out are given out again once nobody holds them.

A large new array costs more than what is written into it, as the system clears each of its pages.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Arrays = TypeVar("Arrays", bound=tuple[NDArray[Any], ...])

_MOST = 4
"""Tuples that are remembered: those of a step, of the one before, and spares."""


def _references(arrays: Iterable[NDArray[Any]]) -> list[int]:
    """How often each array is referred to, by names, views, tensors and the like."""
    return [sys.getrefcount(array) for array in arrays]


(_UNHELD,) = _references((np.zeros(1),))
"""Of an array that only its tuple refers to."""


class Spares(Generic[Arrays]):
    """Tuples of arrays, all made alike.

    What is given out of them are to be views: their flags and shapes are then their owner's.
    """

    def __init__(self) -> None:
        self._given: deque[Arrays] = deque(maxlen=_MOST)

    def take(self, make: Callable[[], Arrays]) -> Arrays:
        """Arrays that nobody holds, as they were left; new ones if there are none."""
        for arrays in self._given:
            if set(_references(arrays)) == {_UNHELD}:
                return arrays
        arrays = make()
        self._given.append(arrays)
        return arrays

    def __reduce__(self) -> tuple[type[Spares[Arrays]], tuple[()]]:
        """A copy has given out nothing yet."""
        return Spares, ()
