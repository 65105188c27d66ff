"""Make one page of comparisons and trainings.

    four-seasons report runs/x runs/y

Folders of `four-seasons compare` give tables and plots. Folders of `four-seasons train`, or with
such folders in them, give learning curves. The page is one self-contained HTML file, `report.html`
in the first folder. Every number comes from the files in the folders. A CSV file with the columns
`steps` and `win_rate` gives the learning curve of a training of your own.
"""

import base64
import html
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import tyro

from four_seasons_env.experiments import comparison, folders, plots, tables
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.summary import BASELINE, CEILING, labels, summarise_seeds
from four_seasons_env.files import write_atomically
from four_seasons_env.schemas import read_json

_TITLE = "Four Seasons: how well is it played?"

_NOTES = (
    "All agents play the same deals, and no agent sees the order of the stock. Brackets hold 95% "
    "intervals: Wilson's for the win rate of one policy, a bootstrap over deals and seeds for "
    "several training seeds and for differences. Differences are percentage points on the same "
    "deals. Times are measured with many games in lockstep on one core. The file table.md of "
    "the comparison has more columns: the mask, cards up, the interquartile mean over seeds "
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
class Report(Run):
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
    if not run.runs:
        raise ValueError("name at least one folder of a comparison or training")
    comparisons, trainings, curves = _sorted(run.runs)
    census = comparison.read_census(run.census)
    results = {folder: comparison.read_results(folder) for folder in comparisons}
    # The answer comes first, in a sentence that needs no statistics. Then each comparison, with its
    # table before its plots, and learning, which is how the agents came about. Each part ends with
    # its source: the command and commit that make it again.
    parts = [_element("h1", _TITLE), *_opening(results)]
    for folder, games in results.items():
        parts += _comparison(folder, games, census)
    if trainings:
        parts += _trainings(trainings, results)
    if curves:
        parts += _own_curves(curves)

    out = run.out or (run.runs[0].parent if run.runs[0] in curves else run.runs[0])
    if out.suffix != ".html":
        out = out / "report.html"
    write_atomically(out, tables.write_page("report", _TITLE, "\n".join(parts)))
    return out


def _sorted(runs: Sequence[Path]) -> tuple[list[Path], list[Path], list[Path]]:
    """The folders of comparisons, those of trainings, alone or in a common folder, and the files.

    Raises:
        FileNotFoundError: for another folder.
    """
    comparisons, trainings, curves = list[Path](), list[Path](), list[Path]()
    for path in runs:
        inside = sorted(each.parent for each in path.glob(f"*/{folders.RUN}"))
        if path.suffix == ".csv":
            curves.append(path)
        elif (path / "results.csv").is_file():
            comparisons.append(path)
        elif (path / folders.RUN).is_file():
            trainings.append(path)
        elif inside:
            trainings += inside
        else:
            raise FileNotFoundError(
                f"{path} has no run: it must contain results.csv (of `four-seasons compare`), "
                f"{folders.RUN} (of `four-seasons train`) or folders with one"
            )
    return comparisons, trainings, curves


def _table(cells: pd.DataFrame, shown: Sequence[str] = ()) -> str:
    """A table of text with the columns ``shown``, by default all."""
    columns = [name for name in cells if name in (shown or cells)]
    return f'<div class="wide">{cells[columns].to_html(index=False, border=0)}</div>'


def _element(tag: str, text: str, kind: str = "") -> str:
    """An element with a text that is escaped, and its class."""
    return f"<{tag}{f' class={kind}' if kind else ''}>{html.escape(text)}</{tag}>"


def _picture(
    description: str, plot: Callable[..., None], table: pd.DataFrame, title: str, **options: Any
) -> str:
    """A picture that a function of `plots` draws of a table."""
    plot(table, title, file := io.BytesIO(), **options)
    data = base64.b64encode(file.getvalue()).decode()
    image = f'<img alt="{html.escape(description)}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}</figure>"


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


def _comparison(folder: Path, games: pd.DataFrame, census: pd.DataFrame) -> Iterator[str]:
    """Table and plots of each rule set."""
    results = games[list(comparison.COLUMNS)]  # without luck, which `compare --luck` shows
    for rules, played in results.groupby("rules", sort=False):
        summary = comparison.summarise_folder(folder, played, census)
        title = f"{rules}, {tables.deals_as_text(played)}"
        yield _element("h2", title)
        best_first = summary.sort_values("win_rate", ascending=False, kind="stable")
        yield _table(tables.as_text(best_first), tables.BRIEF)
        yield _element("p", _NOTES, "note")
        if CEILING in set(summary["agent"]):
            yield _element("p", _CEILING_NOTE, "note")
        yield _picture("win rates with intervals", plots.plot_win_rates, summary, title)
        yield _picture("win rate against time per move", plots.plot_speed_strength, summary, title)
        yield from _over_seeds(played)
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


def _over_seeds(played: pd.DataFrame) -> Iterator[str]:
    """A table with a row for each training seed, if an agent has several."""
    if played.groupby(["agent", "play"])["train_seed"].nunique().max() < 2:
        return
    yield _element("h3", "Training seeds")
    seeds = summarise_seeds(played).dropna(subset=["train_seed"])
    cells = tables.as_text(seeds).drop(columns=["seeds", "IQM % [95%]"], errors="ignore")
    cells.insert(1, "seed", seeds["train_seed"].astype(int).astype(str).tolist())
    yield _table(cells.reset_index(drop=True))


def _trainings(paths: list[Path], results: dict[Path, pd.DataFrame]) -> Iterator[str]:
    """Outcomes and learning curves of each rule set, with a colour for each algorithm."""
    abouts = {path: folders.read_run(path) for path in paths}
    for rules in dict.fromkeys(each.rules["name"] for each in abouts.values()):
        own = {path: each.run for path, each in abouts.items() if each.rules["name"] == rules}
        yield _element("h2", f"Learning {rules}")
        finished = {path: run for path, run in own.items() if (path / folders.DONE).is_file()}
        if finished:
            rows = [_outcome(path, run) for path, run in finished.items()]
            rows.sort(key=lambda row: -float(row["best won %"]))
            yield _table(pd.DataFrame(rows))
        curves = pd.concat([_curve(path, run) for path, run in own.items()])
        references: dict[str, float] = {}
        for games in results.values():
            won = games.query("rules == @rules and agent == @BASELINE")["won"]
            references |= {BASELINE: won.mean()} if len(won) else {}
        title = f"{rules}: validation during training"
        yield _learning_curves(curves, title, "core-minutes", references)
        yield _element("p", _LEARNING_NOTE, "note")
    yield _element("h3", "Source of the trainings")
    yield _commands(each.command for each in abouts.values())


def _learning_curves(
    curves: pd.DataFrame, title: str, budget: str, references: dict[str, float]
) -> str:
    about = f"{budget} of learning", "validation deals won"
    options = {"axes_labels": about, "references": references}
    return _picture(title, plots.plot_curves, curves, title, **options)


def _own_curves(files: Sequence[Path]) -> Iterator[str]:
    """Learning curves of other programs, with a colour for each file.

    Raises:
        ValueError: for a file without steps and win rates.
    """
    curves = []
    for path in files:
        table = folders.read_table(path)
        if missing := {"steps", "win_rate"} - {*table}:
            raise ValueError(f"{path} has no column {' or '.join(sorted(missing))}")
        table = table[["steps", "win_rate"]].dropna().apply(pd.to_numeric, errors="coerce")
        if table["steps"].isna().any() or not table["win_rate"].between(0, 1).all():
            raise ValueError(f"{path} must have numbers as steps, and a win_rate of 0 to 1")
        curves.append(table.assign(name=path.stem, run=str(path), spent=table["steps"]))
    title = "Other learning curves"
    yield _element("h2", title)
    yield _learning_curves(pd.concat(curves), title, "steps", {})
    yield _element("p", f"From {', '.join(map(str, files))}.", "note")


def _learner(run: dict[str, Any]) -> str:
    """The agent of a training, and the weights that it started from."""
    return str(run["agent"]) + (f" from {run['warm_start']}" if run["warm_start"] else "")


def _outcome(folder: Path, run: dict[str, Any]) -> dict[str, str]:
    """A row of the table of finished trainings."""
    done = read_json(folder / folders.DONE, folders.Done)
    return {
        "agent": _learner(run),
        "seed": str(run["seed"]),
        "minutes": f"{done.seconds / 60:.1f}",
        "core-minutes": f"{done.core_seconds / 60:.1f}",
        "games": f"{done.games:,}",
        "best won %": f"{100 * done.best.won:.2f}",
    }


def _curve(folder: Path, run: dict[str, Any]) -> pd.DataFrame:
    """The validations of a training, against core-minutes: they do not depend on what else runs."""
    columns = {"time/core_seconds": "spent", "validation/win_rate": "win_rate"}
    log = folders.read_log(folder).reindex(columns=list(columns)).dropna().rename(columns=columns)
    return log.assign(spent=log["spent"] / 60, name=_learner(run), run=str(folder))


def show(run: Report) -> None:
    """Write the page, and print its path."""
    print(f"report: {report(run)}")


main = command(show)
