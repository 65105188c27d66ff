"""Plots of learning: curves of trainings, and games won by time of learning."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from four_seasons_env.experiments.reporting.plots.style import (
    colours_of,
    in_percent,
    new_axes,
    plain_text,
)


def plot_learning(
    curves: pd.DataFrame, title: str, path: Path, budget: str, references: Mapping[str, float]
) -> None:
    """Draw validation deals won against the budget of learning: a line per run.

    Args:
        curves: a row per validation: `name` (of the algorithm), `run`, `spent` (of the budget) and
            `win_rate`.
        title: title of the plot.
        path: file of the picture.
        budget: what is spent, such as "core-minutes", for the axis.
        references: win rates of other agents, drawn as dashed lines.
    """
    figure, axes = new_axes()
    _draw_references(axes, references)
    colours = colours_of(curves["name"].tolist())
    for name, colour in colours.items():
        for _, own in curves[curves["name"] == name].groupby("run"):
            axes.plot(own["spent"], own["win_rate"], ".-", color=colour, lw=1, ms=4)
        axes.plot([], [], color=colour, label=plain_text(name))
    axes.set_xlabel(f"{budget} of learning")
    axes.set_ylabel("validation deals won")
    in_percent(axes, y=True)
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    figure.suptitle(title, fontsize=10)
    if len(curves):
        axes.legend(frameon=False, fontsize=7, loc="lower right", bbox_to_anchor=(1, 0.02))
    figure.savefig(path)


def plot_learning_time(
    summary: pd.DataFrame, title: str, path: Path, references: Mapping[str, float]
) -> None:
    """Draw games won against core-minutes of learning, with 95% intervals: a line per agent.

    Args:
        summary: rows of a comparison whose agents are called AGENT-MINUTES.
        title: title of the plot.
        path: file of the picture.
        references: win rates of other agents, drawn as dashed lines.
    """
    figure, axes = new_axes(3.8)
    _draw_references(axes, references)
    rows = summary.join(summary["agent"].str.extract(r"^(?P<name>.+)-(?P<minutes>[\d.]+)$"))
    rows = rows.dropna(subset="name").astype({"minutes": float}).sort_values("minutes")
    for name, colour in colours_of(rows["name"].unique().tolist()).items():
        own = rows[rows["name"] == name]
        rates = own["win_rate"]
        bars = [rates - own["win_low"], own["win_high"] - rates]
        axes.errorbar(own["minutes"], rates, bars, fmt="o-", color=colour, capsize=3, label=name)
    minutes = rows["minutes"].unique()
    axes.set_xscale("log")
    axes.set_xticks(minutes, [f"{each:g}" for each in minutes])
    axes.minorticks_off()
    axes.set_xlim(minutes.min() / 1.2, 2.5 * minutes.max())  # with room for the references' names
    axes.set_xlabel("core-minutes of learning (log scale)")
    axes.set_ylabel("test deals won, with 95% interval")
    in_percent(axes, y=True)
    axes.legend(frameon=False, fontsize=8, loc="center right")
    figure.suptitle(title, fontsize=10)
    figure.savefig(path)


def _draw_references(axes: Axes, references: Mapping[str, float]) -> None:
    """Draw win rates of other agents as dashed lines with their names."""
    for name, value in references.items():
        axes.axhline(value, color="grey", ls="--", lw=1, zorder=1)
        axes.annotate(
            plain_text(f"{name} {value:.1%}"),
            (1, value),
            xycoords=("axes fraction", "data"),
            xytext=(-2, 2),
            textcoords="offset points",
            ha="right",
            fontsize=7,
            color="dimgrey",
        )
