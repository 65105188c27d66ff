"""Tables and plot of docs/learning.md, from the results of the study in docs/results.

`learning.csv` has the results on test deals, `learning_curves.csv` those on validation deals during
training. The text of the page is written by hand.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.reporting.plots.learning import plot_curves
from four_seasons_env.experiments.reporting.tables import as_markdown, read_table, write_csv
from four_seasons_env.experiments.statistics.summary import BASELINE, as_text, ranked
from four_seasons_env.experiments.training.run_folder import DONE, read_log, read_run

PAGE = ROOT / "docs" / "learning.md"
RESULTS = ROOT / "docs" / "results"

_LOGGED = {
    "time/core_seconds": "core_seconds",
    "play/games": "games",
    "validation/win_rate": "win_rate",
}
"""Columns of a run's log, and their names in the table of curves."""

_DEFAULT = "four-seasons"


def curves_of(sweep: Path) -> pd.DataFrame:
    """The learning curves of the finished runs of a sweep: a row a validation.

    Columns: study (the run's name without its seed), rules, seed, core_seconds, games, win_rate.
    """
    rows = []
    for path in sorted(sweep.glob(f"*/{DONE}")):
        folder = path.parent
        about = read_run(folder)
        log = read_log(folder)[list(_LOGGED)].dropna().rename(columns=_LOGGED)
        study = re.sub(r"-?seed-\d+$", "", folder.name) or sweep.name
        rules = about["rules"]["name"]
        rows.append(log.assign(study=study, rules=rules, seed=about["run"]["seed"]))
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame()


def store_learning(comparisons: list[Path], sweeps: list[Path]) -> None:
    """Copy the results of a study into docs/results: summaries and learning curves."""
    if comparisons:
        summaries = [read_table(each / "summary.csv") for each in comparisons]
        write_csv(RESULTS / "learning.csv", pd.concat(summaries, ignore_index=True))
    if sweeps:
        curves = pd.concat([curves_of(each) for each in sweeps], ignore_index=True)
        write_csv(RESULTS / "learning_curves.csv", curves)
    draw_learning()


def draw_learning() -> None:
    """Draw the learning curves of the default rule set, and what other agents win of test deals."""
    curves = read_table(RESULTS / "learning_curves.csv")
    stored = read_table(RESULTS / "four-seasons.csv")
    stored = stored[stored["play"] == "deterministic"]
    rates = dict(zip(stored["agent"], stored["win_rate"].astype(float), strict=True))
    beside = {name: rates[name] for name in (BASELINE, "finisher", "planner") if name in rates}
    plot_curves(
        curves[curves["rules"] == _DEFAULT],
        beside,
        f"{_DEFAULT}: next-deal PPO by time of learning",
        RESULTS / "learning.png",
    )


def learning_parts() -> dict[str, str]:
    """The generated parts of the page, by the name of their marks."""
    results = read_table(RESULTS / "learning.csv")
    own = results[results["rules"] == _DEFAULT]
    others = results[results["rules"] != _DEFAULT]
    deals = int(own["deals"].max())
    plot = "![games won against core-minutes](results/learning.png)\n\n"
    parts = {
        "study": f"Test deals 0 to {deals - 1:,}.\n\n{as_markdown(as_text(ranked(own)))}\n{plot}"
    }
    if len(others):
        summary = pd.concat([ranked(rows) for _, rows in others.groupby("rules", sort=False)])
        count = int(others["deals"].max())
        parts["family"] = f"Test deals 0 to {count - 1:,}.\n\n{as_markdown(as_text(summary))}\n"
    return parts
