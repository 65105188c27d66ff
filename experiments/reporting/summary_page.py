"""The summary of a comparison's folder, as tables and reports show it.

It has the statistics of the results, the kind of each agent, the ceiling, and stored results of
agents that did not play.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.evaluation.ceiling import CEILING, with_ceiling
from experiments.statistics.summary import KEPT, NOW, summarise

BESIDE = "beside.csv"
"""File of a comparison's folder: stored results that are shown with it."""


def summarise_folder(
    folder: Path, results: pd.DataFrame, census: pd.DataFrame | None
) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set.

    Args:
        folder: of the comparison.
        results: of the comparison, or of one rule set of it.
        census: results of `experiments.census`, for the ceiling, if there are any.
    """
    about = json.loads((folder / "compare.json").read_text())
    summary = summarise(results)
    summary["kind"] = summary["agent"].map(about.get("kinds", {}))
    summary = with_ceiling(summary, results, census)
    if not (folder / BESIDE).is_file():
        return summary
    stored = pd.read_csv(folder / BESIDE)
    stored = stored[stored["rules"].isin(results["rules"])]
    is_ceiling = summary["agent"] == CEILING
    summary["source"] = np.where(is_ceiling, KEPT, NOW)
    parts = [summary[~is_ceiling], stored.assign(source=KEPT), summary[is_ceiling]]
    return pd.concat(parts, ignore_index=True)
