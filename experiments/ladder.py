"""Measure what agents win and what a move costs them, with more and less thought.

    ladder --out runs/prices                  # validation deals
    ladder --out runs/ladder --deals 0-999    # test deals, to report
    pages --ladder runs/ladder                # into docs/agents.md

The first writes agents/best.json, by which `make_agent("best")` chooses the agent that wins most
within a time for each move. Test deals choose nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.agents.best import MEASURED
from four_seasons_env.agents.files import write_atomically
from four_seasons_env.engine.deals import TEST, VALIDATION, parse_deals
from four_seasons_env.experiments.command_line import command_line, run_command
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.tables import read_table

PLAYERS = [
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
    "planner@nodes=400,expansions=150,endgame=0",
    "planner@nodes=400,expansions=150",
    "planner",
    "planner@lookahead=1",
]
"""Each kind of player at several prices."""

EXPENSIVE = ["pimc@worlds=2,width=10"]
"""Players that are measured on test deals only."""


@dataclass
class Ladder:
    """Measure what agents win and what a move costs them."""

    out: Path
    """Folder of the results, as of `four-seasons compare`."""
    deals: str = f"{VALIDATION[0]}-{VALIDATION[0] + 299}"
    """Validation deals to choose by, or test deals to report."""
    workers: Workers = field(default_factory=lambda: Workers(n_jobs=1))
    agents: list[str] = field(default_factory=list)
    """Agents to measure instead of the whole ladder; the prices of the others stay as they are,
    though the machine may be faster or slower now."""


def price_list(summary: pd.DataFrame) -> list[dict[str, Any]]:
    """Games won and milliseconds a move of each deterministic agent, cheapest first.

    Agents that a cheaper one beats are listed too, as not all weights may be there.
    """
    agents = summary[summary["play"] == "deterministic"].sort_values("ms_per_move")
    return [
        {"agent": row["agent"], "won": row["win_rate"], "milliseconds": row["ms_per_move"]}
        for _, row in agents.iterrows()
    ]


def merged(before: list[dict[str, Any]], now: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A price list in which newer prices replace older ones, cheapest first."""
    prices = {each["agent"]: each for each in before} | {each["agent"]: each for each in now}
    return sorted(prices.values(), key=lambda each: float(each["milliseconds"]))


def ladder(run: Ladder) -> None:
    """Play, and write agents/best.json if the deals are not test deals."""
    deals = parse_deals(run.deals)
    is_test = deals[0] in TEST
    agents = run.agents or (PLAYERS + EXPENSIVE if is_test else PLAYERS)
    compare(Compare(run.out, agents, deals=run.deals, workers=run.workers))
    if is_test:
        print("test deals: agents/best.json is unchanged")
        return
    measured = price_list(read_table(run.out / "summary.csv"))
    about: dict[str, Any] = {"command": command_line(), "deals": run.deals}
    if run.agents:
        about = json.loads(MEASURED.read_text())
        about["and"] = command_line()
        measured = merged(about["agents"], measured)
    about["agents"] = measured
    write_atomically(MEASURED, (json.dumps(about, indent=2) + "\n").encode())
    print(f"saved in {MEASURED}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments,
        ladder,
        Ladder,
        __doc__,
        "finished blocks are saved in {run.out}; resume: {command}",
    )


if __name__ == "__main__":
    main()
