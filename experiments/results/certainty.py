"""How certain a comparison is: which differences its deals resolve, and how many more it needs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from four_seasons_env.experiments.results.summary import LEVEL, labels

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
