"""Plot of the steps per second of environments."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from four_seasons_env.experiments.reporting.plots.style import COLOURS, new_axes


def plot_rates(table: pd.DataFrame, path: Path) -> None:
    """Draw moves per second against batch size, by observation and number of threads."""
    figure, axes = new_axes()
    ours = table[table["what"] == "vector environment"]
    for i, (observation, rates) in enumerate(ours.groupby("observation", sort=False)):
        for threads, rows in rates.groupby("threads"):
            axes.plot(
                rows["games"],
                rows["moves_per_second"],
                "o-" if threads == 1 else "s--",
                color=COLOURS[i],
                label=f"{observation}, threads: {threads}",
            )
    axes.set_xscale("log", base=4)
    axes.set_yscale("log")
    batches = np.unique(ours["games"])
    axes.set_xticks(batches, [f"{games:,}" for games in batches])
    axes.set_xlabel("games at a time")
    axes.set_ylabel("moves per second")
    figure.suptitle("Random legal play, mask and observation written at every move", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path)
