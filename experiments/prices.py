"""Strength and price: the same agents with more and less thought. `python -m experiments.prices`.

    python -m experiments.prices --out runs/prices            # validation deals -> agents/best.json
    python -m experiments.prices --deals 0-999 --out runs/ladder    # test deals, to report
    python -m experiments.pages  --ladder runs/ladder               # into docs/agents.md

The first tells `make_agent("best")` which agent wins most within a time for each move. Test deals
choose nothing.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import tyro

from agents.best import MEASURED
from agents.files import write_atomically
from experiments.compare import Compare, compare
from experiments.training.run_folder import provenance
from four_seasons_env.engine.deals import TEST, VALIDATION, parse_deals

LADDER = [
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
    "planner@nodes=40,expansions=1,endgame=0,endgame_nodes=0",
    "planner@nodes=40,expansions=1,endgame=0",
    "planner@nodes=40,expansions=15,endgame=0",
    "planner@nodes=100,expansions=40,endgame=0",
    "planner@nodes=400,expansions=150",
    "planner",
    "planner@lookahead=1",
]
"""What is played: each kind of player at several prices."""

DEAR = ["pimc@worlds=2,width=10"]
"""What is played on test deals only."""


@dataclass
class Prices:
    """Measure what agents win, and what a move costs."""

    out: Path
    """Folder of the results, as of `experiments.compare`."""
    deals: str = f"{VALIDATION[0]}-{VALIDATION[0] + 299}"
    """Validation deals to choose by, or test deals to report."""
    n_jobs: int = 1
    """Games played at once; more than one a core makes moves look dear."""
    agents: list[str] = field(default_factory=list)
    """Agents to measure, if not all of the ladder: the prices of others stay as they are, though a
    machine may be faster or slower now than it was."""


def price_list(summary: pd.DataFrame) -> list[dict[str, Any]]:
    """What each agent that leaves no move to chance won, and what a move cost, cheapest first.

    Those that another beats at their price are kept too: they need no weights, or others.
    """
    agents = summary[summary["play"] == "deterministic"].sort_values("ms_per_move")
    return [
        {"agent": row["agent"], "won": row["win_rate"], "milliseconds": row["ms_per_move"]}
        for _, row in agents.iterrows()
    ]


def merged(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A price list with some agents measured anew, cheapest first."""
    prices = {each["agent"]: each for each in before} | {each["agent"]: each for each in now}
    return sorted(prices.values(), key=lambda each: float(each["milliseconds"]))


def prices(run: Prices) -> None:
    """Play, and keep strength and price where the deals are for choosing."""
    deals = parse_deals(run.deals)
    is_test = deals[0] in TEST
    agents = run.agents or (LADDER + DEAR if is_test else LADDER)
    compare(Compare(run.out, agents, deals=run.deals, n_jobs=run.n_jobs))
    if is_test:
        print("test deals: agents/best.json stays as it is")
        return
    measured = price_list(pd.read_csv(run.out / "summary.csv"))
    told = {"command": provenance()["command"], "deals": run.deals}
    if run.agents:
        told = json.loads(MEASURED.read_text())
        told["and"] = provenance()["command"]
        measured = merged(told["agents"], measured)
    told["agents"] = measured
    write_atomically(MEASURED, (json.dumps(told, indent=2) + "\n").encode())
    print(f"kept in {MEASURED}")


if __name__ == "__main__":
    try:
        prices(tyro.cli(Prices, description=__doc__))
    except (ValueError, FileNotFoundError, RuntimeError) as error:
        sys.exit(f"error: {error}")
