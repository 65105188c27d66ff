"""How certain a comparison is: which differences its deals resolve, and how many more it needs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from four_seasons_env.experiments.results.summary import LEVEL, labels

_TARGETS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)
"""Differences in points, for which the necessary number of deals is estimated."""


def what_is_certain(results: pd.DataFrame) -> str:
    """A sentence on the differences that the deals of one rule set resolve, and the deals needed.

    The widest 95% interval counts: of the paired differences between two agents, or of the win rate
    of a single agent.
    """
    # A row per deal that all have played, a column per agent: the share of its seeds that won.
    rows = results.assign(who=labels(results), won=results["won"].astype(float))
    won = rows.groupby(["deal", "who"], sort=False)["won"].mean().unstack().dropna().sort_index()
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
