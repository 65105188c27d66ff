"""Write what was tried at length into docs/reliability.md: `python -m tests.reliability.page`.

Takes the tables that the commands of this folder, and `tests.mutation`, have left in `runs`; what
the page shows is kept in docs/results/reliability. Without new tables it is written from there.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pandas as pd

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.pages import RESULTS, with_part
from four_seasons_env.experiments.reporting.tables import as_markdown, read_table
from tests.helpers import ROOT
from tests.mutation.summary import EQUIVALENT, summary, with_judgement

PAGE = ROOT / "docs" / "reliability.md"
KEPT = RESULTS / "reliability"
NOT_KILLED = {
    "survived": "Survivors of both stages",
    "open": "Open, as only the first stage has been tried",
    EQUIVALENT: "Equivalent: the code does what it did, so no test can notice",
}
TABLES = ("records", "files", "commands", "soak")


def _cells(table: pd.DataFrame) -> pd.DataFrame:
    cells = table.copy()
    for name in table.select_dtypes("number"):
        whole = (table[name] == table[name].round()).all()
        cells[name] = table[name].map(("{:,.0f}" if whole else "{:,.2f}").format)
    return cells


def mutants_part(mutants: pd.DataFrame) -> str:
    """The counts, and each mutant that no test has noticed, with its judgement."""
    judged = with_judgement(mutants)
    told = f"{as_markdown(_cells(summary(judged)))}\n"
    for outcome, title in NOT_KILLED.items():
        shown = judged[judged["outcome"] == outcome].sort_values(["source", "line", "name"])
        rows = pd.DataFrame(
            {
                "where": shown["source"] + ":" + shown["line"].astype(str),
                "change": shown["diff"].map(_change),
                "judged": shown["judgement"].fillna("not judged yet"),
            }
        )
        told += f"{title}:\n\n{as_markdown(rows)}\n" if len(rows) else f"{title}: none.\n\n"
    return told


def _change(diff: str) -> str:
    """The line as it was, and as it is with the fault."""
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++", "@@"))]
    before, after = (
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )
    return f"{before} → {after}"


def page(text: str) -> str:
    """The page's text with the kept tables."""
    for name in TABLES:
        path = KEPT / f"{name}.csv"
        if path.is_file():
            text = with_part(text, name, f"{as_markdown(_cells(read_table(path)))}\n")
    if (KEPT / "mutants.csv").is_file():
        text = with_part(text, "mutants", mutants_part(read_table(KEPT / "mutants.csv")))
    return text


def main() -> None:
    """Keep the new tables, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=Path, default=ROOT / "runs")
    runs = parser.parse_args().runs
    KEPT.mkdir(exist_ok=True)
    found = [runs / "reliability" / f"{name}.csv" for name in TABLES]
    for path in [*found, runs / "mutants" / "mutants.csv"]:
        if path.is_file():
            shutil.copyfile(path, KEPT / path.name)
            print(f"kept {path}")
    write_atomically(PAGE, page(PAGE.read_text()).encode())


if __name__ == "__main__":
    main()
