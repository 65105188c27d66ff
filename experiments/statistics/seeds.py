"""Statistics over training seeds: what may be said of an algorithm, not of one run of it.

Agarwal et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (2021): the
interquartile mean over runs, and the probability that a run of one algorithm beats a run of
another, both with bootstrap intervals over runs. Means over runs *and* deals get the bootstrap of
Owen, "The pigeonhole bootstrap" (2007), which draws both anew: all seeds play the same deals, so
neither are independent samples of the games.
"""

from __future__ import annotations

import functools
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

RESAMPLES = 2000
LEVEL = 0.95


def crossed_interval(table: NDArray[np.float64]) -> tuple[float, float]:
    """A 95% percentile interval of a table's mean, its rows and its columns both being samples.

    Args:
        table: float64 of shape (seeds, deals). One seed makes it the plain bootstrap over deals.
    """
    seeds, deals = table.shape
    rng = np.random.default_rng(1)
    rows = rng.multinomial(seeds, np.full(seeds, 1 / seeds), RESAMPLES) / seeds
    means = ((table @ _draws(deals).T).T * rows).sum(axis=1)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


@functools.lru_cache(maxsize=4)
def _draws(deals: int) -> NDArray[np.float64]:
    """How much each deal weighs in each resample; shape (RESAMPLES, deals), rows sum to 1."""
    rng = np.random.default_rng(0)
    counts = [np.bincount(rng.integers(0, deals, deals), minlength=deals) for _ in range(RESAMPLES)]
    return np.array(counts) / deals


def interquartile_mean(values: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """The mean of the middle half."""
    mean: NDArray[np.float64] = stats.trim_mean(values, 0.25, axis=axis)
    return mean


def iqm_interval(rates: NDArray[np.float64]) -> tuple[float, float, float]:
    """The interquartile mean of the runs' results, and its 95% bootstrap interval over runs.

    One run has no spread: the interval is NaN then.
    """
    mean = float(interquartile_mean(rates))
    if len(rates) < 2:
        return mean, np.nan, np.nan
    if np.ptp(rates) == 0:
        return mean, mean, mean
    found = stats.bootstrap(
        (rates,),
        interquartile_mean,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return mean, float(found.low), float(found.high)


def _beats(
    first: NDArray[np.float64], second: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    """Share of pairs of runs in which the first is better; a tie counts half (Mann-Whitney)."""
    statistic = stats.mannwhitneyu(first, second, axis=axis, method="asymptotic").statistic
    share: NDArray[np.float64] = statistic / (first.shape[axis] * second.shape[axis])
    return share


def improvement(
    first: NDArray[np.float64], second: NDArray[np.float64]
) -> tuple[float, float, float]:
    """The probability that a run of the first is better than one of the second.

    Args:
        first: results of the runs, one each.
        second: likewise.

    Returns:
        The share of pairs, and its 95% bootstrap interval over runs (NaN for one run against one).
    """
    share = float(_beats(first, second))
    if len(first) + len(second) < 3:
        return share, np.nan, np.nan
    rng = np.random.default_rng(0)
    # scipy's bootstrap takes no sample of one, such as an agent that does not learn: it is always
    # drawn as itself.
    drawn = [each[rng.integers(0, len(each), (RESAMPLES, len(each)))] for each in (first, second)]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(_beats(drawn[0], drawn[1], axis=1), [tail, 1 - tail])
    return share, float(low), float(high)


def improvements(results: pd.DataFrame) -> pd.DataFrame:
    """For each two agents of which one has several training seeds: how often the first is better.

    Columns: rules, first, second (an agent and how it plays), probability, low, high.
    """
    rows = []
    for rules, played in results.groupby("rules", sort=False):
        rates = {
            f"{agent}, {play}": runs.groupby("train_seed", dropna=False)["won"].mean().to_numpy()
            for (agent, play), runs in played.groupby(["agent", "play"], sort=False)
        }
        for first, second in combinations(rates, 2):
            if max(len(rates[first]), len(rates[second])) < 2:
                continue
            if rates[first].mean() < rates[second].mean():
                better, worse = second, first
            else:
                better, worse = first, second
            share, low, high = improvement(rates[better], rates[worse])
            row = {"rules": rules, "first": better, "second": worse, "probability": share}
            rows.append(row | {"low": low, "high": high})
    columns = ["rules", "first", "second", "probability", "low", "high"]
    return pd.DataFrame(rows, columns=columns)
