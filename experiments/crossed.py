"""Means and differences over training seeds and deals: one model, for intervals and p alike.

All seeds of an algorithm play the same deals, so their games are not independent. A result is the
sum of four parts (a crossed model with random effects):

    result = mean + part of the seed + part of the deal + rest

The variance of a mean follows from the variance components, which mean squares estimate (as in a
two-way analysis of variance). Each mean square has its degrees of freedom, and Satterthwaite's
approximation gives those of their sum, for Student's t (Satterthwaite, "An Approximate Distribution
of Estimates of Variance Components", 1946).

- One seed cannot show how seeds differ: its interval says how these weights play.
- The mean square of the seeds is never taken as smaller than that of the rest. Without this, three
  seeds that happen to agree would make an interval too narrow.
- Two algorithms share deals, and no seeds. In their difference, what an easy deal gives to both
  cancels, and each side adds the variance of its own seeds.

`experiments/studies/intervals.py` simulates both: how often an interval holds the truth, and how
often a difference is found where there is none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL = 0.95
"""Share of the intervals that hold the true value."""


class Estimate(NamedTuple):
    """A mean or a difference, and how certain it is."""

    value: float
    variance: float
    """Of the estimate; NaN for a single deal."""
    freedom: float
    """Degrees of freedom of the variance, for Student's t; of the deals, if the variance is 0."""

    def interval(self) -> tuple[float, float]:
        """The ends of its 95% interval; NaN for a single deal."""
        reach = stats.t.ppf((1 + LEVEL) / 2, self.freedom) * self.variance**0.5
        return float(self.value - reach), float(self.value + reach)

    def p_value(self) -> float:
        """The two-sided p-value of the hypothesis that the true value is 0.

        It is below 0.05 where the interval leaves out 0, unless all deals differ by the same
        number, which leaves no interval. Then it is that of a sign test: 2 x 0.5^deals.
        """
        if self.value == 0:
            return 1.0
        if self.variance == 0:
            return float(0.5**self.freedom)
        return float(2 * stats.t.sf(abs(self.value) / self.variance**0.5, self.freedom))


def mean_of(table: NDArray[np.float64]) -> Estimate:
    """The mean over seeds and deals.

    >>> estimate = mean_of(np.array([[1.0, 0, 0, 1], [1, 1, 0, 1]]))
    >>> round(estimate.value, 3), [round(end, 2) for end in estimate.interval()]
    (0.625, [-0.28, 1.53])

    Args:
        table: float64 of shape (seeds, deals).
    """
    return _sum(float(table.mean()), [_deals(table.mean(axis=0)), *_seeds(table)])


def difference_of(table: NDArray[np.float64], other: NDArray[np.float64]) -> Estimate:
    """The difference of the means of two algorithms, on the same deals.

    Args:
        table: float64 of shape (seeds, deals).
        other: of the other algorithm, which may have another number of seeds.
    """
    by_deal = table.mean(axis=0) - other.mean(axis=0)
    return _sum(float(by_deal.mean()), [_deals(by_deal), *_seeds(table), *_seeds(other)])


def rate_interval(table: NDArray[np.float64]) -> tuple[float, float]:
    """Wilson's 95% interval of a win rate, for as many independent games as are worth these.

    Games of several seeds on the same deals are worth fewer games than they are. One seed's games
    are independent: then it is Wilson's interval itself.

    Args:
        table: 0 or 1, float64 of shape (seeds, deals).
    """
    rate, variance, freedom = mean_of(table)
    seeds, deals = table.shape
    # Where all games were won or lost, nothing shows how they hang together: the deals count.
    games = float(deals)
    if seeds == 1 or not variance:
        freedom = np.inf
    else:
        games = min(rate * (1 - rate) / variance, float(table.size))
    reach = stats.t.ppf((1 + LEVEL) / 2, freedom)
    weight = reach**2 / games
    centre = (rate + weight / 2) / (1 + weight)
    half = reach * (rate * (1 - rate) / games + weight / (4 * games)) ** 0.5 / (1 + weight)
    return max(float(centre - half), 0.0), min(float(centre + half), 1.0)


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's p-values of several tests at once (Holm 1979); NaN stays NaN.

    If the hypotheses with an adjusted p below 0.05 are rejected, the chance is at most 5% that a
    true one is among them, whatever their number.

    >>> holm(np.array([0.01, 0.03, np.nan, 0.04])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    adjusted = np.full(len(p_values), np.nan)
    order = np.argsort(p_values)[: np.isfinite(p_values).sum()]  # NaN come last
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return adjusted


Term = tuple[float, float]
"""A mean square, divided so that it adds to a variance, and its degrees of freedom."""


def _deals(by_deal: NDArray[np.float64]) -> Term:
    """The part of deals and rest in the variance of a mean over deals."""
    deals = len(by_deal)
    return (float(by_deal.var(ddof=1)) / deals, deals - 1) if deals > 1 else (np.nan, np.nan)


def _seeds(table: NDArray[np.float64]) -> list[Term]:
    """The part of the seeds: their mean square, less that of the rest, which `_deals` has."""
    seeds, deals = table.shape
    if seeds == 1 or deals == 1:
        return []
    of_seeds, of_deals = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    freedom = (seeds - 1) * (deals - 1)
    rest = float(((table - of_seeds - of_deals + table.mean()) ** 2).sum()) / freedom
    between = deals * float(of_seeds.var(ddof=1))
    size = seeds * deals
    return [(max(between, rest) / size, seeds - 1), (-rest / size, freedom)]


def _sum(value: float, terms: list[Term]) -> Estimate:
    """An estimate whose variance is a sum of mean squares, by Satterthwaite's approximation."""
    variance = sum(each for each, _ in terms)
    spread = sum(each**2 / freedom for each, freedom in terms)
    freedom = variance**2 / spread if spread else terms[0][1]
    return Estimate(value, variance, freedom)
