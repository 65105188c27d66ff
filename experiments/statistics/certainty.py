"""How certain a comparison is: which differences its deals resolve, and how many more it needs.

`confidence_sequence` holds at all numbers of deals at once, so a comparison may stop at any of
them: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting" (2024),
theorem 2 (the predictable plug-in empirical Bernstein confidence sequence).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from four_seasons_env.experiments.statistics.summary import BASELINE, LEVEL, labels

_TARGETS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)
"""Differences in points that a table may not resolve yet."""


def shares_won(results: pd.DataFrame) -> pd.DataFrame:
    """The results of one rule set: a row per deal, a column per agent and way to play.

    Each cell is the share of the agent's training seeds that won. Deals that not all have played
    are left out; the order of the deals is that of their numbers.
    """
    won = results.assign(who=labels(results), won=results["won"].astype(float))
    return won.groupby(["deal", "who"], sort=False)["won"].mean().unstack().dropna().sort_index()


def what_is_certain(results: pd.DataFrame) -> str:
    """Say which differences the deals of one rule set resolve, and how many deals others need.

    The widest 95% interval counts, of the paired differences between two agents; of a single agent,
    that of its win rate.
    """
    won = shares_won(results)
    pairs = [won[first] - won[second] for first, second in combinations(won, 2)]
    spread = max((np.std(each, ddof=1) for each in pairs or [won[name] for name in won]), default=0)
    deals = len(won)
    if deals < 2 or not spread > 0:
        return f"{deals:,} deals: too few to distinguish any agents"
    width = 100 * stats.norm.ppf((1 + LEVEL) / 2) * spread / np.sqrt(deals)
    what = "differences under" if pairs else "the win rate is known to within"
    chance = " are within chance" if pairs else ""
    text = f"{deals:,} deals: {what} {_points(float(f'{width:.2g}'))}{chance}"
    target = next((each for each in _TARGETS if each < width), None)
    if target is None:
        return text
    needed = int(float(f"{deals * (width / target) ** 2:.2g}"))
    return f"{text}; resolving {_points(target)} takes about {needed:,} deals"


def _points(number: float) -> str:
    return f"{number:g} point{'' if number == 1 else 's'}"


def confidence_sequence(differences: NDArray[np.float64], points: float) -> tuple[float, float]:
    """An interval of a mean that holds with 95% at all numbers of deals at once.

    Args:
        differences: float64 of shape (deals,), each from -1 to 1, in the order of play.
        points: half the width, in percentage points, for which the sequence is narrowest soonest.

    Returns:
        The ends, after all deals.
    """
    x = (differences + 1) / 2
    count = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (count + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (count + 1)
    before = np.concatenate([[0.5], means[:-1]])  # the bets use earlier deals only
    bets = np.minimum(points / 200 / np.concatenate([[0.25], variances[:-1]]), 0.5)
    risk = np.cumsum((x - before) ** 2 * (-np.log1p(-bets) - bets))
    total = np.cumsum(bets)
    centres, widths = np.cumsum(bets * x) / total, (np.log(2 / (1 - LEVEL)) + risk) / total
    low, high = (centres - widths).max(), (centres + widths).min()  # all of them hold
    return float(2 * low - 1), float(2 * high - 1)


def sequential_intervals(results: pd.DataFrame, points: float) -> pd.DataFrame:
    """The differences to the heuristic, else to the first agent, in percentage points.

    Args:
        results: of one rule set, with two agents or ways to play at least.
        points: see `confidence_sequence`.

    Returns:
        A row per agent and way to play: agent, baseline, deals, difference, low, high.
    """
    won = shares_won(results)
    baseline = BASELINE if BASELINE in won else won.columns[0]
    rows = []
    for agent in won.columns.drop(baseline):
        differences = (won[agent] - won[baseline]).to_numpy(np.float64)
        low, high = confidence_sequence(differences, points)
        row = {"agent": agent, "baseline": baseline, "deals": len(won)}
        ends = {"difference": differences.mean(), "low": low, "high": high}
        rows.append(row | {name: 100 * value for name, value in ends.items()})
    return pd.DataFrame(rows)
