"""Make one page of comparisons and training runs.

    four-seasons report runs/compared runs/moves
    four-seasons report runs/compared PPO=runs/a PPO=runs/b own=own-0.csv own=own-1.csv

Folders of `four-seasons compare` give tables and plots. Folders of `four-seasons train`, or folders
that contain some, give learning curves. So does a CSV file of another program, if it has the
columns `steps` and `win_rate`. LABEL=FOLDER names a curve, and runs with one label are training
seeds of one algorithm.

The page is one self-contained HTML file, `report.html` in the first folder. Its figures are also
saved beside it, as PNG and SVG. Every number comes from the files in the folders.
"""

import base64
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import pandas as pd
import tyro

from four_seasons_env.engine.deals import deals_in_words
from four_seasons_env.experiments import comparison, folders, plots, tables
from four_seasons_env.experiments.command_line import Run, command
from four_seasons_env.experiments.pages import render
from four_seasons_env.experiments.players import check_label
from four_seasons_env.experiments.summary import CEILING, OPTIMUM, labels
from four_seasons_env.files import expanded, file_name, refuse_links, write_atomically
from four_seasons_env.rules import get_rules
from four_seasons_env.schemas import Amount, Seed, Share, read_json


@dataclass
class Report(Run):
    """Make a page of comparisons and training runs."""

    runs: tyro.conf.Positional[list[Path]]
    """Folders of comparisons and training runs, and CSV files of learning curves.
    LABEL=FOLDER names a curve; several training seeds get one label: PPO=runs/a PPO=runs/b"""
    out: Path | None = None
    """The page, ending in `.html`, or a folder for `report.html`.
    Without this flag, the page goes into the first of the folders."""
    census: Path | None = None
    """Folder of a census, as `four-seasons compare` takes it, for the ceiling in the tables.
    Without this flag, the stored census of the test deals is used."""


def report(run: Report) -> Path:
    """Write the page and the files of its figures, print their names, and return the page's path.

    Raises:
        ValueError: if no folder is given, a label cannot be used, or a file is damaged.
        FileNotFoundError: for a folder without a training or comparison.
    """
    # 1. All is read before anything is written.
    if not run.runs:
        raise ValueError("name at least one folder of a comparison or training")
    paths = [_labelled(each) for each in run.runs]
    comparisons, trainings, others = _read_all(paths, comparison.read_census(run.census))

    # 2. The page goes into the first folder, and an agent has one colour in all of its figures.
    first = paths[0][0]
    out = run.out or (first.parent if _is_curve(first) else first)
    if out.suffix.lower() != ".html":
        out = out / "report.html"
    # A folder that somebody has sent may have links in place of our files; a named page may be one.
    pictures = [each for each in out.parent.glob("*-*") if each.suffix in (".svg", ".png")]
    own = [each for each in pictures if each.name.startswith(f"{out.stem}-")]
    refuse_links(out.parent, own if out == run.out else [out, *own])
    names = [each.summary["agent"] for each in comparisons]
    names += [each["name"] for each in (*(one.curve for one in trainings), *others)]
    figures = _Figures(out, pd.concat(names).unique())

    # 3. The template has the texts and the order of the page; here are its tables and figures.
    compared = [part for each in comparisons for part in _show_comparison(each, figures)]
    page = render(
        "report.html",
        columns={title: title for title in tables.TITLES},
        compared=compared,
        learning=list(_show_trainings(trainings, comparisons, figures)),
        commands=[each.command for each in trainings],
        others=_show_others(others, figures) if others else None,
    )
    write_atomically(out, page)
    print(f"report: {out}\nfigures in the same folder, each as .png and .svg:")
    for name in figures.files:
        print(f"  {name}")
    return out


# --- reading ------------------------------------------------------------------------------------


class _Flags(TypedDict):
    """The flags of a training that are shown."""

    agent: str
    seed: Seed
    warm_start: str | None


@dataclass
class _Named:
    """The name of a rule set."""

    name: str

    def __post_init__(self) -> None:
        get_rules(self.name)


@dataclass
class _RunFile:
    """The part of `run.json` that is shown."""

    run: _Flags
    rules: _Named
    command: str


@dataclass
class _Training:
    """A training run."""

    rules: str
    command: str
    curve: pd.DataFrame
    """Columns of `plots.plot_curves`; its name is its label, or the agent and where it started."""
    outcome: dict[str, str]
    """A row of the table of finished trainings; empty before the end."""


def _labelled(given: Path) -> tuple[Path, str]:
    """The path of an argument, and its label; "" without one.

    Raises:
        ValueError: for a label that a plot cannot show.
    """
    label, equals, path = str(given).partition("=")
    with suppress(OSError):  # a label may be too long for a path
        equals = "" if given.exists() else equals  # a path may have an =, too
    if not equals:
        return given, ""
    if not (label and path):
        raise ValueError(f"a run with a label must be LABEL=PATH, not {str(given)!r}")
    check_label(label, label)
    return expanded(path), label


def _read_all(
    paths: Iterable[tuple[Path, str]], census: pd.DataFrame
) -> tuple[list[comparison.Comparison], list[_Training], list[pd.DataFrame]]:
    """Comparisons, trainings, alone or in a common folder, and curves of other programs.

    Raises:
        ValueError: for a comparison with a label, or a damaged file.
        FileNotFoundError: for another folder.
    """
    comparisons = list[comparison.Comparison]()
    trainings, others = list[_Training](), list[pd.DataFrame]()
    for path, label in paths:
        # A file or a folder says by what is in it which command wrote it.
        inside = sorted(each.parent for each in path.glob(f"*/{folders.RUN}"))
        if _is_curve(path):
            others.append(_read_other(path, label))
        elif (path / comparison.MANIFEST).is_file():
            if label:
                raise ValueError(f"{path} is a comparison, which has labels: leave out '{label}='")
            comparisons.append(comparison.read_comparison(path, census))
        elif (path / folders.RUN).is_file():
            trainings.append(_read_training(path, label))
        elif inside:
            trainings += [_read_training(each, label) for each in inside]
        else:
            raise FileNotFoundError(
                f"{path} has no run: it must contain {comparison.MANIFEST} (of `four-seasons "
                "compare`), "
                f"{folders.RUN} (of `four-seasons train`) or folders with one"
            )
    return comparisons, trainings, others


def _read_training(folder: Path, label: str) -> _Training:
    """Read a training run, with a label or without."""
    about = read_json(folder / folders.RUN, _RunFile, more=True)
    start = about.run["warm_start"]
    name = label or about.run["agent"] + (f" from {start}" if start else "")
    # Core-minutes do not depend on other programs. Rows without a validation are left out.
    columns = {folders.CORE_SECONDS: "spent", folders.WIN_RATE: "win_rate"}
    log = folders.read_log(folder).reindex(columns=list(columns)).dropna().rename(columns=columns)
    curve = log.assign(spent=log["spent"] / 60, name=name, run=str(folder))
    outcome = {}
    if (folder / folders.DONE).is_file():
        done = read_json(folder / folders.DONE, folders.Done)
        outcome = {
            "agent": name,
            "seed": str(about.run["seed"]),
            "minutes": f"{done.seconds / 60:.1f}",
            "core-minutes": f"{done.core_seconds / 60:.1f}",
            "games": f"{done.games:,}",
            "best won %": f"{100 * done.best.won:.2f}",
        }
    return _Training(about.rules.name, about.command, curve, outcome)


def _read_other(path: Path, label: str) -> pd.DataFrame:
    """The learning curve of another program, called as its file unless it has a label.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: for a file without steps and win rates.
    """
    # A row of our own log has more than a curve, and the run beside it says what it is of.
    if path.name == folders.PROGRESS and (path.parent / folders.RUN).is_file():
        raise ValueError(
            f"{path} is the log of a training run: name its folder, {label and f'{label}='}"
            f"{path.parent}"
        )
    # pandas knows the line ends of other programs, and their words for a missing number.
    is_wide = path.read_bytes()[:2] in (BOM_UTF16_LE, BOM_UTF16_BE)
    table = folders.parse_csv(
        path,
        {"steps": Amount | None, "win_rate": Share | None},
        {},
        encoding="utf-16" if is_wide else "utf-8-sig",
        skipinitialspace=True,
    )
    table = table[["steps", "win_rate"]].dropna().astype(float).sort_values("steps", kind="stable")
    if table.empty:
        raise ValueError(f"{path} must have a row with steps and a win_rate")
    return table.assign(
        name=label or folders.portable(str(path)), run=str(path), spent=table["steps"]
    )


def _is_curve(path: Path) -> bool:
    """Whether a path names a file of another program."""
    return path.suffix.lower() == ".csv"


# --- showing ------------------------------------------------------------------------------------


class _Figures:
    """The figures of a page, which are also files beside it."""

    def __init__(self, page: Path, names: Iterable[str]) -> None:
        self.page, self.colours = page, plots.colours_of(names)
        self.files: list[str] = []
        """Names of the files, without their ending."""
        self._drawn = Counter[str]()

    def draw(
        self, name: str, plot: Callable[..., None], table: pd.DataFrame, title: str, *about: Any
    ) -> str:
        """Draw a table by a function of `plots` into two files; returns the PNG in base64."""
        self._drawn[name] += 1  # several times for comparisons under the same rules
        again = f"-{self._drawn[name]}" if self._drawn[name] > 1 else ""
        self.files.append(f"{self.page.stem}-{file_name(name)}{again}")
        self.page.parent.mkdir(parents=True, exist_ok=True)
        for ending in ("svg", "png"):
            path = self.page.with_name(f"{self.files[-1]}.{ending}")
            plot(table, title, path, *about, colours=self.colours)
        return base64.b64encode(path.read_bytes()).decode()


def _show_comparison(
    compared: comparison.Comparison, figures: _Figures
) -> Iterator[dict[str, Any]]:
    """A part for each rule set: a sentence, tables, figures; the last part names the source."""
    deals = deals_in_words(compared.manifest.numbers)
    by_rules = list(compared.summary.groupby("rules", sort=False))
    for rules, summary in by_rules:
        title = f"{rules}, {deals}"
        # The best first, and in the sentence only those who have played.
        best_first = summary.sort_values("win_rate", ascending=False, kind="stable")
        players = best_first[~best_first["agent"].isin([CEILING, OPTIMUM])]
        rates = zip(labels(players), players["win_rate"], strict=True)
        yield {
            "title": title,
            "rates": "; ".join(f"{name} {rate:.1%}" for name, rate in rates),
            "table": tables.as_text(best_first, tables.BRIEF),
            "has_ceiling": CEILING in set(summary["agent"]),
            "win_rates": figures.draw(f"win_rates-{rules}", plots.plot_win_rates, summary, title),
            "speed": figures.draw(f"speed-{rules}", plots.plot_speed_strength, summary, title),
            "seeds": _show_seeds(compared.seeds[compared.seeds["rules"] == rules]),
            "source": compared if rules == by_rules[-1][0] else None,
            "folder": folders.portable(str(compared.folder)),
        }


def _show_seeds(seeds: pd.DataFrame) -> pd.DataFrame | None:
    """A table with a row for each training seed, if an agent has several."""
    trained = seeds.dropna(subset="train_seed")
    if not trained.duplicated(["agent", "play"]).any():
        return None
    # Each row is one seed, so the columns that count or average seeds say nothing.
    cells = tables.as_text(trained).drop(columns=["seeds", "IQM % [95%]"], errors="ignore")
    cells.insert(1, "seed", trained["train_seed"].astype(str).tolist())
    return cells


def _show_trainings(
    trainings: list[_Training], comparisons: list[comparison.Comparison], figures: _Figures
) -> Iterator[dict[str, Any]]:
    """A part for each rule set: outcomes, and learning curves with a colour for each algorithm."""
    for rules in dict.fromkeys(each.rules for each in trainings):
        outcomes = [each.outcome for each in trainings if each.rules == rules and each.outcome]
        outcomes.sort(key=lambda row: -float(row["best won %"]))
        # Dashed lines: the baselines of comparisons under the same rules.
        lines: dict[str, float] = {}
        for each in comparisons:
            name = tables.baseline_of(each.summary)
            rates = each.summary.query("rules == @rules and agent == @name")["win_rate"]
            lines |= {name: rates.mean()} if len(rates) else {}
        curves = pd.concat([each.curve for each in trainings if each.rules == rules])
        title = f"{rules}: validation during training"
        axes = "core-minutes of learning", "validation deals won"
        figure = figures.draw(f"learning-{rules}", plots.plot_curves, curves, title, axes, lines)
        table = pd.DataFrame(outcomes) if outcomes else None
        yield {"rules": rules, "title": title, "table": table, "figure": figure}


def _show_others(curves: list[pd.DataFrame], figures: _Figures) -> dict[str, Any]:
    """Learning curves of other programs, with a colour for each label or file."""
    together, title = pd.concat(curves), "Other learning curves"
    axes = "steps of learning", "games won"
    figure = figures.draw("curves", plots.plot_curves, together, title, axes, {})
    files = ", ".join(map(folders.portable, together["run"].unique()))
    return {"title": title, "figure": figure, "files": files}


main = command(report)
