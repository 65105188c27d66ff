"""The summary of a comparison's folder, as tables and reports show it.

It has the statistics of the results, the kind of each agent, the ceiling, and stored results of
agents that did not play.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.evaluation.ceiling import CEILING, with_ceiling
from experiments.parallel.parts import read_part
from experiments.reporting.tables import read_table
from experiments.statistics.summary import KEPT, NOW, summarise

ABOUT = "compare.json"
"""File of a comparison's folder: who plays, what they are made by, and the comparison's origin."""

BESIDE = "beside.csv"
"""File of a comparison's folder: stored results that are shown with it."""


def read_about(folder: Path) -> dict[str, Any]:
    """Who plays in a comparison, from its folder.

    Raises:
        FileNotFoundError: if the folder is none of a comparison.
        ValueError: if its file is damaged, or of an earlier version.
    """
    path = folder / ABOUT
    try:
        about: dict[str, Any] = json.loads(path.read_bytes())
        missing = {"seed", "deals", "players", "made_by", "kinds"} - about.keys()
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{path} is damaged ({error}): choose a new folder (--out)") from None
    if missing:
        raise ValueError(
            f"{path} lacks {', '.join(sorted(missing))}: an earlier version wrote it, or it is "
            "damaged; choose a new folder (--out)"
        )
    return about


def read_results(folder: Path) -> pd.DataFrame:
    """The results of a comparison, a row a game.

    Raises:
        FileNotFoundError: if the folder holds none.
        PartError: if they are not as they were written.
    """
    return read_part(folder / "results.csv")


def read_summary(folder: Path) -> pd.DataFrame:
    """The summary that a comparison has written.

    Raises:
        FileNotFoundError: if the folder holds none.
        PartError: if the results are not as they were written.
        ValueError: if the summary is not that of the results.
    """
    results, summary = read_results(folder), read_table(folder / "summary.csv")
    key = ["rules", "agent", "play"]
    played = results.groupby(key)["deal"].nunique().to_dict()
    is_now = summary["agent"] != CEILING
    if "source" in summary:
        is_now &= summary["source"] == NOW
    told = summary[is_now].set_index(key)["deals"].to_dict()
    if played != told:
        raise ValueError(f"{folder}/summary.csv is not of its results.csv: compare again")
    return summary


def summarise_folder(
    folder: Path, results: pd.DataFrame, census: pd.DataFrame | None
) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set.

    Args:
        folder: of the comparison.
        results: of the comparison, or of one rule set of it.
        census: results of `experiments.census`, for the ceiling, if there are any.
    """
    about = read_about(folder)
    summary = summarise(results)
    summary["kind"] = summary["agent"].map(about["kinds"])
    summary = with_ceiling(summary, results, census)
    if not (folder / BESIDE).is_file():
        return summary
    stored = read_table(folder / BESIDE)
    stored = stored[stored["rules"].isin(results["rules"])]
    is_ceiling = summary["agent"] == CEILING
    summary["source"] = np.where(is_ceiling, KEPT, NOW)
    parts = [summary[~is_ceiling], stored.assign(source=KEPT), summary[is_ceiling]]
    return pd.concat(parts, ignore_index=True)
