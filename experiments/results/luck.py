"""Statistics of luck: win rates without most of the luck, and the test for peeking.

`four_seasons_env.agents.planner.luck` defines luck. Its mean is zero for every fair player, so any
multiple of it may be subtracted from a result. The multiple that leaves the least variance (a
control variate) is fitted on other deals than it corrects, so the corrected result keeps its mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

FOLDS = 10
"""Parts of the deals; each is corrected with the multiple that fits the others."""
_FEWEST = 50
"""Fewest games to fit a multiple; with fewer, the multiple is 1."""
_NO_VARIANCE = 1e-12
"""Variances below this are rounding errors of a W that does not depend on the cards."""

_PLAYER = ["rules", "agent", "play", "train_seed"]


def with_adjusted(results: pd.DataFrame) -> pd.DataFrame:
    """Add the column `adjusted`, the luck-adjusted result of each game, if luck was measured.

    Args:
        results: a row per game; returned unchanged without a column `luck`.
    """
    if "luck" not in results:
        return results
    results = results.assign(adjusted=np.nan)
    for _, played in results.groupby(_PLAYER, sort=False, dropna=False):
        if played["luck"].notna().all():
            results.loc[played.index, "adjusted"] = adjust(
                played["won"].to_numpy(np.float64),
                played["luck"].to_numpy(np.float64),
            )
    return results


def adjust(won: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """The luck-adjusted results of one player's games.

    Args:
        won: (games,), 0 or 1.
        luck: (games,), with mean zero for a fair player.

    Returns:
        float64 (games,), with the same expectation as ``won``.
    """
    adjusted = won - luck
    if len(won) < _FEWEST:
        return adjusted
    fold = np.arange(len(won)) % FOLDS
    for k in range(FOLDS):
        here = fold == k
        with_mean = np.column_stack([np.ones((~here).sum()), luck[~here]])
        _, multiple = np.linalg.lstsq(with_mean, won[~here])[0]
        adjusted[here] = won[here] - multiple * luck[here]
    return adjusted


def peeking(played: pd.DataFrame) -> tuple[float, float]:
    """The test for peeking: whether a player had more luck than chance explains.

    Args:
        played: the games of one player; columns luck, luck_variance and train_seed.

    Returns:
        z, the sum of the luck over its standard deviation, and p, the probability that a fair
        player has at least as much. With several training seeds, the most extreme seed counts and p
        is multiplied by their number (Bonferroni), because they play the same deals. NaN if luck is
        missing or has no variance.
    """
    runs = played.groupby("train_seed", dropna=False)[["luck", "luck_variance"]].sum(min_count=1)
    variances = runs["luck_variance"]
    if not (variances > _NO_VARIANCE).all():
        return np.nan, np.nan
    z = float((runs["luck"] / np.sqrt(variances)).max())
    return z, min(1.0, len(runs) * float(stats.norm.sf(z)))


def equivalent_deals(won: NDArray[np.float64], adjusted: NDArray[np.float64], deals: int) -> float:
    """The number of deals that give the plain result the certainty of the adjusted one.

    Args:
        won: (games,) results.
        adjusted: (games,) luck-adjusted results.
        deals: number of played deals.
    """
    left = float(adjusted.var())
    return deals * float(won.var()) / left if left > 0 else np.nan


def luck_columns(played: pd.DataFrame) -> dict[str, Any]:
    """Columns of a summary: adjusted, equivalent_deals, luck_z, luck_p.

    Args:
        played: the games of one agent from `with_adjusted`, all with luck.
    """
    z, p = peeking(played)
    won, adjusted = played["won"].to_numpy(np.float64), played["adjusted"].to_numpy()
    return {
        "adjusted": float(adjusted.mean()),
        "equivalent_deals": equivalent_deals(won, adjusted, played["deal"].nunique()),
        "luck_z": z,
        "luck_p": p,
    }
