"""The README's benchmark from nothing: `make reproduce`, or `python -m experiments.reproduce`.

Trains both algorithms with five seeds each, plays them against random play, the heuristic, the kept
weights and the planner on the 10,000 test deals, plays random and heuristic on all rule sets,
writes the report, and makes README and docs anew from all that. `--quick` does the same in small,
and leaves README and docs alone. Started again, it goes on where it was stopped.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import tyro
from rich.console import Console

from experiments.compare import Compare, compare
from experiments.pages import RESULTS, Pages, write_pages
from experiments.report import Report, report
from experiments.run_folder import ROOT
from experiments.sweep import Sweep, sweep

STUDIES = Path(__file__).parent / "studies"


@dataclass
class Reproduce:
    """Train, compare, report."""

    out: Path | None = None
    """Folder of all that is made; by default runs/reproduce, or runs/reproduce-quick."""
    quick: bool = False
    """In small: two seeds, minutes of training, a tenth of the deals."""
    backend: str = "loky"
    """What works side by side: loky (this machine), dask or ray."""
    n_jobs: int = -1
    """How many at once; -1: one a core, or all of the cluster's."""
    cluster: str | None = None
    """Address of a Dask scheduler or a Ray head."""


def reproduce(run: Reproduce) -> None:
    """Run the steps one after the other.

    Raises:
        RuntimeError: if a training fails.
    """
    console = Console()
    out = run.out or Path("runs") / ("reproduce-quick" if run.quick else "reproduce")
    workers = {"backend": run.backend, "n_jobs": run.n_jobs, "cluster": run.cluster}
    deals = "0-999" if run.quick else "0-9999"
    console.rule("1 of 4: training")
    jobs = STUDIES / ("quick.yaml" if run.quick else "baselines.yaml")
    failures = sweep(Sweep(jobs, out / "study", **workers))  # type: ignore[arg-type]
    if failures:
        raise RuntimeError(f"{len(failures)} trainings failed: start again to go on with them")
    console.rule("2 of 4: comparison on test deals")
    agents = [
        "random",
        "heuristic",
        "finisher",
        f"MaskablePPO=maskable_ppo:{out}/study/maskable_ppo-*",
        f"MaskableDQN=maskable_dqn:{out}/study/maskable_dqn-*",
        "kept=maskable_ppo",
        "planner",
    ]
    compared = out / "compare"
    compare(Compare(compared, agents, deals=deals, **workers))  # type: ignore[arg-type]
    console.rule("3 of 4: all rule sets")
    family = out / "family"
    compare(Compare(family, ["random", "heuristic"], ["all"], deals=deals, **workers))  # type: ignore[arg-type]
    console.rule("4 of 4: report")
    page = report(Report([compared, out / "study"], out / "report.html"))
    console.print(f"report: {page}")
    if not run.quick:
        report(Report([compared, out / "study"], RESULTS / "report.html"))
        write_pages(Pages(compared, family))
        console.print(f"made anew: README.md and docs in {ROOT}")


if __name__ == "__main__":
    try:
        reproduce(tyro.cli(Reproduce, description=__doc__))
    except (ValueError, FileNotFoundError, RuntimeError) as error:
        sys.exit(f"error: {error}")
