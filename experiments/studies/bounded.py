"""The interval of a mean of numbers from 0 to 1, whatever their distribution.

Where mistakes are rare and large, most games show none, and Student's t knows nothing of the rest:
of 100 games without a mistake it makes an interval of no width. This one bets against each possible
mean: a player who stakes a part of its money on every number being above the mean, or below it,
gets rich only if the mean is another. By Ville's inequality the chance that such a player ever has
20 times its money, if the mean is right, is at most 5%. The interval holds the means against which
nobody has got rich.

Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024), hedged
capital with predictable stakes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.experiments.crossed import LEVEL

_MEANS = np.linspace(0, 1, 10_001)
"""Possible means: steps of a hundredth of a percentage point."""
_MOST = 0.75
"""Largest part of the money that a bet can lose."""


def bounded_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    """The 95% interval of the mean of independent numbers from 0 to 1.

    >>> low, high = bounded_interval(np.zeros(1000))
    >>> low, round(high, 3)
    (0.0, 0.005)

    Args:
        values: float64 of shape (n,), in the order in which they were drawn.

    Raises:
        ValueError: for a number that is not from 0 to 1.
    """
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"values must be from 0 to 1, not {values.min():g} to {values.max():g}")
    count, chance = len(values), 1 - LEVEL
    # 1. The stakes: large where the numbers so far vary little. Each depends on earlier numbers.
    number = np.arange(1, count + 1)
    mean = (0.5 + np.cumsum(values)) / (number + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (number + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    stakes = np.sqrt(2 * np.log(2 / chance) / (count * before))
    # 2. The money of both players for each possible mean, as logarithms; and the most they had.
    with np.errstate(divide="ignore"):
        above, below = _MOST / _MEANS, _MOST / (1 - _MEANS)
    up, down, most = np.zeros_like(_MEANS), np.zeros_like(_MEANS), np.zeros_like(_MEANS)
    for value, stake in zip(values, stakes, strict=True):
        up += np.log1p(np.minimum(stake, above) * (value - _MEANS))
        down += np.log1p(-np.minimum(stake, below) * (value - _MEANS))
        most = np.maximum(most, np.logaddexp(up, down) - np.log(2))
    # 3. The means that are left.
    left = _MEANS[most < -np.log(chance)]
    return float(left[0]), float(left[-1])
