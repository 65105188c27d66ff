"""Tables and plot of docs/small-games.md, and the optima that come with the package."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from agents.files import write_atomically
from experiments.command_line import ROOT
from experiments.parallel.parts import read_part
from experiments.reporting.plots import plot_regret
from experiments.reporting.tables import as_markdown, read_table, write_csv
from experiments.statistics.regret import optimum_as_text, regret_as_text, summarise_optimum
from four_seasons_env.rules import SMALL
from four_seasons_env.small import OPTIMA

RESULTS = ROOT / "docs" / "results"
_SUMMARY, _VALUES = RESULTS / "small-games.csv", RESULTS / "small-games-openings.csv"


def store_small_games(folder: Path) -> None:
    """Copy the results of `experiments.optimum` into docs/results and into the package.

    Raises:
        ValueError: if it has not valued all small games.
    """
    values = read_part(folder / "openings.csv")
    missing = [name for name in SMALL if name not in set(values["rules"])]
    if missing:
        raise ValueError(f"{folder} has no values of {', '.join(missing)}: value all small games")
    games = {
        name: summarise_optimum(rules, values[values["rules"] == name])
        for name, rules in SMALL.items()
    }
    about = {"command": "python -m experiments.optimum", "games": games}
    write_atomically(OPTIMA, (json.dumps(about, indent=2) + "\n").encode())
    write_csv(_VALUES, values)
    write_csv(_SUMMARY, read_table(folder / "summary.csv"))
    plot_regret(read_table(_SUMMARY), RESULTS / "small-games.png")


def small_games_part() -> str:
    """The generated part of the page."""
    values, summary = read_table(_VALUES), read_table(_SUMMARY)
    rows = []
    for name, row in summary.drop_duplicates("rules").set_index("rules").iterrows():
        valued = values[values["rules"] == name]
        sure = valued["alike"][valued["value"] == 1].sum() / valued["alike"].sum()
        rows.append(
            {
                "rules": name,
                "cards": str(row["cards"]),
                "openings": f"{row['openings']:,}",
                "valued": f"{row['valued']:,}",
                "optimum %": optimum_as_text(row),
                "won for certain %": f"{100 * sure:.1f}",
                "positions": f"{row['positions']:,.0f}",
                "core-seconds": f"{row['seconds']:.1f}",
            }
        )
    won, regret = regret_as_text(summary)
    return (
        f"{as_markdown(pd.DataFrame(rows))}\nGames won in percent, of test deals whose openings "
        f"are valued:\n\n{as_markdown(won)}\nRegret in points, with its 95% interval:\n\n"
        f"{as_markdown(regret)}\n![regret](results/small-games.png)\n\n"
    )
