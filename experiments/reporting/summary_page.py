"""The summary of a comparison's folder, as tables and reports show it.

It has the statistics of the results, the kind of each agent, the ceiling, and stored results of
agents that did not play.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.agents.schemas import read_checked
from four_seasons_env.experiments.evaluation.ceiling import CEILING, with_ceiling
from four_seasons_env.experiments.out_folder import check_holds
from four_seasons_env.experiments.parallel.parts import read_part
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.statistics.summary import KEPT, NOW, summarise

ABOUT = "compare.json"
"""File of a comparison's folder: who plays, what they are made by, and the comparison's origin."""

BESIDE = "beside.csv"
"""File of a comparison's folder: stored results that are shown with it."""


@dataclass
class About:
    """The schema of `compare.json`, which has the comparison's origin as well."""

    seed: int
    deals: tuple[int, int]
    """The first and the last."""
    players: dict[str, str]
    """Names that `make_agent` knows, by rule set and folder of the results."""
    made_by: dict[str, dict[str, Any]]
    """See `four_seasons_env.experiments.evaluation.players.Player.made_by`."""
    kinds: dict[str, str]
    """What each agent's play consists of, by its label."""
    sealed: list[int] = field(default_factory=list)
    """The numbers of sealed deals."""


def read_about(folder: Path) -> dict[str, Any]:
    """Who plays in a comparison, from its folder.

    Raises:
        FileNotFoundError: if the folder is none of a comparison.
        ValueError: if its file is damaged, or of an earlier version.
    """
    check_holds(folder, "comparison")
    try:
        return read_checked(folder / ABOUT, About)
    except ValueError as error:
        hint = "an earlier version may have written it; choose a new folder (--out)"
        raise ValueError(f"{error}: {hint}") from None


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
        census: results of `four-seasons census`, for the ceiling, if there are any.
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
