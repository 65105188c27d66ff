"""Statistics of a census: winnable, lost and undecided deals."""

from __future__ import annotations

import pandas as pd
from scipy import stats


def summarise_census(results: pd.DataFrame, by: str = "rules") -> pd.DataFrame:
    """A row for each value of a column (rules, base), in order of appearance.

    Columns: that column, deals, won, lost, unknown; low and high, the bounds of the share of
    winnable deals in the census; all_low and all_high, bounds for all possible deals (lower end of
    the 95% Wilson interval of the share won, upper end of that of the share not lost);
    moves_median, moves_99 and moves_most of the solutions; seconds (mean).
    """
    rows = []
    for value, solved in results.groupby(by, sort=False, observed=True):
        counts = solved["status"].value_counts()
        won, lost = int(counts.get("won", 0)), int(counts.get("lost", 0))
        deals = len(solved)
        lengths = solved["moves"][solved["status"] == "won"]
        rows.append(
            {
                by: value,
                "deals": deals,
                "won": won,
                "lost": lost,
                "unknown": deals - won - lost,
                "low": won / deals,
                "high": 1 - lost / deals,
                "all_low": stats.binomtest(won, deals).proportion_ci(method="wilson").low,
                "all_high": stats.binomtest(deals - lost, deals)
                .proportion_ci(method="wilson")
                .high,
                "moves_median": lengths.median(),
                "moves_99": lengths.quantile(0.99),
                "moves_most": lengths.max(),
                "seconds": solved["seconds"].mean(),
            }
        )
    return pd.DataFrame(rows)
