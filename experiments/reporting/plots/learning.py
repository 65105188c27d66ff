"""Learning curves of trainings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from matplotlib.ticker import MaxNLocator

from four_seasons_env.experiments.reporting.plots.style import (
    colours_of,
    in_percent,
    new_axes,
    plain_text,
)


def plot_learning(
    curves: pd.DataFrame,
    title: str,
    path: Path,
    budget: str,
    references: Mapping[str, float] | None = None,
    ticks: tuple[float, ...] = (),
) -> None:
    """Draw validation deals won against the budget of learning: a line per run.

    Args:
        curves: a row per validation: `name` (of the algorithm or study), `run`, `spent` (of the
            budget) and `win_rate`.
        title: title of the plot.
        path: file of the picture.
        budget: what is spent, such as "core-minutes", for the axis.
        references: win rates of other agents, drawn as dashed lines.
        ticks: of a logarithmic axis; without them it is linear, from zero.
    """
    figure, axes = new_axes(4.4 if ticks else 3.4)
    for name, value in (references or {}).items():
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
    colours = colours_of(curves["name"].tolist())
    for name, colour in colours.items():
        for _, own in curves[curves["name"] == name].groupby("run"):
            axes.plot(own["spent"], own["win_rate"], ".-", color=colour, lw=1, ms=4)
        axes.plot([], [], color=colour, label=plain_text(name))
    axes.set_xlabel(f"{budget} of learning" + (" (log scale)" if ticks else ""))
    axes.set_ylabel("validation deals won")
    in_percent(axes, y=True)
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_ylim(bottom=0)
    if ticks:
        axes.set_xscale("log")
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    else:
        axes.set_xlim(left=0)
    figure.suptitle(title, fontsize=10)
    if len(curves):
        axes.legend(frameon=False, fontsize=7, loc="lower right", bbox_to_anchor=(1, 0.02))
    figure.savefig(path)
