"""Tables and plot of docs/small-games.md, and the optima that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.reporting.plots.odds import plot_regret
from four_seasons_env.experiments.reporting.tables import (
    as_markdown,
    beside_stored,
    read_table,
    write_csv,
)
from four_seasons_env.experiments.statistics.regret import (
    optimum_as_text,
    regret_as_text,
    summarise_optimum,
)
from four_seasons_env.rules import SMALL
from four_seasons_env.small import OPTIMA

RESULTS = ROOT / "docs" / "results"
_SUMMARY, _VALUES = RESULTS / "small-games.csv", RESULTS / "small-games-openings.csv"


def store_small_games(folder: Path) -> None:
    """Copy the results of `four-seasons optimum` into docs/results and into the package.

    Games that it has not valued keep the results that are stored.

    Raises:
        ValueError: if a small game then has no values.
    """
    values = _with_stored(read_table(folder / "openings.csv"), _VALUES)
    missing = [name for name in SMALL if name not in set(values["rules"])]
    if missing:
        raise ValueError(f"{folder} has no values of {', '.join(missing)}: value these as well")
    games = {
        name: summarise_optimum(rules, values[values["rules"] == name])
        for name, rules in SMALL.items()
    }
    about = {"command": "four-seasons optimum", "games": games}
    write_atomically(OPTIMA, f"{json.dumps(about, indent=2)}\n".encode())
    write_csv(_VALUES, values)
    write_csv(_SUMMARY, _with_stored(read_table(folder / "summary.csv"), _SUMMARY))
    plot_regret(read_table(_SUMMARY), RESULTS / "small-games.png")


def _with_stored(found: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Results, and those of other games that are stored; in the order of `SMALL`."""
    both = beside_stored(found, path)
    return pd.concat([both[both["rules"] == name] for name in SMALL], ignore_index=True)


def small_games_part() -> str:
    """The generated part of the page."""
    values = read_table(_VALUES)
    rows = []
    for name, valued in values.groupby("rules", sort=False):
        row = pd.Series(summarise_optimum(SMALL[str(name)], valued))
        sure = valued["alike"][valued["value"] == 1].sum() / valued["alike"].sum()
        rows.append(
            {
                "rules": name,
                "cards": str(SMALL[str(name)].cards),
                "openings": f"{row['openings']:,.0f}",
                "valued": f"{row['valued']:,.0f}",
                "optimum %": optimum_as_text(row),
                "won for certain %": f"{100 * sure:.1f}",
                "positions": f"{valued['nodes'].mean():,.0f}",
                "core-seconds": f"{valued['seconds'].mean():.1f}",
            }
        )
    summary = read_table(_SUMMARY)
    won, regret = regret_as_text(summary)
    deals = " or ".join(f"{count:,}" for count in sorted(summary["deals"].unique()))
    return (
        f"{as_markdown(pd.DataFrame(rows))}\nGames won in percent, of {deals} test deals with "
        f"openings that are valued:\n\n{as_markdown(won)}\nRegret in points, with its 95% "
        f"interval:\n\n{as_markdown(regret)}\n![regret](results/small-games.png)\n\n"
    )
