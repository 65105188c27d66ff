"""Reproduce the README's benchmark from nothing: what `make reproduce` runs.

Trains the algorithms with five seeds each, compares them with random play, the heuristic, the
bundled weights and the planner on the 10,000 test deals, plays random and heuristic on all rule
sets, writes the report, and writes README and docs from the results. `--quick` does the same in
small and leaves README and docs alone. `--learning` runs the study of docs/learning.md instead.
Started again, it continues where it was stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from four_seasons_env.experiments.command_line import ROOT, require_clone, run_command
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.pages import RESULTS, Pages, write_pages
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.sweep import Sweep, sweep

STUDIES = Path(__file__).parent / "studies"


@dataclass
class Reproduce:
    """Train, compare, report."""

    out: Path | None = None
    """Folder of the results; by default runs/reproduce, or runs/reproduce-quick."""
    learning: bool = False
    """The study of docs/learning.md, some three core-hours, instead of the README's benchmark."""
    quick: bool = False
    """Two seeds, minutes of training, a tenth of the deals."""
    workers: Workers = field(default_factory=Workers)


def reproduce(run: Reproduce) -> None:
    """Run the steps one after the other.

    Raises:
        RuntimeError: if a training fails; in an installed wheel, unless `--quick` is given.
    """
    if not run.quick:
        require_clone()
    console = Console()
    out = run.out or Path("runs") / ("reproduce-quick" if run.quick else "reproduce")
    deals = "0-999" if run.quick else "0-9999"
    if run.learning:
        _learning(run, Path("runs/learning") if run.out is None else run.out, console)
        return
    console.rule("1 of 4: training")
    jobs = STUDIES / ("quick.yaml" if run.quick else "baselines.yaml")
    failures = sweep(Sweep(jobs, out / "study", run.workers))
    if failures:
        raise RuntimeError(f"{len(failures)} trainings failed: start again to resume them")
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
    compare(Compare(compared, agents, deals=deals, workers=run.workers))
    console.rule("3 of 4: all rule sets")
    family = out / "family"
    baselines = ["random", "heuristic"]
    compare(Compare(family, baselines, rules=["all"], deals=deals, workers=run.workers))
    console.rule("4 of 4: report")
    page = report(Report([compared, out / "study"], out=out / "report.html"))
    console.print(f"report: {page}")
    if not run.quick:
        report(Report([compared, out / "study"], out=RESULTS / "report.html"))
        write_pages(Pages(results=compared, family=family))
        console.print(f"updated: README.md and docs in {ROOT}")


def _learning(run: Reproduce, out: Path, console: Console) -> None:
    """The study of docs/learning.md: sweeps, comparisons on test deals, and the page."""
    sweeps = {
        "next_deal": "next_deal",
        "30-minutes": "next_deal_long",
        "family": "next_deal_family",
    }
    for number, (name, study) in enumerate(sweeps.items(), 1):
        console.rule(f"{number} of 5: training, {study}.yaml")
        failures = sweep(Sweep(STUDIES / f"{study}.yaml", out / name, run.workers))
        if failures:
            raise RuntimeError(f"{len(failures)} trainings failed: start again to resume them")
    console.rule("4 of 5: comparison on test deals")
    deals = "0-999" if run.quick else "0-9999"
    compared, family = out / "compare", out / "compare-family"
    kinds = ("2-minutes", "7-minutes", "7-minutes-policy-endings")
    agents = ["heuristic", f"30-minutes=next_deal_ppo:{out}/30-minutes/seed-*"]
    agents += [f"{kind}=next_deal_ppo:{out}/next_deal/{kind}-seed-*" for kind in kinds]
    compare(Compare(compared, agents, deals=deals, workers=run.workers))
    rules = list(FAMILY)
    agents = ["heuristic", f"next_deal_ppo=next_deal_ppo:{out}/family/*"]
    compare(Compare(family, agents, rules=rules, deals="0-999", workers=run.workers))
    console.rule("5 of 5: the page")
    if not run.quick:
        write_pages(Pages(learning=[compared, family], curves=[out / each for each in sweeps]))


FAMILY = ("czarina", "simplicity", "four-seasons-1883")
"""Rule sets of next_deal_family.yaml."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(
        arguments, reproduce, Reproduce, __doc__, "finished steps are saved; resume: {command}"
    )


if __name__ == "__main__":
    main()
