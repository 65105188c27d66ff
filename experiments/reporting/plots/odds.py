"""Plots of what can be won: by whom, of which deals, until when, and with what regret."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from four_seasons_env.experiments.evaluation.ceiling import CEILING
from four_seasons_env.experiments.evaluation.thrown_away import alive_at, winnable_deals
from four_seasons_env.experiments.reporting.odds import BOOK_ODDS
from four_seasons_env.experiments.reporting.plots.style import (
    COLOURS,
    MARKERS,
    colours_of,
    in_percent,
    name_colours,
    new_axes,
    new_panels,
)
from four_seasons_env.experiments.statistics.regret import BEST
from four_seasons_env.rules import get_rules


def plot_census(results: pd.DataFrame, title: str, path: Path) -> None:
    """How long it took to decide deals, and how long solutions are."""
    figure, (times, lengths) = new_panels(5.2, 2)
    decided = results[results["status"] != "unknown"]["seconds"].sort_values()
    if len(decided):
        share = (1 + pd.RangeIndex(len(decided)).to_numpy()) / len(results)
        times.step(decided, share, where="post", color=COLOURS[0])
        times.set_xscale("log")
    times.set_xlabel("seconds")
    times.set_ylabel("deals decided")
    times.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    times.set_ylim(0, 1.02)
    won = results[results["status"] == "won"]["moves"]
    if len(won):
        lengths.hist(won, bins=30, color=COLOURS[0])
    lengths.set_xlabel("moves of the solution")
    lengths.set_ylabel("deals")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def plot_alive(results: pd.DataFrame, title: str, path: Path) -> None:
    """Where winnable games are thrown away: a band an agent, falling as the stock runs out.

    Args:
        results: of `four_seasons_env.experiments.evaluation.thrown_away`.
        title: of the plot.
        path: of the picture.
    """
    figure, axes = new_axes()
    winnable = winnable_deals(results)
    agents = list(dict.fromkeys(winnable["agent"]))
    left = np.arange(int(winnable["alive"].max()), -1, -1)
    for agent, games in winnable.groupby("agent", sort=False):
        low, high = np.array([alive_at(games, int(cards)) for cards in left]).T
        colour = colours_of(agents)[str(agent)]
        axes.fill_between(left, low, high, step="post", color=colour, alpha=0.3, lw=0)
        axes.step(left, (low + high) / 2, where="post", color=colour)
        axes.plot(-1.5, games["won"].mean(), "o", color=colour, ms=5, clip_on=False)
    axes.set_xlim(left[0], -1.5)
    axes.set_xlabel("cards left in the stock (dots: games won)")
    axes.set_ylabel("winnable deals not yet thrown away")
    axes.set_ylim(0, 1.02)
    in_percent(axes, y=True)
    figure.suptitle(title, fontsize=10)
    name_colours(axes, agents)
    figure.savefig(path)


def plot_regret(summary: pd.DataFrame, path: Path) -> None:
    """Each agent's regret in small games, smallest first, with its 95% interval.

    A plot for the games in which cards are packed and one for those in which they are not; how
    large a game is tell the positions of a search from an opening.
    """
    own = summary[~summary["agent"].isin([BEST, CEILING])]
    agents = list(own["agent"].unique())
    colours = colours_of(agents)
    nothing_packs = own["rules"].map(lambda name: get_rules(name).build == "none")
    kinds = [part for part in (own[~nothing_packs], own[nothing_packs]) if len(part)]
    figure, panels = new_panels(0.6 + 2.6 * len(kinds), len(kinds))
    for axes, part in zip(panels, kinds, strict=True):
        games = part.drop_duplicates("rules").sort_values("positions")
        where = {name: at for at, name in enumerate(games["rules"])}
        for i, agent in enumerate(agents):
            rows = part[part["agent"] == agent]
            at = [where[name] + 0.1 * (i - (len(agents) - 1) / 2) for name in rows["rules"]]
            axes.vlines(at, rows["regret_low"], rows["regret_high"], color=colours[agent], lw=1)
            axes.plot(at, rows["regret"], MARKERS[i % len(MARKERS)], color=colours[agent], ms=4)
        texts = [
            f"{name.removeprefix('small-')}\n{size / 1e6:.1f}M positions"
            for name, size in zip(games["rules"], games["positions"], strict=True)
        ]
        axes.set_xticks(range(len(games)), texts, fontsize=7)
        axes.set_yscale("symlog", linthresh=0.01)
        axes.set_yticks([0, 0.01, 0.1, 1])
        axes.set_ylim(-0.001, 1)
        in_percent(axes, y=True)
        axes.set_ylabel("regret")
        axes.grid(visible=False, axis="x")
    handles = [
        Line2D([], [], color=colours[agent], marker=MARKERS[i % len(MARKERS)], ms=4, lw=1)
        for i, agent in enumerate(agents)
    ]
    name_colours(panels[-1], agents, handles)
    figure.savefig(path)


def plot_answer(ladder: pd.DataFrame, path: Path) -> None:
    """A ladder of players, who wins least below, from the textbook's odds to the ceiling.

    Args:
        ladder: of `four_seasons_env.experiments.reporting.answer_page.answers`.
        path: of the picture.
    """
    figure, axes = new_axes(1.2 + 0.45 * len(ladder))
    for y, row in enumerate(ladder.to_dict("records")):
        is_open = row["agent"] == CEILING
        colour = "dimgrey" if is_open else COLOURS[0]
        ends = [row["win_low"], row["win_high"]]
        axes.barh(y, row["win_low"] if is_open else row["win_rate"], color=colour, height=0.62)
        if is_open:
            axes.barh(y, ends[1] - ends[0], left=ends[0], color="lightgrey", height=0.62)
        else:
            axes.plot(ends, [y, y], color="black", lw=1.5)
        text = f"{ends[0]:.1%} to {ends[1]:.1%}" if is_open else f"{row['win_rate']:.1%}"
        beside = BOOK_ODDS if 0 < BOOK_ODDS - ends[1] < 0.2 else ends[1]
        axes.text(beside + 0.015, y, text, va="center", fontsize=8)
    axes.axvline(BOOK_ODDS, color="black", ls="--", lw=1)
    axes.set_yticks(range(len(ladder)), [textwrap.fill(told, 26) for told in ladder["told"]])
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlim(0, 1.4)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    in_percent(axes, x=True)
    axes.set_xlabel(f"games won (dashed: the textbook, 1 in {1 / BOOK_ODDS:.0f})")
    axes.grid(visible=False, axis="y")
    figure.suptitle("Four Seasons: who wins how often", fontsize=10)
    figure.savefig(path)
