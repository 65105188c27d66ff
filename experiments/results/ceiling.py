"""Statistics of a census, and the ceiling: what a player who sees every card could win.

A census solves deals one by one. Open deals count as lost in the lower bound, and as
won in the upper bound.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from scipy import stats

from four_seasons_env.experiments.results.tables import DATA, read_table

CENSUS = DATA / "census"
"""The stored census of the test deals."""

CEILING = "ceiling"
"""Name of the ceiling in the column of agents."""


def read_census(path: Path | None) -> pd.DataFrame | None:
    """Read a census: results.csv in its folder.

    Args:
        path: the folder; by default `CENSUS`.

    Returns:
        A row per deal; None by default if `CENSUS` is missing.

    Raises:
        FileNotFoundError: if the folder has no census.
        ValueError: if the file is not a census or is cut short, or a deal occurs twice.
    """
    folder = path or CENSUS
    results = folder / "results.csv"
    if not results.is_file():
        if path is None:
            return None
        raise FileNotFoundError(
            f"{path} has no census: experiments/studies/census.py writes results.csv"
        )
    census = read_table(results)
    if not {"rules", "deal", "status"} <= set(census):
        raise ValueError(f"{results} must have the columns rules, deal and status")
    twice = census.duplicated(["rules", "deal"])
    if twice.any():
        rules, deal = census.loc[twice, ["rules", "deal"]].iloc[0]
        raise ValueError(f"the census in {folder} has deal {deal} of {rules} twice")
    return census


def summarise_census(results: pd.DataFrame) -> pd.DataFrame:
    """A row for each rule set, in order of appearance.

    Columns: rules, deals, won, lost, unknown; low and high, the bounds of the share of
    winnable deals in the census; all_low and all_high, bounds for all possible deals (lower end of
    the 95% Wilson interval of the share won, upper end of that of the share not lost);
    moves_median, moves_99 and moves_most of the solutions; seconds (mean).
    """
    rows = []
    for rules, solved in results.groupby("rules", sort=False):
        counts = solved["status"].value_counts()
        won, lost = int(counts.get("won", 0)), int(counts.get("lost", 0))
        deals = len(solved)
        lengths = solved["moves"][solved["status"] == "won"]
        rows.append(
            {
                "rules": rules,
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


def ceiling_row(rules: str, solved: pd.DataFrame) -> dict[str, object]:
    """The ceiling of a rule set, from its deals in a census."""
    share = (solved["status"] == "won").mean()
    return {
        "agent": CEILING,
        "rules": rules,
        "deals": len(solved),
        "win_rate": share,
        "win_low": share,
        "win_high": 1 - (solved["status"] == "lost").mean(),
    }


def with_ceiling(
    summary: pd.DataFrame, results: pd.DataFrame, census: pd.DataFrame | None
) -> pd.DataFrame:
    """Add the ceiling to a summary, for each rule set whose deals are all in the census.

    A row `ceiling` follows the agents. Its win_rate is the share of played deals that are known to
    be winnable; win_low and win_high bound the share of winnable deals. Each agent's row gets
    of_winnable, its win rate on the deals known to be winnable (mean over training seeds).

    Args:
        summary: a row for each agent and way of playing under each rule set.
        results: the results behind the summary, a row per game.
        census: results of a census, or None.
    """
    if census is None:
        return summary
    parts = []
    for rules, rows in summary.groupby("rules", sort=False):
        played = results[results["rules"] == rules]
        solved = census[(census["rules"] == rules) & census["deal"].isin(played["deal"])]
        # The share of some of the deals would be the ceiling of other deals.
        if set(played["deal"]) != set(solved["deal"]):
            parts.append(rows)
            continue
        winnable = solved["deal"][solved["status"] == "won"]
        on_winnable = played[played["deal"].isin(winnable)].groupby(["agent", "play"])["won"].mean()
        agents = rows.join(on_winnable.rename("of_winnable"), on=["agent", "play"])
        ceiling = ceiling_row(str(rules), solved)
        parts.append(pd.concat([agents, pd.DataFrame([ceiling])], ignore_index=True))
    return pd.concat(parts, ignore_index=True)


def bounds_as_text(low: float, high: float) -> str:
    """Bounds of a share in percent, or one number if they are equal."""
    return f"{100 * low:.2f} to {100 * high:.2f}" if high > low else f"{100 * low:.2f}"
