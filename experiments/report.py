"""Make one page of comparisons and trainings.

    four-seasons report runs/x runs/y

Folders of `four-seasons compare` give tables and plots. Folders of `four-seasons train`, or with
such folders in them, give learning curves. The page is one self-contained HTML file, `report.html`
in the first folder. Every number comes from the files in the folders. A CSV file with the columns
`steps` and `win_rate` gives the learning curve of a training of your own.
"""

from __future__ import annotations

import base64
import html
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import tyro

from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.comparison import (
    COLUMNS,
    read_census,
    read_manifest,
    read_results,
    summarise_folder,
)
from four_seasons_env.experiments.folders import (
    DONE,
    RUN,
    STEPS,
    read_done,
    read_log,
    read_run,
    read_table,
)
from four_seasons_env.experiments.players import CEILING
from four_seasons_env.experiments.plots import plot_learning, plot_speed_strength, plot_win_rates
from four_seasons_env.experiments.summary import BASELINE, labels, ranked, summarise_seeds
from four_seasons_env.experiments.tables import as_text, deals_as_text, element, write_page
from four_seasons_env.files import write_atomically

_TITLE = "Four Seasons: how well is it played?"
_WIN_RATE = "validation/win_rate"
_BUDGETS = {
    "core_minutes": ("time/core_seconds", 60),
    "minutes": ("time/seconds", 60),
    "steps": (STEPS, 1),
}
"""The column of `progress.csv` and its divisor, by flag of `four-seasons train`."""

_SHOWN = (
    *("rules", "agent", "method", "seeds"),
    *("won % [95%]", f"vs {BASELINE} [95%]", "ms/game"),
)
"""Columns of the main table; `table.md` of a comparison has all."""

_NOTES = (
    "All agents play the same deals, and no agent sees the order of the stock. Brackets hold 95% "
    "intervals: Wilson's for the win rate of one policy, a bootstrap over deals and seeds for "
    "several training seeds and for differences. Differences are percentage points on the same "
    "deals. Times are measured with many games in lockstep on one core. The file table.md of "
    "the comparison has more columns: the way to play, cards up, the interquartile mean over seeds "
    "(IQM), and the p-value of McNemar's exact test (the largest of several seeds)."
)

_LEARNING_NOTE = (
    "Table and curves show validation deals, which also select the policy that is saved: the best. "
    "It is partly lucky on these deals, and they are few. A comparison plays other deals, so its "
    "figure differs and is usually lower. A line is one training, from its first validation. "
    "Dashed lines are win rates of a comparison."
)

_CEILING_NOTE = (
    "The ceiling is the share of deals that a player who sees every card could win. It is a range "
    "because the solver has not decided every deal. In table.md, the column 'of winnable' is an "
    "agent's share of the deals that are known to be winnable."
)


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


def report_page(
    comparisons: list[Path],
    trainings: list[Path],
    census: pd.DataFrame | None,
    curves: Sequence[Path] = (),
) -> bytes:
    """The page as HTML.

    Args:
        comparisons: folders of comparisons.
        trainings: folders of trainings.
        census: results of `experiments/studies/census.py`, for the ceiling, or None.
        curves: CSV files of learning curves.
    """
    # The answer comes first, in a sentence that needs no statistics. Then each comparison, with its
    # table before its plots, and learning, which is how the agents came about. Each part ends with
    # its source: the command and commit that make it again.
    parts = [element("h1", _TITLE), *_opening(comparisons)]
    for folder in comparisons:
        parts += _comparison(folder, census)
    if trainings:
        parts += _trainings(trainings, comparisons)
    if curves:
        parts += _own_curves(curves)
    return write_page("report", _TITLE, "\n".join(parts))


def _table(cells: pd.DataFrame, shown: Sequence[str] = ()) -> str:
    """A table of text with the columns ``shown``, by default all."""
    columns = [name for name in cells if name in (shown or cells)]
    return f'<div class="wide">{cells[columns].to_html(index=False, border=0)}</div>'


def _picture(description: str, draw: Callable[[Path], None]) -> str:
    """A picture, drawn into a file by a function."""
    with tempfile.TemporaryDirectory() as folder:
        draw(path := Path(folder) / "plot.png")
        data = base64.b64encode(path.read_bytes()).decode()
    image = f'<img alt="{html.escape(description)}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}</figure>"


def _opening(comparisons: Sequence[Path]) -> Iterator[str]:
    """Win rates of the comparisons."""
    for folder in comparisons:
        for rules, played in read_results(folder).groupby("rules", sort=False):
            rates = played.assign(who=labels(played)).groupby("who")["won"].mean()
            listed = ", ".join(
                f"{name} {rate:.1%}" for name, rate in rates.sort_values(ascending=False).items()
            )
            yield element("p", f"Games won under {rules}, {deals_as_text(played)}: {listed}.")


def _comparison(folder: Path, census: pd.DataFrame | None) -> Iterator[str]:
    """Table and plots of each rule set."""
    results = read_results(folder)[list(COLUMNS)]  # without luck, which `compare --luck` shows
    for rules, played in results.groupby("rules", sort=False):
        summary = summarise_folder(folder, played, census)
        title = f"{rules}, {deals_as_text(played)}"
        yield element("h2", title)
        # The best first. The way to play takes a column only if an agent plays in two ways.
        cells = as_text(ranked(summary))
        both = cells["agent"].duplicated().any()
        yield _table(cells, (*_SHOWN, "play") if both else _SHOWN)
        yield element("p", _NOTES, "note")
        if CEILING in set(summary["agent"]):
            yield element("p", _CEILING_NOTE, "note")
        yield _picture("win rates with intervals", partial(plot_win_rates, summary, title))
        yield _picture(
            "win rate against time per move", partial(plot_speed_strength, summary, title)
        )
        yield from _over_seeds(played)
    origin = read_manifest(folder).origin
    yield element("h3", "Source of the comparison")
    git = origin["git"]
    changed = " with changes" if git["changed"] else ""
    commit = f"commit {git['commit'] or 'unknown'}{changed}"
    yield element("p", f"{folder}/results.csv, one row per game; {commit}", "note")
    yield _commands([origin])


def _commands(origins: Iterable[dict[str, Any]]) -> str:
    """The command lines that make parts of the page again."""
    return "".join(f"<p>{element('code', each['command'])}</p>" for each in origins)


def _over_seeds(played: pd.DataFrame) -> Iterator[str]:
    """A table with a row for each training seed, if an agent has several."""
    if played.groupby(["agent", "play"])["train_seed"].nunique().max() < 2:
        return
    yield element("h3", "Training seeds")
    seeds = summarise_seeds(played).dropna(subset=["train_seed"])
    cells = as_text(seeds).drop(columns=["seeds", "IQM % [95%]"], errors="ignore")
    cells.insert(1, "seed", seeds["train_seed"].astype(int).astype(str).tolist())
    yield _table(cells.reset_index(drop=True))


def _reference(comparisons: list[Path], rules: str) -> dict[str, float]:
    """Win rates of the baseline, as lines in the plots of learning."""
    found: dict[str, float] = {}
    for folder in comparisons:
        own = read_results(folder).query("rules == @rules and agent == @BASELINE")
        if len(own):
            found[BASELINE] = own["won"].mean()
    return found


def _trainings(folders: list[Path], comparisons: list[Path]) -> Iterator[str]:
    """Outcomes and learning curves of each rule set, with a colour for each algorithm."""
    abouts = {folder: read_run(folder) for folder in folders}
    for rules in dict.fromkeys(each["rules"]["name"] for each in abouts.values()):
        own = {path: each["run"] for path, each in abouts.items() if each["rules"]["name"] == rules}
        yield element("h2", f"Learning {rules}")
        rows = [_outcome(path, run) for path, run in own.items() if (path / DONE).is_file()]
        if rows:
            rows.sort(key=lambda row: -float(row["best won %"]))
            yield _table(pd.DataFrame(rows))
        curves, budget = _curves(own)
        title = f"{rules}: validation during training"
        found = _reference(comparisons, rules)
        yield _picture(
            title, partial(plot_learning, curves, title, budget=budget, references=found)
        )
        yield element("p", _LEARNING_NOTE, "note")
    yield element("h3", "Source of the trainings")
    yield _commands(abouts.values())


def _own_curves(files: Sequence[Path]) -> Iterator[str]:
    """Learning curves of other programs, with a colour for each file.

    Raises:
        ValueError: for a file without steps and win rates.
    """
    curves = []
    for path in files:
        table = read_table(path)
        if missing := {"steps", "win_rate"} - {*table}:
            raise ValueError(f"{path} has no column {' or '.join(sorted(missing))}")
        table = table[["steps", "win_rate"]].dropna().apply(pd.to_numeric, errors="coerce")
        if table["steps"].isna().any() or not table["win_rate"].between(0, 1).all():
            raise ValueError(f"{path} must have numbers as steps, and a win_rate of 0 to 1")
        curves.append(table.assign(name=path.stem, run=str(path), spent=table["steps"]))
    title = "Other learning curves"
    yield element("h2", title)
    draw = partial(plot_learning, pd.concat(curves), title, budget="steps", references={})
    yield _picture(title, draw)
    yield element("p", f"From {', '.join(map(str, files))}.", "note")


def _learner(run: dict[str, Any]) -> str:
    """The agent of a training, and the weights that it started from."""
    return str(run["agent"]) + (f" from {run['warm_start']}" if run["warm_start"] else "")


def _outcome(folder: Path, run: dict[str, Any]) -> dict[str, str]:
    """A row of the table of finished trainings."""
    done = read_done(folder)
    return {
        "agent": _learner(run),
        "seed": str(run["seed"]),
        "minutes": f"{done.seconds / 60:.1f}",
        "core-minutes": f"{done.core_seconds / 60:.1f}",
        "games": f"{done.games:,}",
        "best won %": f"{100 * done.best.won:.2f}",
    }


def _curves(runs: dict[Path, dict[str, Any]]) -> tuple[pd.DataFrame, str]:
    """The validations of trainings, against the budget that limits all of them, and its name."""
    # The first in the order of `_BUDGETS`: processor time does not depend on what else runs.
    flag = next(each for each in _BUDGETS if all(run[each] for run in runs.values()))
    if flag == "steps" and len({run["agent"] for run in runs.values()}) > 1:
        flag = "minutes"  # their steps are not the same
    column, unit = _BUDGETS[flag]
    curves = [pd.DataFrame(columns=["name", "run", "spent", "win_rate"])]
    for folder, run in runs.items():
        log = read_log(folder)
        if _WIN_RATE in log:
            valid = log.dropna(subset=[_WIN_RATE])
            about = {"name": _learner(run), "run": str(folder), "win_rate": valid[_WIN_RATE]}
            curves.append(pd.DataFrame({"spent": valid[column] / unit} | about))
    return pd.concat(curves), flag.replace("_", "-")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    print(f"report: {run_command(arguments, report, Report, __doc__)}")
