"""Measure the win rate and the time per move of each agent at several settings.

    python experiments/studies/ladder.py --out runs/prices                  # validation deals
    python experiments/studies/ladder.py --out runs/ladder --deals 0-999    # test deals, to report

On validation deals it writes agents/best.json, from which `make_agent("best")` chooses the
strongest agent within a time for each move. Results on test deals choose nothing; merge their
summary into docs/results/ladder.csv with `docs/tables.py --add`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from four_seasons_env.agents.best import MEASURED
from four_seasons_env.agents.files import write_atomically
from four_seasons_env.engine.deals import TEST, parse_deals
from four_seasons_env.experiments.compare import main as compare
from four_seasons_env.experiments.reporting.tables import read_table

AGENTS = [
    "random",
    "greedy",
    "heuristic",
    "maskable_ppo",
    "next_deal_ppo@candidates=32,expansions=60,ending_expansions=400",
    "next_deal_ppo",
    "next_deal_ppo@candidates=500,expansions=1200,endings=solver",
    "finisher@base=greedy",
    "finisher",
    "finisher@base=maskable_ppo",
    "rollout@worlds=4",
    "rollout@worlds=8",
    "rollout@worlds=16,base=greedy",
    "rollout@worlds=64,base=greedy",
    "rollout@worlds=8,expansions=500",
    "rollout@worlds=16,expansions=500",
    "planner@positions=40,expansions=1,votes=0,ending_positions=0",
    "planner@positions=40,expansions=1,votes=0",
    "planner@positions=40,expansions=15,votes=0",
    "planner@positions=100,expansions=40,votes=0",
    "planner@positions=400,expansions=150,votes=0",
    "planner@positions=400,expansions=150",
    "planner",
    "planner@lookahead=1",
]
"""Each kind of agent at several prices. `pimc@worlds=2,width=10` is added on test deals alone."""


def main() -> None:
    """Compare the agents, and write agents/best.json unless the deals are test deals."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--deals", default="10000-10299")
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    parser.add_argument("--best", type=Path, default=MEASURED, help="the file that is written")
    run = parser.parse_args()
    is_test = parse_deals(run.deals)[0] in TEST
    agents = [*run.agents, "pimc@worlds=2,width=10"] if is_test else run.agents
    compare(["--agents", *agents, "--deals", run.deals, "--n-jobs", "1", "--out", str(run.out)])
    if is_test:
        print(f"test deals: {run.best} is unchanged")
        return
    summary = read_table(run.out / "summary.csv").query("play == 'deterministic'")
    prices = [
        {"agent": row["agent"], "won": row["win_rate"], "milliseconds": row["ms_per_move"]}
        for _, row in summary.sort_values("ms_per_move").iterrows()
    ]
    about = {"command": " ".join(sys.argv), "deals": run.deals, "agents": prices}
    write_atomically(run.best, f"{json.dumps(about, indent=2)}\n".encode())
    print(f"written: {run.best}")


if __name__ == "__main__":
    main()
