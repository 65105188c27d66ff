"""Plots of agents that have played the same deals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from four_seasons_env.experiments.matches.ceiling import CEILING
from four_seasons_env.experiments.reporting.plots.style import (
    COLOURS,
    colours_of,
    in_lines,
    in_percent,
    name_colours,
    new_axes,
)
from four_seasons_env.experiments.statistics.summary import (
    BASELINE,
    bounds_as_text,
    labels,
    wins_by_label,
)

BOOK_ODDS = 0.1
"""The odds of winning Four Seasons by Morehead and Mott-Smith."""


def plot_win_rates(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Each agent's win rate with its 95% interval, the best first, and the textbook's odds.

    The ceiling, if the summary has it, is drawn in grey above them, with its bounds.
    """
    who = labels(summary)
    colours: dict[str, Any] = colours_of(who) | {CEILING: "lightgrey"}
    rows = summary.assign(who=who).sort_values("win_rate", kind="stable")
    figure, axes = new_axes(1.5 + 0.42 * len(rows))
    for y, (_, row) in enumerate(rows.iterrows()):
        axes.barh(y, row["win_rate"], color=colours[row["who"]], height=0.6)
        axes.plot([row["win_low"], row["win_high"]], [y, y], color="black", lw=1.5)
        text = f"{row['win_rate']:.1%}"
        if row["who"] == CEILING:
            text = f"{bounds_as_text(row['win_low'], row['win_high'])}%"
        axes.annotate(
            text,
            (max(row["win_high"], row["win_rate"]), y),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
        )
    axes.axvline(BOOK_ODDS, color="grey", ls="--", lw=1)
    axes.annotate(
        "textbook: 1 in 10",
        (BOOK_ODDS, len(rows) - 0.45),
        xytext=(4, 0),
        textcoords="offset points",
        color="grey",
        fontsize=8,
    )
    axes.set_yticks(range(len(rows)), in_lines(rows["who"].tolist()))
    axes.set_ylim(-0.6, len(rows) - 0.1)
    room = 1.75 if CEILING in who else 1.25
    axes.set_xlim(0, max(room * rows["win_high"].max(), 0.14))
    axes.xaxis.set_major_locator(MaxNLocator(5 if CEILING in who else "auto", steps=[1, 2, 2.5, 5]))
    axes.set_xticks([tick for tick in axes.get_xticks() if 0 <= tick <= 1])
    in_percent(axes, x=True)
    axes.set_xlabel("games won, with 95% interval")
    figure.suptitle(title, fontsize=10)
    axes.grid(visible=False, axis="y")
    figure.savefig(path)


def plot_cards_up(results: pd.DataFrame, title: str, path: Path) -> None:
    """The share of games with at least a number of cards up.

    Where a line ends, at all cards, is the agent's win rate.
    """
    figure, axes = new_axes()
    most = int(results["cards_up"].max())
    who = labels(results)
    colours = colours_of(who)
    for name, played in results.groupby(np.array(who), sort=False):
        reached = [(played["cards_up"] >= cards).mean() for cards in range(most + 1)]
        axes.step(range(most + 1), reached, where="post", color=colours[str(name)])
    name_colours(axes, list(colours))
    axes.set_xlabel("cards on the foundations, at least (all: won)")
    in_percent(axes, y=True)
    axes.set_ylabel("games")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, most)
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_differences(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Difference to the baseline in percentage points on the same deals, with intervals."""
    who = labels(summary)
    colours = colours_of(who)
    rows = summary.assign(who=who).dropna(subset=["win_difference"])
    rows = rows.sort_values("win_difference", kind="stable")
    figure, axes = new_axes(1.3 + 0.4 * len(rows))
    for y, (_, row) in enumerate(rows.iterrows()):
        ends = [100 * row["win_difference_low"], 100 * row["win_difference_high"]]
        axes.plot(ends, [y, y], color=colours[row["who"]], lw=2)
        axes.plot(100 * row["win_difference"], y, "o", color=colours[row["who"]], ms=5)
    axes.axvline(0, color="black", lw=1)
    axes.set_yticks(range(len(rows)), in_lines(rows["who"].tolist()))
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_xlabel(f"points more than {BASELINE} [95%]")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_speed_strength(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Win rate of each agent against its time per move; a colour for each kind."""
    figure, axes = new_axes()
    agents = summary.dropna(subset=["ms_per_move"])
    kinds = [name.partition("@")[0] for name in agents["agent"]]
    colours = colours_of(kinds)
    for kind, (_, row) in zip(kinds, agents.iterrows(), strict=True):
        time = max(row["ms_per_move"], 1e-5)
        axes.plot([time, time], [row["win_low"], row["win_high"]], color=colours[kind], lw=1)
        axes.plot(time, row["win_rate"], "o", color=colours[kind], ms=6)
    axes.set_xscale("log")
    axes.set_xlabel("milliseconds a move (many games side by side)")
    axes.set_ylabel("games won")
    axes.set_ylim(bottom=0)
    in_percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    name_colours(axes, kinds)
    figure.savefig(path)


def plot_shared_deals(results: pd.DataFrame, title: str, path: Path) -> None:
    """How many deals were won by none, one, ... or all of the agents."""
    won = wins_by_label(results)
    counts = won.sum(axis=1).value_counts().reindex(range(won.shape[1] + 1), fill_value=0)
    figure, axes = new_axes(2.8)
    bars = axes.bar(counts.index, counts / len(won), color=COLOURS[0])
    axes.bar_label(bars, [f"{count:,}" for count in counts], fontsize=8)
    names = [str(n) for n in counts.index]
    names[0], names[-1] = "none", "all"
    axes.set_xticks(counts.index, names)
    axes.set_xlabel(f"of {won.shape[1]} agents won the deal")
    axes.set_ylabel("deals")
    axes.margins(y=0.12)
    in_percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    axes.grid(visible=False, axis="x")
    figure.savefig(path)
