"""How certain a comparison is: which differences it resolves, and what it would take for more."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.experiments.results.summary import by_seed, labels, middle, resampled_means

_TARGETS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)
"""Differences in points, for which the necessary number of deals is estimated."""

_FEW = 5
"""The number of training seeds from which an interval that resamples them is wide enough."""


def what_is_certain(results: pd.DataFrame) -> str:
    """A sentence on the differences that the games of one rule set resolve, and the deals needed.

    The widest 95% interval counts: of the paired differences between two agents, or of the win rate
    of a single agent. As in the table, training seeds and deals are both samples
    (`four_seasons_env.experiments.results.summary.crossed_interval`).
    """
    rows = results.assign(who=labels(results))
    played = rows.groupby("who", sort=False)
    # A row per deal that all have played, a column per agent and training seed.
    won = pd.concat({who: by_seed(own, "won").T for who, own in played}, axis=1, join="inner")
    won, deals = won.sort_index(), len(won)
    tables = [won[who].to_numpy().T for who in played.groups] if deals > 1 else []
    # With any number of deals, the width over seeds alone would remain.
    seeds = [table.mean(axis=1, keepdims=True) for table in tables]
    widths = zip(_widths(tables), _widths(seeds), strict=True)
    width, floor = max(widths, default=(0, 0))
    if not width > 0:
        return f"{deals:,} deals: too few to distinguish any agents"
    what = "differences under" if len(tables) > 1 else "the win rate is known to within"
    chance = " are within chance" if len(tables) > 1 else ""
    text = f"{deals:,} deals: {what} {_points(float(f'{width:.2g}'))}{chance}"
    target = next((each for each in _TARGETS if each < width), None)
    if target is not None and target > floor:
        needed = int(float(f"{deals * (width**2 - floor**2) / (target**2 - floor**2):.2g}"))
        text += f"; resolving {_points(target)} takes about {needed:,} deals"
    elif target is not None:
        text += f"; resolving {_points(target)} takes more training seeds, not more deals"
    return text + _caveat(rows.dropna(subset="train_seed").groupby("who")["train_seed"].nunique())


def _caveat(seeds: pd.Series) -> str:
    """A warning of too few training seeds; "" if there are enough, or nothing was trained."""
    fewest = min(seeds, default=_FEW)
    if fewest == 1:
        return "; one training seed says how its weights play, not how well its algorithm learns"
    if fewest < _FEW:
        return f"; {fewest} training seeds are few: the true intervals are wider"
    return ""


def _widths(tables: list[NDArray[np.float64]]) -> list[float]:
    """Half of each pair's interval, or of the only table's, in points."""
    first, second = ([resampled_means(each, number) for each in tables] for number in (1, 2))
    means = [
        first[i] - (second if len(tables[i]) > 1 else first)[j]
        for i, j in combinations(range(len(tables)), 2)
    ]
    ends = [middle(each) for each in means or first]
    return [100 * (high - low) / 2 for low, high in ends]


def _points(number: float) -> str:
    return f"{number:g} point{'' if number == 1 else 's'}"
