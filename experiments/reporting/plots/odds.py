"""Plots of a census, and of regret in small games."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from four_seasons_env.experiments.matches.ceiling import CEILING
from four_seasons_env.experiments.reporting.plots.style import (
    COLOURS,
    MARKERS,
    colours_of,
    in_percent,
    name_colours,
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


def plot_regret(summary: pd.DataFrame, path: Path) -> None:
    """Each agent's regret in small games, smallest first, with its 95% interval.

    One plot for games in which cards can be packed and one for the others. Labels show the size of
    a game: the positions of a search from an opening.
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
