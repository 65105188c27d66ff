"""Learning curves of trainings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from four_seasons_env.experiments.reporting.plots.style import (
    colours_of,
    in_percent,
    new_axes,
    plain_text,
)

WIN_RATE = "validation/win_rate"
"""Column of `progress.csv` for the curves."""


def plot_learning(
    runs: Mapping[str, Sequence[pd.DataFrame]],
    title: str,
    path: Path,
    references: Mapping[str, float] | None = None,
) -> None:
    """Draw validation deals won against minutes of learning, both axes from zero.

    A line is the mean over training seeds, in a band from the worst to the best seed.

    Args:
        runs: logs of runs (`four_seasons_env.experiments.results.training_run.read_log`), by
            algorithm.
        title: title of the plot.
        path: file of the picture.
        references: win rates of other agents, drawn as dashed lines.
    """
    figure, axes = new_axes()
    for name, value in (references or {}).items():
        axes.axhline(value, color="grey", ls="--", lw=1)
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
    for name, logs in runs.items():
        curves = [
            (log["time/seconds"] / 60, log[WIN_RATE])
            for log in (each.dropna(subset=[WIN_RATE]) for each in logs if WIN_RATE in each)
            if len(log)
        ]
        if not curves:
            continue
        grid = np.linspace(
            max(x.iloc[0] for x, _ in curves), min(x.iloc[-1] for x, _ in curves), 200
        )
        values = np.array([np.interp(grid, x, y) for x, y in curves])
        seeds = f" ({len(curves)} seeds)" if len(curves) > 1 else ""
        (line,) = axes.plot(
            grid, values.mean(axis=0), label=name + seeds, color=colours_of(list(runs))[name]
        )
        axes.fill_between(
            grid, values.min(axis=0), values.max(axis=0), color=line.get_color(), alpha=0.2, lw=0
        )
    axes.set_xlabel("minutes of learning")
    axes.set_ylabel("validation deals won")
    in_percent(axes, y=True)
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    figure.suptitle(title, fontsize=10)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
