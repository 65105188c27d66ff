"""How many agents win each deal, and the planner's chance of winning at its start.

    four-seasons compare --out runs/played --deals 0-999 \\
        --agents random greedy heuristic finisher maskable_ppo next_deal_ppo
    python experiments/studies/catalogue.py runs/played --out docs/results/deals

Counts each way of playing of each agent in one or more comparisons. Writes a file for each rule
set, a row per deal, which `four-seasons deals` reads. The chance is empty for rule sets without a
network.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from four_seasons_env.agents.judge import Judge, can_judge
from four_seasons_env.experiments.deals import COLUMNS
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.game import Game
from four_seasons_env.rules import file_name, get_rules


def catalogue(name: str, results: pd.DataFrame) -> pd.DataFrame:
    """A row for each deal of a rule set that agents have played."""
    rows = results.groupby("deal")["won"].agg(agents="size", wins="sum").reset_index()
    rules = get_rules(name)
    judge = Judge(rules) if can_judge(rules) else None
    chances = [judge.chance(Game(rules, deal)) if judge else None for deal in rows["deal"]]
    rows["chance"] = pd.Series(chances, dtype=float).round(4)
    return rows.assign(rules=name)[["rules", "deal", *COLUMNS]]


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("comparisons", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    run = parser.parse_args()
    run.out.mkdir(parents=True, exist_ok=True)
    results = pd.concat([read_table(each / "results.csv") for each in run.comparisons])
    for name, rows in results.groupby("rules", sort=False):
        write_csv(run.out / f"{file_name(str(name))}.csv", catalogue(str(name), rows))


if __name__ == "__main__":
    main()
