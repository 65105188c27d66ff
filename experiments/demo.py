"""The main job in five minutes: `make demo`, or `python -m experiments.demo --minutes 2`.

Trains MaskablePPO from nothing, then plays it against random play, the heuristic and the weights
that come with the project, on the 10,000 test deals, and writes a report.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

from experiments.compare import Compare, compare
from experiments.report import Report, report
from experiments.train import Train, train


@dataclass
class Demo:
    """Train, compare, report."""

    minutes: float = 2.0
    """How long to train."""
    out: Path = Path("runs/demo")
    """Folder; each demo is a new one inside it."""
    rules: str = "four-seasons"


def demo(run: Demo) -> None:
    """Run the three steps one after the other."""
    console = Console()
    folder = run.out / time.strftime("%Y%m%d-%H%M%S")
    learned, compared = folder / "train", folder / "compare"
    console.rule("1 of 3: a MaskablePPO agent learns")
    train(Train(out=learned, rules=run.rules, steps="1G", minutes=run.minutes))
    console.rule("2 of 3: it is compared on held-out deals")
    trained = f"trained=maskable_ppo:{learned}"
    agents = ["random", "heuristic", trained, "maskable_ppo"]
    compare(Compare(out=compared, agents=agents, rules=[run.rules]))
    console.rule("3 of 3: the report")
    page = report(Report([compared, learned], folder / "report.html"))
    console.print(f"table:          {compared / 'table.md'}")
    console.print(f"learning curve: {learned / 'progress.csv'}")
    console.print(f"report:         {page}")


if __name__ == "__main__":
    demo(tyro.cli(Demo, description=__doc__))
