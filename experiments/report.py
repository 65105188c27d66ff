"""Make one page of comparisons and trainings.

    four-seasons report runs/x runs/y
    four-seasons report runs/x PPO=runs/a PPO=runs/b own=own-0.csv own=own-1.csv

Folders of `four-seasons compare` give tables and plots. Folders of `four-seasons train`, or with
such folders in them, give learning curves; so does a CSV file of another program with the columns
`steps` and `win_rate`. A label comes before =, and runs with the same label are training seeds of
one algorithm.

The page is one self-contained HTML file, `report.html` in the first folder. Its figures are also
files beside it, as PNG and SVG; an agent has one colour in all. Every number comes from the files
in the folders.
"""

import base64
import html
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import tyro

from four_seasons_env.experiments import comparison, folders, plots, tables
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.players import check_label
from four_seasons_env.experiments.summary import CEILING, labels, summarise_seeds
from four_seasons_env.files import expanded, file_name, write_atomically
from four_seasons_env.schemas import read_json

_TITLE = "Four Seasons: how well is it played?"

_NOTES = (
    "All agents play the same deals, and no agent sees the order of the stock. Brackets hold 95% "
    "intervals: Wilson's for the win rate of one policy, a bootstrap over deals and seeds for "
    "several training seeds and for differences. Differences are percentage points on the same "
    "deals. Times are processor time, with many games in lockstep. The file table.md of "
    "the comparison has more columns: the mask, cards up, the interquartile mean over seeds "
    "(IQM), and the p-value of McNemar's exact test (the largest of all pairs of seeds)."
)

_LEARNING_NOTE = (
    "Table and curves show validation deals, which also select the policy that is saved: the best. "
    "It is partly lucky on these deals, and they are few. On other deals a comparison's figure is "
    "usually lower; validations play the first deals from 10,000 on. A line is one training, from "
    "its first validation; a thick line is the mean of several. Dashed lines are win rates of a "
    "comparison."
)

_CEILING_NOTE = (
    "The ceiling is the share of deals that a player who sees every card could win. It is a range "
    "because the solver has not decided every deal. In table.md, the column 'of winnable' is an "
    "agent's share of the deals that are known to be winnable."
)

_LEARNING_AXES = "core-minutes of learning", "validation deals won"

_Named = list[tuple[Path, str]]
"""Paths with their labels; "" without one."""


@dataclass
class Report(Run):
    """Make a page of runs."""

    runs: tyro.conf.Positional[list[Path]]
    """Folders of comparisons and trainings, and CSV files of learning curves. A label comes before
    =; for several training seeds, give all the same label: PPO=runs/a PPO=runs/b"""
    census: Path | None = None
    """Folder of `experiments/studies/census.py`, for the ceiling.
    Without this flag: the stored census of the test deals."""
    out: Path | None = None
    """The page, ending in `.html`, or a folder for `report.html`.
    Without this flag: the first of the folders."""
    against: str | None = None
    """Label of the agent that the others are compared with. Without this flag: heuristic."""


def report(run: Report) -> Path:
    """Write the page and the files of its figures, print their names, and return the page's path.

    Raises:
        ValueError: if no folder is given, a label cannot be used, no agent has the label of the
            baseline, or a file is damaged.
        FileNotFoundError: for a folder without a training or comparison.
    """
    if not run.runs:
        raise ValueError("name at least one folder of a comparison or training")
    # All is read before anything is written.
    named = [_labelled(each) for each in run.runs]
    comparisons, trainings, files = _sorted(named)
    census = comparison.read_census(run.census)
    results = {folder: comparison.read_results(folder) for folder in comparisons}
    played = (label for games in results.values() for label in games["agent"].unique())
    against = comparison.check_against(run.against, played)
    learned = [_training(path, label) for path, label in trainings]
    own = [_own_curve(path, label) for path, label in files]

    first = named[0][0]
    out = run.out or (first.parent if first.suffix == ".csv" else first)
    if out.suffix != ".html":
        out = out / "report.html"
    agents = [games["agent"] for games in results.values()]
    shown = pd.concat(
        [*agents, *(each.curve["name"] for each in learned), *(each["name"] for each in own)]
    )
    figures = _Figures(out, plots.colours_of(shown.unique()))
    # The answer comes first, in a sentence that needs no statistics. Then each comparison, with its
    # table before its plots, and learning, which is how the agents came about. Each part ends with
    # its source: the command and commit that make it again.
    parts = [_element("h1", _TITLE), *_opening(results)]
    for folder, games in results.items():
        parts += _comparison(folder, games, census, figures, against)
    if learned:
        parts += _trainings(learned, results, figures, against)
    if own:
        parts += _own_curves(own, figures)

    write_atomically(out, tables.write_page("report", _TITLE, "\n".join(parts)))
    print(f"report: {out}\nfigures in the same folder, each as .png and .svg:")
    for name in figures.files:
        print(f"  {name}")
    return out


def _labelled(given: Path) -> tuple[Path, str]:
    """The path of an argument, and its label; "" without one.

    Raises:
        ValueError: for a label that a plot cannot show.
    """
    label, equals, path = str(given).partition("=")
    if given.exists() or not equals:  # a path may have an =, too
        return given, ""
    if not (label and path):
        raise ValueError(f"a run with a label must be LABEL=PATH, not {str(given)!r}")
    check_label(label, label)
    return expanded(path), label


def _sorted(named: Sequence[tuple[Path, str]]) -> tuple[list[Path], _Named, _Named]:
    """The folders of comparisons, those of trainings, alone or in a common folder, and the files.

    Raises:
        ValueError: for a comparison with a label.
        FileNotFoundError: for another folder.
    """
    comparisons, trainings, curves = list[Path](), _Named(), _Named()
    for path, label in named:
        inside = sorted(each.parent for each in path.glob(f"*/{folders.RUN}"))
        if path.suffix == ".csv":
            curves.append((path, label))
        elif (path / "results.csv").is_file():
            if label:
                raise ValueError(f"{path} is a comparison, which has labels: leave out '{label}='")
            comparisons.append(path)
        elif (path / folders.RUN).is_file():
            trainings.append((path, label))
        elif inside:
            trainings += [(each, label) for each in inside]
        else:
            raise FileNotFoundError(
                f"{path} has no run: it must contain results.csv (of `four-seasons compare`), "
                f"{folders.RUN} (of `four-seasons train`) or folders with one"
            )
    return comparisons, trainings, curves


class _Figures:
    """The figures of a page, which are also files beside it."""

    def __init__(self, page: Path, colours: Mapping[str, str]) -> None:
        self.page, self.colours = page, colours
        self.files: list[str] = []
        """Names of the files, without their ending."""
        self._drawn = Counter[str]()

    def draw(
        self,
        name: str,
        description: str,
        plot: Callable[..., None],
        table: pd.DataFrame,
        title: str,
        **options: Any,
    ) -> str:
        """Draw a table by a function of `plots` into two files, and return the figure as HTML."""
        self._drawn[name] += 1  # several times for comparisons under the same rules
        again = f"-{self._drawn[name]}" if self._drawn[name] > 1 else ""
        self.files.append(f"{self.page.stem}-{file_name(name)}{again}")
        self.page.parent.mkdir(parents=True, exist_ok=True)
        for ending in ("svg", "png"):
            path = self.page.with_name(f"{self.files[-1]}.{ending}")
            plot(table, title, path, colours=self.colours, **options)
        data = base64.b64encode(path.read_bytes()).decode()
        image = f'<img alt="{html.escape(description)}" src="data:image/png;base64,{data}">'
        return f"<figure>{image}</figure>"


def _table(cells: pd.DataFrame) -> str:
    """A table of text."""
    return f'<div class="wide">{cells.to_html(index=False, border=0)}</div>'


def _element(tag: str, text: str, kind: str = "") -> str:
    """An element with a text that is escaped, and its class."""
    return f"<{tag}{f' class={kind}' if kind else ''}>{html.escape(text)}</{tag}>"


def _opening(results: dict[Path, pd.DataFrame]) -> Iterator[str]:
    """Win rates of the comparisons."""
    for games in results.values():
        for rules, played in games.groupby("rules", sort=False):
            rates = played.assign(who=labels(played)).groupby("who")["won"].mean()
            listed = ", ".join(
                f"{name} {rate:.1%}" for name, rate in rates.sort_values(ascending=False).items()
            )
            yield _element(
                "p", f"Games won under {rules}, {tables.deals_as_text(played)}: {listed}."
            )


def _comparison(
    folder: Path, games: pd.DataFrame, census: pd.DataFrame, figures: _Figures, against: str
) -> Iterator[str]:
    """Table and plots of each rule set."""
    results = games[list(comparison.COLUMNS)]  # without luck, which `compare --luck` shows
    for rules, played in results.groupby("rules", sort=False):
        summary = comparison.summarise_folder(folder, played, census, against)
        title = f"{rules}, {tables.deals_as_text(played)}"
        yield _element("h2", title)
        best_first = summary.sort_values("win_rate", ascending=False, kind="stable")
        yield _table(tables.as_text(best_first, tables.BRIEF))
        yield _element("p", _NOTES, "note")
        if CEILING in set(summary["agent"]):
            yield _element("p", _CEILING_NOTE, "note")
        for name, about, plot in (
            ("win_rates", "win rates with intervals", plots.plot_win_rates),
            ("speed", "win rate against time per move", plots.plot_speed_strength),
        ):
            yield figures.draw(f"{name}-{rules}", about, plot, summary, title)
        yield from _over_seeds(played, against)
    origin = comparison.read_manifest(folder).origin
    yield _element("h3", "Source of the comparison")
    git = origin["git"]
    changed = " with changes" if git["changed"] else ""
    commit = f"commit {git['commit'] or 'unknown'}{changed}"
    yield _element("p", f"{folder}/results.csv, one row per game; {commit}", "note")
    yield _commands([origin["command"]])


def _commands(commands: Iterable[str]) -> str:
    """The command lines that make parts of the page again."""
    return "".join(f"<p>{_element('code', each)}</p>" for each in commands)


def _over_seeds(played: pd.DataFrame, against: str) -> Iterator[str]:
    """A table with a row for each training seed, if an agent has several."""
    if played.groupby(["agent", "play"])["train_seed"].nunique().max() < 2:
        return
    yield _element("h3", "Training seeds")
    seeds = summarise_seeds(played, against).dropna(subset=["train_seed"])
    cells = tables.as_text(seeds).drop(columns=["seeds", "IQM % [95%]"], errors="ignore")
    cells.insert(1, "seed", seeds["train_seed"].astype(int).astype(str).tolist())
    yield _table(cells.reset_index(drop=True))


@dataclass
class _Training:
    """A training run."""

    folder: Path
    about: folders.RunFile
    name: str
    """Its label, or the agent and the weights that it started from."""
    curve: pd.DataFrame


def _training(folder: Path, label: str) -> _Training:
    """Read a training run, with a label or without."""
    about = folders.read_run(folder)
    start = about.run["warm_start"]
    name = label or str(about.run["agent"]) + (f" from {start}" if start else "")
    # Core-minutes do not depend on what else runs.
    columns = {"time/core_seconds": "spent", "validation/win_rate": "win_rate"}
    log = folders.read_log(folder).reindex(columns=list(columns)).dropna().rename(columns=columns)
    curve = log.assign(spent=log["spent"] / 60, name=name, run=str(folder))
    return _Training(folder, about, name, curve)


def _trainings(
    trainings: list[_Training],
    results: dict[Path, pd.DataFrame],
    figures: _Figures,
    against: str,
) -> Iterator[str]:
    """Outcomes and learning curves of each rule set, with a colour for each algorithm."""
    for rules in dict.fromkeys(each.about.rules["name"] for each in trainings):
        own = [each for each in trainings if each.about.rules["name"] == rules]
        yield _element("h2", f"Learning {rules}")
        rows = [_outcome(each) for each in own if (each.folder / folders.DONE).is_file()]
        if rows:
            rows.sort(key=lambda row: -float(row["best won %"]))
            yield _table(pd.DataFrame(rows))
        references: dict[str, float] = {}
        for games in results.values():
            won = games.query("rules == @rules and agent == @against")["won"]
            references |= {against: won.mean()} if len(won) else {}
        title = f"{rules}: validation during training"
        curves = pd.concat([each.curve for each in own])
        about = {"axes_labels": _LEARNING_AXES, "references": references}
        yield figures.draw(f"learning-{rules}", title, plots.plot_curves, curves, title, **about)
        yield _element("p", _LEARNING_NOTE, "note")
    yield _element("h3", "Source of the trainings")
    yield _commands(each.about.command for each in trainings)


def _own_curve(path: Path, label: str) -> pd.DataFrame:
    """The learning curve of another program, called as its file unless it has a label.

    Raises:
        ValueError: for a file without steps and win rates.
    """
    table: pd.DataFrame = folders.read_table(path)
    if missing := {"steps", "win_rate"} - {*table}:
        raise ValueError(f"{path} has no column {' or '.join(sorted(missing))}")
    table = table[["steps", "win_rate"]].dropna().apply(pd.to_numeric, errors="coerce")
    if table["steps"].isna().any() or not table["win_rate"].between(0, 1).all():
        raise ValueError(f"{path} must have numbers as steps, and a win_rate of 0 to 1")
    return table.assign(name=label or str(path), run=str(path), spent=table["steps"])


def _own_curves(curves: list[pd.DataFrame], figures: _Figures) -> Iterator[str]:
    """Learning curves of other programs, with a colour for each label or file."""
    together, title = pd.concat(curves), "Other learning curves"
    yield _element("h2", title)
    about = {"axes_labels": ("steps of learning", "games won"), "references": {}}
    yield figures.draw("curves", title, plots.plot_curves, together, title, **about)
    yield _element("p", f"From {', '.join(together['run'].unique())}.", "note")


def _outcome(training: _Training) -> dict[str, str]:
    """A row of the table of finished trainings."""
    done = read_json(training.folder / folders.DONE, folders.Done)
    return {
        "agent": training.name,
        "seed": str(training.about.run["seed"]),
        "minutes": f"{done.seconds / 60:.1f}",
        "core-minutes": f"{done.core_seconds / 60:.1f}",
        "games": f"{done.games:,}",
        "best won %": f"{100 * done.best.won:.2f}",
    }


main = command(report)
