"""The page of `four-seasons report`."""

from __future__ import annotations

import base64
import html
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.experiments.reporting.cells import as_text, deals_as_text
from four_seasons_env.experiments.reporting.plots import (
    plot_learning,
    plot_speed_strength,
    plot_win_rates,
)
from four_seasons_env.experiments.results.ceiling import CEILING
from four_seasons_env.experiments.results.comparison import (
    COLUMNS,
    read_manifest,
    read_results,
    summarise_folder,
)
from four_seasons_env.experiments.results.summary import BASELINE, labels, ranked, summarise_seeds
from four_seasons_env.experiments.results.training_run import (
    DONE,
    STEPS,
    read_done,
    read_log,
    read_run,
)

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 1.5rem auto;
       padding: 0 1rem; color: #222; background: #fff; }
h1 { font-size: 1.5rem; line-height: 1.25; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
h3 { font-size: 1.05rem; margin-top: 1.75rem; }
.wide { overflow-x: auto; }
@media (min-width: 60rem) { .wide { margin: 0 calc((46rem - min(94vw, 86rem)) / 2); } }
.wide table { margin: 0 auto; }
table { border-collapse: separate; border-spacing: 0; font-size: .875rem;
        font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .3rem .7rem; text-align: right; border-bottom: 1px solid #ddd; }
@media (max-width: 40rem) {
  table { font-size: .72rem; white-space: normal; line-height: 1.3; }
  th, td { padding: .3rem .22rem; } }
th:first-child, td:first-child { text-align: left;
                                  position: sticky; left: 0; background: #fff; }
img { max-width: 100%; width: 36rem; height: auto; }
code { font-size: .85em; overflow-wrap: anywhere; }
.note { color: #555; font-size: .9rem; overflow-wrap: anywhere; }
"""

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


def make_page(comparisons: list[Path], trainings: list[Path], census: pd.DataFrame | None) -> str:
    """The page as HTML.

    Args:
        comparisons: folders of comparisons.
        trainings: folders of trainings.
        census: results of `four-seasons census`, for the ceiling, or None.
    """
    # The answer comes first, in a sentence that needs no statistics. Then each comparison, with its
    # table before its plots, and learning, which is how the agents came about. Each part ends with
    # its source: the command and commit that make it again.
    page = Page("Four Seasons: how well is it played?")
    _opening(page, comparisons)
    for folder in comparisons:
        _comparison(page, folder, census)
    if trainings:
        _trainings(page, trainings, comparisons)
    return page.as_html()


class Page:
    """A page under construction."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._html: list[str] = []

    def heading(self, text: str, level: int = 2) -> None:
        """A heading."""
        self._html.append(f"<h{level}>{html.escape(text)}</h{level}>")

    def paragraph(self, text: str) -> None:
        """A paragraph."""
        self._html.append(f"<p>{html.escape(text)}</p>")

    def note(self, text: str) -> None:
        """A paragraph in small print."""
        self._html.append(f'<p class="note">{html.escape(text)}</p>')

    def commands(self, lines: list[str]) -> None:
        """Command lines."""
        self._html.append("".join(f"<p><code>{html.escape(line)}</code></p>" for line in lines))

    def table(self, cells: pd.DataFrame, shown: Sequence[str] = ()) -> None:
        """A table of text; the HTML page has the columns ``shown``, by default all."""
        columns = [name for name in cells if name in (shown or cells)]
        as_html = cells[columns].to_html(index=False, border=0)
        self._html.append(f'<div class="wide">{as_html}</div>')

    def picture(self, description: str, draw: Callable[[Path], None]) -> None:
        """A picture, drawn into a file by a function; nothing if it cannot be drawn."""
        with tempfile.TemporaryDirectory() as folder:
            draw(path := Path(folder) / "plot.png")
            data = base64.b64encode(path.read_bytes()).decode() if path.is_file() else ""
        if data:
            alt = html.escape(description)
            self._html.append(f'<p><img alt="{alt}" src="data:image/png;base64,{data}"></p>')

    def as_html(self) -> str:
        """The page as HTML."""
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html.escape(self._title)}</title><style>{_STYLE}</style></head><body>"
            f"<h1>{html.escape(self._title)}</h1>" + "\n".join(self._html) + "</body></html>\n"
        )


def _opening(page: Page, comparisons: Sequence[Path]) -> None:
    """Win rates of the comparisons."""
    for folder in comparisons:
        for rules, played in read_results(folder).groupby("rules", sort=False):
            rates = played.assign(who=labels(played)).groupby("who")["won"].mean()
            listed = ", ".join(
                f"{name} {rate:.1%}" for name, rate in rates.sort_values(ascending=False).items()
            )
            page.paragraph(f"Games won under {rules}, {deals_as_text(played)}: {listed}.")


def _comparison(page: Page, folder: Path, census: pd.DataFrame | None) -> None:
    results = read_results(folder)[list(COLUMNS)]  # without luck, which `compare --luck` shows
    for rules, played in results.groupby("rules", sort=False):
        summary = summarise_folder(folder, played, census)
        title = f"{rules}, {deals_as_text(played)}"
        page.heading(title)
        # The best first. The way to play takes a column only if an agent plays in two ways.
        cells = as_text(ranked(summary))
        both = cells["agent"].duplicated().any()
        page.table(cells, (*_SHOWN, "play") if both else _SHOWN)
        page.note(_NOTES)
        if CEILING in set(summary["agent"]):
            page.note(_CEILING_NOTE)
        page.picture("win rates with intervals", partial(plot_win_rates, summary, title))
        page.picture("win rate against time per move", partial(plot_speed_strength, summary, title))
        _over_seeds(page, played)
    origin = read_manifest(folder).origin
    page.heading("Source of the comparison", 3)
    git = origin["git"]
    page.note(
        f"{folder}/results.csv, one row per game; commit {git['commit'] or 'unknown'}"
        + (" with changes" if git["changed"] else "")
    )
    page.commands([origin["command"]])


def _over_seeds(page: Page, played: pd.DataFrame) -> None:
    """A table with a row for each training seed, if an agent has several."""
    if played.groupby(["agent", "play"])["train_seed"].nunique().max() < 2:
        return
    page.heading("Training seeds", 3)
    seeds = summarise_seeds(played).dropna(subset=["train_seed"])
    cells = as_text(seeds).drop(columns=["seeds", "IQM % [95%]"], errors="ignore")
    cells.insert(1, "seed", seeds["train_seed"].astype(int).astype(str).tolist())
    page.table(cells.reset_index(drop=True))


def _reference(comparisons: list[Path], rules: str) -> dict[str, float]:
    """Win rates of the baseline, as lines in the plots of learning."""
    found: dict[str, float] = {}
    for folder in comparisons:
        own = read_results(folder).query("rules == @rules and agent == @BASELINE")
        if len(own):
            found[BASELINE] = own["won"].mean()
    return found


def _trainings(page: Page, folders: list[Path], comparisons: list[Path]) -> None:
    """Outcomes and learning curves of each rule set, with a colour for each algorithm."""
    abouts = {folder: read_run(folder) for folder in folders}
    for rules in dict.fromkeys(each["rules"]["name"] for each in abouts.values()):
        own = {path: each["run"] for path, each in abouts.items() if each["rules"]["name"] == rules}
        page.heading(f"Learning {rules}")
        rows = [_outcome(path, run) for path, run in own.items() if (path / DONE).is_file()]
        if rows:
            rows.sort(key=lambda row: -float(row["best won %"]))
            page.table(pd.DataFrame(rows))
        curves, budget = _curves(own)
        title = f"{rules}: validation during training"
        found = _reference(comparisons, rules)
        page.picture(title, partial(plot_learning, curves, title, budget=budget, references=found))
        page.note(_LEARNING_NOTE)
    page.heading("Source of the trainings", 3)
    page.commands([each["command"] for each in abouts.values()])


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
