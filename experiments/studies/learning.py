"""Repeat the study of docs/explanation/learning.md: next-deal PPO by time of learning.

    python experiments/studies/learning.py --out runs/learning

Trains the grids next_deal.yaml, next_deal_long.yaml and next_deal_family.yaml, about three
core-hours, compares the policies on test deals, and collects summary.csv and curves.csv, which
docs/results/learning.csv and learning_curves.csv hold. Finished trainings are not repeated.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.experiments.studies.average import write_average
from four_seasons_env.experiments.training.run_folder import DONE, read_log, read_run

GRIDS = ("next_deal", "next_deal_long", "next_deal_family")
POLICIES = {
    "30-minutes": "next_deal_long/30-minutes-seed-*",
    "7-minutes": "next_deal/7-minutes-seed-*",
    "2-minutes": "next_deal/2-minutes-seed-*",
}
"""Rows of the table, and the runs of each. Each has more: the policy without its value head, and
the means of the networks of its first seeds."""
AVERAGED = (2, 5)
"""Seeds in a mean."""
OTHER_POLICIES = {"2-minutes-policy-endings": "next_deal/2-minutes-policy-endings-seed-*"}
DEALS = "0-999"
FAMILY = ["czarina", "simplicity", "four-seasons-1883"]
FAMILY_RUNS, FAMILY_DEALS = "next_deal_family/*/best", "0-999"


def four_seasons(*words: str) -> None:
    """Run a command of `four-seasons`."""
    subprocess.run([sys.executable, "-m", "four_seasons_env", *words], check=True)


def curves(grid: Path) -> pd.DataFrame:
    """The learning curves of a grid: a row a validation."""
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
    compared, family = run.out / "compare", run.out / "compare-family"
    agents = [
        f"{name}=next_deal_ppo:{run.out}/{runs}"
        for name, runs in (POLICIES | OTHER_POLICIES).items()
    ]
    for name, runs in POLICIES.items():
        agents.append(f"{name}-policy-alone=next_deal_ppo:{run.out}/{runs}@value_weight=0")
        parts = [folder / "best" for folder in sorted(run.out.glob(runs))]
        for count in AVERAGED:
            if len(parts) >= count:
                mean = run.out / "averages" / f"{name}-{count}"
                write_average(parts[:count], mean)
                agents.append(f"{name}-averaged-{count}=next_deal_ppo:{mean}")
    flags = ["--play", "deterministic", "--deals", DEALS, "--out", str(compared)]
    four_seasons("compare", "--agents", "heuristic", *agents, *flags)
    learner = f"next_deal_ppo=next_deal_ppo:{run.out}/{FAMILY_RUNS}"
    flags = ["--play", "deterministic", "--deals", FAMILY_DEALS, "--out", str(family)]
    four_seasons("compare", "--agents", "heuristic", learner, "--rules", *FAMILY, *flags)
    summaries = [read_table(folder / "summary.csv") for folder in (compared, family)]
    write_csv(run.out / "summary.csv", pd.concat(summaries))
    write_csv(run.out / "curves.csv", pd.concat([curves(run.out / grid) for grid in GRIDS]))


if __name__ == "__main__":
    main()
