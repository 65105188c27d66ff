"""Plots of results, as PNG files: one function a plot, from tables to a picture."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

BOOK_ODDS = 0.1
"""Morehead and Mott-Smith's odds of winning Four Seasons."""

_COLOURS = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]


def _axes(height: float = 4.0) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8, height), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    return figure, axes


def plot_win_rates(summary: pd.DataFrame, title: str, path: Path) -> None:
    """Each agent's win rate with its 95% interval, beside the textbook's odds."""
    figure, axes = _axes(1.6 + 0.5 * len(summary))
    rows = summary.iloc[::-1]
    for y, (_, row) in enumerate(rows.iterrows()):
        colour = _COLOURS[(len(rows) - 1 - y) % len(_COLOURS)]
        axes.barh(y, row["win_rate"], color=colour, height=0.6)
        axes.plot([row["win_low"], row["win_high"]], [y, y], color="black", lw=1.5)
        axes.annotate(
            f"{row['win_rate']:.1%}",
            (row["win_high"], y),
            xytext=(6, 0),
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
    axes.set_yticks(range(len(rows)), rows["agent"])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.set_xlim(0, max(1.2 * rows["win_high"].max(), 0.14))
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_xlabel("games won, with 95% interval")
    axes.set_title(title)
    axes.grid(visible=False, axis="y")
    figure.savefig(path)


def plot_cards_up(results: pd.DataFrame, title: str, path: Path) -> None:
    """How many games get how far: the share of games with at least so many cards up."""
    figure, axes = _axes()
    most = int(results["cards_up"].max())
    for i, (agent, played) in enumerate(results.groupby("agent", sort=False)):
        reached = [(played["cards_up"] >= cards).mean() for cards in range(most + 1)]
        axes.step(
            range(most + 1), reached, where="post", label=agent, color=_COLOURS[i % len(_COLOURS)]
        )
    axes.set_xlabel("cards on the foundations, at least")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.set_ylabel("games")
    axes.set_ylim(0, 1.02)
    axes.set_xlim(0, most)
    axes.set_title(title)
    axes.legend(frameon=False)
    figure.savefig(path)


def plot_learning(progress: pd.DataFrame, title: str, path: Path) -> None:
    """A run's win rate and cards up while it learns; dots are validations."""
    figure, axes = _axes()
    steps = progress["time/total_timesteps"].ffill() / 1e6
    cards = axes.twinx()
    cards.spines["top"].set_visible(False)
    axes.plot(steps, progress["play/win_rate"], color=_COLOURS[0], lw=1)
    cards.plot(steps, progress["play/cards_up"], color=_COLOURS[1], lw=1)
    axes.plot(steps, progress["validation/win_rate"], "o", color=_COLOURS[0], ms=5)
    cards.plot(steps, progress["validation/cards_up"], "o", color=_COLOURS[1], ms=5)
    axes.set_xlabel("million moves played")
    axes.set_ylabel("games won", color=_COLOURS[0])
    cards.set_ylabel("cards up", color=_COLOURS[1])
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
    axes.set_ylim(bottom=0)
    cards.set_ylim(0, 52)
    axes.set_title(title)
    figure.savefig(path)


def plot_throughput(table: pd.DataFrame, path: Path) -> None:
    """Moves per second against the batch size, by observation and threads; peers as marks."""
    figure, axes = _axes()
    ours = table[table["what"] == "vector environment"]
    for i, (observation, rates) in enumerate(ours.groupby("observation", sort=False)):
        for threads, rows in rates.groupby("threads"):
            axes.plot(
                rows["games"],
                rows["moves_per_second"],
                "o-" if threads == 1 else "s--",
                color=_COLOURS[i],
                label=f"{observation}, threads: {threads}",
            )
    peers = table[table["observation"] == "its own"]
    for i, (_, row) in enumerate(peers.iterrows()):
        axes.plot(
            row["games"],
            row["moves_per_second"],
            "D",
            color=_COLOURS[4 + i],
            label=row["what"],
        )
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    batches = np.unique(ours["games"])
    axes.set_xticks(batches, [f"{games:,}" for games in batches])
    axes.set_xlabel("games at a time")
    axes.set_ylabel("moves a second")
    axes.set_title("Random legal play, mask and observation written at every move")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)


def plot_census(results: pd.DataFrame, title: str, path: Path) -> None:
    """How long it took to decide deals, and how long solutions are."""
    figure = Figure(figsize=(8, 3.4), dpi=120, layout="constrained")
    times, lengths = figure.subplots(1, 2)
    for axes in (times, lengths):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.3)
    decided = results[results["status"] != "unknown"]["seconds"].sort_values()
    if len(decided):
        share = (1 + pd.RangeIndex(len(decided)).to_numpy()) / len(results)
        times.step(decided, share, where="post", color=_COLOURS[0])
        times.set_xscale("log")
    times.set_xlabel("seconds")
    times.set_ylabel("deals decided")
    times.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    times.set_ylim(0, 1.02)
    won = results[results["status"] == "won"]["moves"]
    if len(won):
        lengths.hist(won, bins=30, color=_COLOURS[0])
    lengths.set_xlabel("moves of the solution")
    lengths.set_ylabel("deals")
    figure.suptitle(title)
    figure.savefig(path)
