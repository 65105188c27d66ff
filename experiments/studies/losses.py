"""Why are deals lost? Name the moments for which the piles do not suffice.

    python experiments/studies/losses.py --out runs/losses

Takes the deals that the stored census proved lost and asks `four_seasons_env.solver.why_lost` about
each. Writes losses.csv, one row per deal; docs/results/losses.csv holds it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.command_line import CENSUS
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.game import Game
from four_seasons_env.rules import file_name
from four_seasons_env.solver import why_lost


def main() -> None:
    """Write losses.csv."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rules", default="four-seasons")
    parser.add_argument("--deals", type=int, help="the first lost deals only")
    run = parser.parse_args()
    census = read_table(CENSUS / f"{file_name(run.rules)}.csv").query("status == 'lost'")
    rows = []
    for deal in census["deal"].head(run.deals or len(census)):
        reason = why_lost(Game(run.rules, deal))
        moments, waiting = (" ".join(cards) for cards in reason) if reason else (None, None)
        rows.append({"rules": run.rules, "deal": deal, "moments": moments, "waiting": waiting})
        print(f"deal {deal}: {moments or 'no such reason'}", flush=True)
    run.out.mkdir(parents=True, exist_ok=True)
    write_csv(run.out / "losses.csv", pd.DataFrame(rows))


if __name__ == "__main__":
    main()
