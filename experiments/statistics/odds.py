"""Statistics of a census: how many deals can be won, and how many are undecided."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from scipy import stats

from four_seasons_env.experiments.statistics.summary import bounds_as_text


def summarise_census(results: pd.DataFrame, by: str = "rules") -> pd.DataFrame:
    """A row for each value of a column (rules, base), in order of appearance.

    Columns: that column, deals, won, lost, unknown; low and high, the bounds of the share of
    winnable deals among these; all_low and all_high, bounds for all deals there are: the lower end
    of the 95% Wilson interval of the share won, and the upper end of that of the share not lost;
    moves_median, moves_99 and moves_most of the solutions found; seconds (mean).
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


def census_as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as cells of text."""

    def whole(column: str) -> pd.Series:
        return summary[column].map(lambda value: "-" if pd.isna(value) else f"{value:.0f}")

    winnable = map(bounds_as_text, summary["low"], summary["high"])
    of_all = map(bounds_as_text, summary["all_low"], summary["all_high"])
    return pd.DataFrame(
        {
            summary.columns[0]: summary.iloc[:, 0],
            "deals": summary["deals"].map("{:,}".format),
            "won": summary["won"].map("{:,}".format),
            "lost": summary["lost"].map("{:,}".format),
            "open": summary["unknown"].map("{:,}".format),
            "winnable %": list(winnable),
            "of all deals % [95%]": list(of_all),
            "moves: median": whole("moves_median"),
            "99%": whole("moves_99"),
            "most": whole("moves_most"),
            "s/deal": summary["seconds"].map("{:.2f}".format),
        }
    )


def decided_within(
    results: pd.DataFrame, limits: Sequence[float] = (0.1, 1, 10, 100)
) -> pd.DataFrame:
    """How many deals are decided in so many seconds each, as cells of text."""
    decided = results[results["status"] != "unknown"]
    rows = []
    for limit in limits:
        counts = decided["status"][decided["seconds"] <= limit].value_counts()
        won, lost = int(counts.get("won", 0)), int(counts.get("lost", 0))
        rows.append(
            {
                "seconds each": f"{limit:g}",
                "won": f"{won:,}",
                "lost": f"{lost:,}",
                "decided %": f"{100 * (won + lost) / len(results):.2f}",
            }
        )
    return pd.DataFrame(rows)
