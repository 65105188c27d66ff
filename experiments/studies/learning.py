"""Repeat the study of docs/explanation/learning.md: next-deal PPO by time of learning.

    python experiments/studies/learning.py --out runs/learning

Trains the grids next_deal.yaml and next_deal_long.yaml in about two and a half core-hours, compares
the policies on test deals, and writes summary.csv and curves.csv, which are stored in docs/results
as learning.csv and learning_curves.csv. Finished trainings are not repeated.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.results.tables import read_table, write_csv
from four_seasons_env.experiments.results.training_run import DONE, read_log, read_run

GRIDS = ("next_deal", "next_deal_long")
POLICIES = {
    "30-minutes": "next_deal_long/30-minutes-seed-*",
    "7-minutes": "next_deal/7-minutes-seed-*",
    "2-minutes": "next_deal/2-minutes-seed-*",
}
"""Rows of the table, and the runs of each. A second row of each plays without the value head."""
OTHER_POLICIES = {"2-minutes-policy-endings": "next_deal/2-minutes-policy-endings-seed-*"}
DEALS = "0-999"


def four_seasons(*words: str) -> None:
    """Run a command of `four-seasons`."""
    subprocess.run([sys.executable, "-m", "four_seasons_env", *words], check=True)


def curves(grid: Path) -> pd.DataFrame:
    """The learning curves of a grid: a row per validation."""
    rows = []
    for folder in sorted(path.parent for path in grid.glob(f"*/{DONE}")):
        about = read_run(folder)
        log = read_log(folder).dropna(subset=["validation/win_rate"])
        rows.append(
            pd.DataFrame(
                {
                    "core_seconds": log["time/core_seconds"],
                    "games": log["play/games"],
                    "win_rate": log["validation/win_rate"],
                    "study": re.sub(r"-?seed-\d+$", "", folder.name) or grid.name,
                    "rules": about["rules"]["name"],
                    "seed": about["run"]["seed"],
                }
            )
        )
    return pd.concat(rows, ignore_index=True)


def main() -> None:
    """Train, compare, and collect the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    for grid in GRIDS:
        path = Path(__file__).with_name(f"{grid}.yaml")
        four_seasons("sweep", str(path), "--out", str(run.out / grid))
    compared = run.out / "compare"
    agents = [
        f"{name}=next_deal_ppo:{run.out}/{runs}"
        for name, runs in (POLICIES | OTHER_POLICIES).items()
    ]
    for name, runs in POLICIES.items():
        agents.append(f"{name}-policy-alone=next_deal_ppo:{run.out}/{runs}@value_weight=0")
    flags = ["--play", "deterministic", "--deals", DEALS, "--out", str(compared)]
    four_seasons("compare", "--agents", "heuristic", *agents, *flags)
    write_csv(run.out / "summary.csv", read_table(compared / "summary.csv"))
    write_csv(run.out / "curves.csv", pd.concat([curves(run.out / grid) for grid in GRIDS]))


if __name__ == "__main__":
    main()
