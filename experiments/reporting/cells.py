"""Results as cells of text, for tables that people read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from four_seasons_env.experiments.results.ceiling import CEILING, bounds_as_text
from four_seasons_env.experiments.results.summary import BASELINE, labels

ADJUSTED = "won % luck-adjusted [95%]"
_PAIRED = f"luck-adjusted vs {BASELINE} [95%]"

BRIEF = (
    *("rules", "agent", "method", "play", "seeds", "won % [95%]"),
    *(f"vs {BASELINE} [95%]", "ms/game"),
)
"""Columns of table.tex; table.md has more."""
PRINTED = ("agent", "seeds", "won % [95%]", f"vs {BASELINE} [95%]", "ms/game")
LUCK_PRINTED = ("agent", ADJUSTED, "worth deals", "luck z (p)")
"""Columns of the tables that `four-seasons compare` prints for each rule set."""


def as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary of a comparison as cells of text."""
    several, lucky = summary["seeds"].max() > 1, "adjusted" in summary
    cells = {
        "rules": summary["rules"] if summary["rules"].nunique() > 1 else None,
        "agent": summary["agent"],
        "method": summary["kind"].fillna("-") if "kind" in summary else None,
        "play": summary["play"].fillna("-"),
        "mask": summary["mask"].fillna("-") if "mask" in summary else None,
        "seeds": _numbers(summary, "seeds", "{:.0f}") if several else None,
        "won % [95%]": win_rates(summary),
        ADJUSTED: (
            _interval_text(summary, "adjusted", "adjusted", "{:.2f}", 100) if lucky else None
        ),
        "worth deals": _numbers(summary, "equivalent_deals", "{:,.0f}") if lucky else None,
        "of winnable %": (
            _numbers(summary, "of_winnable", "{:.2f}", 100) if "of_winnable" in summary else None
        ),
        "IQM % [95%]": _interval_text(summary, "iqm", "iqm", "{:.2f}", 100) if several else None,
        f"vs {BASELINE} [95%]": _interval_text(
            summary, "win_difference", "win_difference", "{:+.2f}", 100
        ),
        _PAIRED: (
            _interval_text(summary, "adjusted_difference", "adjusted_difference", "{:+.2f}", 100)
            if "adjusted_difference" in summary
            else None
        ),
        "luck z (p)": summary.apply(_peeking_as_text, axis=1) if lucky else None,
        "McNemar p": summary.get("p_value", pd.Series(np.nan, summary.index)).map(p_as_text),
        "cards up [95%]": _interval_text(summary, "cards_up", "cards", "{:.1f}"),
        f"cards vs {BASELINE} [95%]": _interval_text(
            summary, "cards_difference", "cards_difference", "{:+.1f}"
        ),
        "ms/move": _numbers(summary, "ms_per_move", "{:.3f}"),
        "ms/game": _numbers(summary, "ms_per_game", "{:.2f}"),
    }
    return pd.DataFrame({name: column for name, column in cells.items() if column is not None})


def to_print(summary: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of `as_text`; agents that play in two ways name theirs in a second line."""
    cells = as_text(summary)
    both = zip(labels(summary), cells["agent"], cells["play"], strict=True)
    cells["agent"] = [agent if who == agent else f"{agent},\n{play}" for who, agent, play in both]
    return cells[[name for name in columns if name in cells]]


def deals_as_text(results: pd.DataFrame) -> str:
    """The range of the played deals."""
    return f"deals {results['deal'].min():,}-{results['deal'].max():,}"


def win_rates(summary: pd.DataFrame) -> list[str]:
    """Win rates in percent with their intervals, as text; bounds for the ceiling."""
    texts = _interval_text(summary, "win_rate", "win", "{:.2f}", 100)
    ends = zip(summary["agent"], summary["win_low"], summary["win_high"], strict=True)
    return [
        bounds_as_text(low, high) if agent == CEILING else text
        for text, (agent, low, high) in zip(texts, ends, strict=True)
    ]


def _numbers(summary: pd.DataFrame, column: str, form: str, factor: float = 1.0) -> pd.Series:
    """A column of numbers as text; a dash for a missing number."""
    return summary[column].map(lambda value: "-" if pd.isna(value) else form.format(factor * value))


def _interval_text(
    summary: pd.DataFrame, value: str, ends: str, form: str, factor: float = 1.0
) -> list[str]:
    """A column of values with their intervals, as text; a dash for a missing value."""
    texts = []
    for _, row in summary.iterrows():
        numbers = [row.get(name, np.nan) for name in (value, f"{ends}_low", f"{ends}_high")]
        shown = [form.format(factor * number) for number in numbers if not pd.isna(number)]
        texts.append(
            f"{shown[0]} [{shown[1]}, {shown[2]}]" if len(shown) == 3 else (shown or ["-"])[0]
        )
    return texts


def _peeking_as_text(row: pd.Series) -> str:
    """The result of the test for peeking; a dash without luck."""
    if pd.isna(row["luck_z"]):
        return "-"
    return f"{row['luck_z']:+.2f} ({p_as_text(row['luck_p'])})"


def p_as_text(value: float) -> str:
    """A p-value; a dash for a missing one."""
    if pd.isna(value):
        return "-"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def census_as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary of a census as cells of text."""
    winnable = map(bounds_as_text, summary["low"], summary["high"])
    of_all = map(bounds_as_text, summary["all_low"], summary["all_high"])
    return pd.DataFrame(
        {
            "rules": summary["rules"],
            "deals": summary["deals"].map("{:,}".format),
            "won": summary["won"].map("{:,}".format),
            "lost": summary["lost"].map("{:,}".format),
            "open": summary["unknown"].map("{:,}".format),
            "winnable %": list(winnable),
            "of all deals % [95%]": list(of_all),
            "moves: median": _numbers(summary, "moves_median", "{:.0f}"),
            "99%": _numbers(summary, "moves_99", "{:.0f}"),
            "most": _numbers(summary, "moves_most", "{:.0f}"),
            "s/deal": summary["seconds"].map("{:.2f}".format),
        }
    )
