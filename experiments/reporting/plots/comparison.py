"""Plots of agents that have played the same deals."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.ticker import MaxNLocator

from four_seasons_env.experiments.reporting.plots.style import (
    colours_of,
    in_lines,
    in_percent,
    new_axes,
)
from four_seasons_env.experiments.results.ceiling import CEILING, bounds_as_text
from four_seasons_env.experiments.results.summary import labels

BOOK_ODDS = 0.1
"""The odds of winning Four Seasons by Morehead and Mott-Smith."""

_LIGHT = 1.9
"""Brightness (red + green + blue) from which text on a colour is black."""


def plot_win_rates(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Draw win rates with 95% intervals, the best first, and the odds of the textbook.

    The ceiling, if the summary has it, is a grey bar at the top with its bounds. Numbers are inside
    long bars and to the right of short ones.
    """
    who = labels(summary)
    colours = colours_of(who)
    rows = summary.assign(who=who).sort_values("win_rate", kind="stable")
    names = in_lines(rows["who"].tolist())
    room = max(0.42, 0.2 * max(name.count("\n") + 1 for name in names))
    figure, axes = new_axes(1.5 + room * len(rows))
    end = min(1.0, max(1.25 * rows["win_high"].max(), 0.14))
    for y, (_, row) in enumerate(rows.iterrows()):
        colour = colours[row["who"]]
        axes.barh(y, row["win_rate"], color=colour, height=0.6, zorder=2)
        axes.plot([row["win_low"], row["win_high"]], [y, y], color="black", lw=1.5)
        is_inside = row["win_high"] > 0.6 * end
        axes.annotate(
            f"{bounds_as_text(row['win_low'], row['win_high'])}%"
            if row["who"] == CEILING
            else f"{row['win_rate']:.1%}",
            (row["win_low"] if is_inside else max(row["win_high"], row["win_rate"]), y),
            xytext=(-5 if is_inside else 5, 0),
            textcoords="offset points",
            va="center",
            ha="right" if is_inside else "left",
            color="white" if is_inside and sum(colour) < _LIGHT else "black",
            bbox=None if is_inside else {"fc": "white", "ec": "none", "pad": 1},
        )
    axes.axvline(BOOK_ODDS, color="grey", ls="--", lw=1, zorder=1)
    axes.annotate(
        "textbook: 1 in 10",
        (BOOK_ODDS, len(rows) - 0.45),
        xytext=(4, 0),
        textcoords="offset points",
        color="grey",
        fontsize=8,
    )
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(-0.6, len(rows) - 0.1)
    axes.set_xlim(0, end)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5]))
    in_percent(axes, x=True)
    axes.set_xlabel("games won, with 95% interval")
    figure.suptitle(title, fontsize=10)
    axes.grid(visible=False, axis="y")
    figure.savefig(path)


def plot_speed_strength(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Draw the win rate of each agent against its time per move.

    Variants of an agent have its colour; only the strongest is named. A line joins the strongest
    variants at each speed.
    """
    figure, axes = new_axes(4.2)
    rows = summary.dropna(subset=["ms_per_move"])
    rows = rows.assign(
        time=rows["ms_per_move"].clip(lower=1e-5),
        name=[agent.partition("@")[0] for agent in rows["agent"]],
    ).sort_values(["time", "win_rate"])
    best = rows[rows["win_rate"] > rows["win_rate"].cummax().shift(fill_value=-1)]
    axes.step(best["time"], best["win_rate"], where="post", color="silver", lw=1, zorder=1)
    colours = colours_of(rows["name"].tolist())
    for name, variants in rows.groupby("name", sort=False):
        colour = colours[str(name)]
        axes.vlines(variants["time"], variants["win_low"], variants["win_high"], color=colour, lw=1)
        axes.plot(variants["time"], variants["win_rate"], "o", color=colour, ms=5)
        strongest = variants.sort_values("win_rate").iloc[-1]
        axes.annotate(
            in_lines([str(name)])[0],
            (strongest["time"], strongest["win_rate"]),
            xytext=(-5, 5),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=colour,
        )
    axes.set_xscale("log")
    axes.set_xlim(left=rows["time"].min() / 6)
    axes.set_xlabel("milliseconds per move (many games in lockstep)")
    axes.set_ylabel("games won")
    axes.set_ylim(bottom=0)
    in_percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)
