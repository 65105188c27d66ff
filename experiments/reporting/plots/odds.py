"""The plot of a census."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from matplotlib.ticker import PercentFormatter

from four_seasons_env.experiments.reporting.plots.style import COLOURS, new_panels


def plot_census(results: pd.DataFrame, title: str, path: Path) -> None:
    """Draw the time to decide deals, and the lengths of solutions."""
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
