"""Statistics of per-deal results: win rates with intervals, differences on the same deals."""

from __future__ import annotations

import pandas as pd
from scipy import stats

BASELINE = "heuristic"
"""The agent that others are compared with, deal by deal."""

CEILING = "ceiling"
"""Not an agent: the row of what a player who sees every card could win at all."""

RESULT_COLUMNS = (
    "agent",
    "rules",
    "train_seed",
    "deal",
    "won",
    "cards_up",
    "moves",
    "seconds",
)
"""Columns of a results file; `seconds` is the agent's own time for a game."""


def summarise(results: pd.DataFrame, baseline: str = BASELINE) -> pd.DataFrame:
    """A row for each agent under each rule set, in the order in which they first stand there.

    Columns: agent, rules, deals, wins, win_rate with its 95% Wilson interval (win_low, win_high),
    cards_up (mean), moves (mean), ms_per_move; and, against the baseline on the same deals,
    win_difference with its 95% interval (difference_low, difference_high; Student's t on the paired
    differences), p_value (exact McNemar test) and cards_difference. Those are missing for the
    baseline itself and where it has not played all of the deals.
    """
    rows = []
    for (rules, agent), played in results.groupby(["rules", "agent"], sort=False):
        wins, deals = int(played["won"].sum()), len(played)
        low, high = stats.binomtest(wins, deals).proportion_ci(method="wilson")
        row = {
            "agent": agent,
            "rules": rules,
            "deals": deals,
            "wins": wins,
            "win_rate": wins / deals,
            "win_low": low,
            "win_high": high,
            "cards_up": played["cards_up"].mean(),
            "moves": played["moves"].mean(),
            "ms_per_move": 1000 * played["seconds"].sum() / max(played["moves"].sum(), 1),
        }
        others = results[(results["rules"] == rules) & (results["agent"] == baseline)]
        if agent != baseline and set(played["deal"]) <= set(others["deal"]):
            row |= _against(played, others)
        rows.append(row)
    return pd.DataFrame(rows)


def _against(played: pd.DataFrame, baseline: pd.DataFrame) -> dict[str, float]:
    """The differences of an agent to the baseline on the deals that it has played."""
    pairs = played.merge(baseline, on="deal", suffixes=("", "_base"))
    difference = pairs["won"].astype(int) - pairs["won_base"].astype(int)
    only_here, only_there = int((difference == 1).sum()), int((difference == -1).sum())
    told = {
        "win_difference": difference.mean(),
        "p_value": stats.binomtest(only_here, only_here + only_there).pvalue
        if only_here + only_there
        else 1.0,
        "cards_difference": (pairs["cards_up"] - pairs["cards_up_base"]).mean(),
    }
    if difference.nunique() > 1:
        interval = stats.ttest_1samp(difference, 0.0).confidence_interval()
        told |= {"difference_low": interval.low, "difference_high": interval.high}
    return told


def with_ceiling(
    summary: pd.DataFrame, results: pd.DataFrame, census: pd.DataFrame
) -> pd.DataFrame:
    """The summary with the ceiling, for each rule set of which the census has all deals.

    A row `ceiling` is put after the agents: wins and win_rate are of deals known to be winnable,
    win_low and win_high the bounds of their share among these very deals: open deals count as lost
    in one and as won in the other. Each agent gets of_winnable: the share that it has won of the
    deals known to be winnable.

    Args:
        results: what the summary sums up.
        census: results of `experiments.census`.
    """
    parts = []
    for rules, rows in summary.groupby("rules", sort=False):
        played = results[results["rules"] == rules]
        solved = census[(census["rules"] == rules) & census["deal"].isin(played["deal"])]
        solved = solved.drop_duplicates("deal")
        if set(played["deal"]) != set(solved["deal"]):
            parts.append(rows)
            continue
        winnable = set(solved["deal"][solved["status"] == "won"])
        deals, lost = len(solved), int((solved["status"] == "lost").sum())
        ceiling = {
            "agent": CEILING,
            "rules": rules,
            "deals": deals,
            "wins": len(winnable),
            "win_rate": len(winnable) / deals,
            "win_low": len(winnable) / deals,
            "win_high": 1 - lost / deals,
        }
        on_winnable = played[played["deal"].isin(winnable)].groupby("agent")["won"].mean()
        agents = rows.assign(of_winnable=rows["agent"].map(on_winnable))
        parts.append(pd.concat([agents, pd.DataFrame([ceiling])], ignore_index=True))
    return pd.concat(parts, ignore_index=True)


def as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as cells of text, for a table that people read."""

    def won(row: pd.Series) -> str:
        rate, low, high = (100 * row[name] for name in ("win_rate", "win_low", "win_high"))
        if row["agent"] == CEILING:
            return f"{low:.2f} to {high:.2f}" if high > low else f"{rate:.2f}"
        return f"{rate:.2f} [{low:.2f}, {high:.2f}]"

    def difference(row: pd.Series) -> str:
        if pd.isna(row.get("win_difference")):
            return "-"
        told = f"{100 * row['win_difference']:+.2f}"
        if not pd.isna(row.get("difference_low")):
            told += f" [{100 * row['difference_low']:+.2f}, {100 * row['difference_high']:+.2f}]"
        return told

    def p_value(row: pd.Series) -> str:
        value = row.get("p_value")
        if value is None or pd.isna(value):
            return "-"
        return "< 0.0001" if value < 0.0001 else f"{value:.4f}"

    def number(column: str, form: str) -> pd.Series:
        return summary[column].map(lambda value: "-" if pd.isna(value) else form.format(value))

    cells = pd.DataFrame(
        {
            "agent": summary["agent"],
            "won % [95%]": summary.apply(won, axis=1),
            f"vs {BASELINE} [95%]": summary.apply(difference, axis=1),
            "McNemar p": summary.apply(p_value, axis=1),
            "cards up": number("cards_up", "{:.1f}"),
            "moves": number("moves", "{:.0f}"),
            "ms/move": number("ms_per_move", "{:.3f}"),
        }
    )
    if "of_winnable" in summary:
        cells.insert(2, "of winnable %", number("of_winnable", "{:.2%}").str.rstrip("%"))
    if summary["rules"].nunique() > 1:
        cells.insert(0, "rules", summary["rules"])
    return cells


def as_markdown(cells: pd.DataFrame) -> str:
    """A table of text as Markdown."""
    lines = [list(cells.columns), ["---"] * len(cells.columns), *cells.to_numpy().tolist()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
