"""Measure the win rate and the time per move of each agent at several settings.

    python experiments/studies/ladder.py --out runs/settings                # validation deals
    python experiments/studies/ladder.py --out runs/ladder --deals 0-999    # test deals, to report

`docs/tables.py --add` merges the summary into docs/results/ladder.csv.
"""

from __future__ import annotations

import argparse

from four_seasons_env.experiments.compare import main as compare

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
    "pimc@worlds=2,width=10",
    "planner@positions=40,expansions=1,votes=0,ending_positions=0",
    "planner@positions=40,expansions=1,votes=0",
    "planner@positions=40,expansions=15,votes=0",
    "planner@positions=100,expansions=40,votes=0",
    "planner@positions=400,expansions=150,votes=0",
    "planner@positions=400,expansions=150",
    "planner",
    "planner@lookahead=1",
]
"""Each kind of agent at several settings."""


def main() -> None:
    """Compare the agents on one core."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--deals", default="10000-10299")
    parser.add_argument("--agents", nargs="+", default=AGENTS)
    run = parser.parse_args()
    compare(["--agents", *run.agents, "--deals", run.deals, "--n-jobs", "1", "--out", run.out])


if __name__ == "__main__":
    main()
