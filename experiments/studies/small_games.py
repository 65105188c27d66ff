"""Write the optima of the small games into the package.

    python experiments/studies/small_games.py

Takes the values of openings from docs/results/small-games-openings.csv (`openings.csv` of
`four-seasons optimum`) and writes four_seasons_env/data/small_games.json, which
`four_seasons_env.small_games` reads.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.command_line import RESULTS
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.statistics.regret import summarise_optimum
from four_seasons_env.rules import SMALL
from four_seasons_env.small import OPTIMA


def main() -> None:
    """Write the optimum of every small game."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OPTIMA)
    run = parser.parse_args()
    values = read_table(RESULTS / "small-games-openings.csv")
    games = {
        name: summarise_optimum(rules, values[values["rules"] == name])
        for name, rules in SMALL.items()
    }
    about = {"command": "four-seasons optimum", "games": games}
    write_atomically(run.out, f"{json.dumps(about, indent=2)}\n".encode())


if __name__ == "__main__":
    main()
