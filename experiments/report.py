"""Make one page of comparisons and trainings.

    four-seasons report runs/x runs/y

Folders of `four-seasons compare` give tables and plots. Folders of `four-seasons train`, or with
such folders in them, give learning curves. The page is one self-contained HTML file, `report.html`
in the first folder. Every number comes from the files in the folders. A CSV file with the columns
`steps` and `win_rate` gives the learning curve of a training of your own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.results.training_run import RUN
from four_seasons_env.files import write_atomically


@dataclass
class Report:
    """Make a page of runs."""

    runs: tyro.conf.Positional[list[Path]]
    """Folders of comparisons and trainings, and CSV files of learning curves."""
    census: Path | None = None
    """Folder of `experiments/studies/census.py`, for the ceiling.
    Without this flag: the stored census of the test deals."""
    out: Path | None = None
    """The page, ending in `.html`, or a folder for `report.html`.
    Without this flag: the first of the folders."""


def report(run: Report) -> Path:
    """Write the page and return its path.

    Raises:
        ValueError: if no folder is given, or a file in one is damaged.
        FileNotFoundError: for a folder without a training or comparison.
    """
    curves = [each for each in run.runs if each.suffix == ".csv"]
    folders = [each for each in run.runs if each not in curves]
    if not run.runs:
        raise ValueError("name at least one folder of a comparison or training")
    comparisons, trainings = _folders(folders)

    from four_seasons_env.experiments.reporting.report_page import report_page
    from four_seasons_env.experiments.results.ceiling import read_census

    out = run.out or (folders[0] if folders else curves[0].parent)
    if out.suffix != ".html":
        out = out / "report.html"
    write_atomically(out, report_page(comparisons, trainings, read_census(run.census), curves))
    return out


def _folders(runs: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The folders of comparisons, and those of trainings, alone or in a common folder.

    Raises:
        FileNotFoundError: for another folder.
    """
    comparisons, trainings = list[Path](), list[Path]()
    for folder in runs:
        inside = sorted(each.parent for each in folder.glob(f"*/{RUN}"))
        if (folder / "results.csv").is_file():
            comparisons.append(folder)
        elif (folder / RUN).is_file():
            trainings.append(folder)
        elif inside:
            trainings += inside
        else:
            raise FileNotFoundError(
                f"{folder} has no run: it must contain results.csv (of `four-seasons compare`), "
                f"{RUN} (of `four-seasons train`) or folders with one"
            )
    return comparisons, trainings


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    print(f"report: {run_command(arguments, report, Report, __doc__)}")
