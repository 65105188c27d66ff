"""Plots of trainings, over steps and over processor time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator, PercentFormatter

from four_seasons_env.experiments.reporting.plots.style import (
    colours_of,
    new_axes,
    plain_text,
)
from four_seasons_env.experiments.training.run_folder import STEPS


def plot_learning(
    runs: Mapping[str, Sequence[pd.DataFrame]],
    column: str,
    by_time: bool,
    title: str,
    path: Path,
    beside: Mapping[str, float] | None = None,
) -> None:
    """Learning curves: the mean over training seeds, in a band from the worst to the best.

    Args:
        runs: the logs of each algorithm's runs
            (`four_seasons_env.experiments.training.run_folder.read_log`).
        column: what is shown, such as "validation/win_rate".
        by_time: over minutes of learning; otherwise over steps.
        title: of the plot.
        path: of the picture.
        beside: what others reach who do not learn here: a dashed line each.
    """
    figure, axes = new_axes()
    for name, value in (beside or {}).items():
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
            (log["time/seconds"] / 60 if by_time else log[STEPS] / 1e6, log[column])
            for log in (each.dropna(subset=[column]) for each in logs if column in each)
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
    axes.set_xlabel("minutes of learning" if by_time else "million steps")
    if column.endswith("win_rate"):
        axes.set_ylabel("games won")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    else:
        axes.set_ylabel("cards up")
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_ylim(bottom=0)
    figure.suptitle(title, fontsize=10)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
