"""Report: `python -m experiments.report runs/x runs/y` makes one page of what the folders hold.

Folders of `experiments.train` give learning curves, folders of `experiments.compare` tables and
plots. The page is one self-contained HTML file, `report.html` in the first folder unless `--out`
says otherwise; every number on it comes from the folders' files.
"""

from __future__ import annotations

import base64
import html
import json
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import tyro

from experiments.plots import plot_cards_up, plot_learning, plot_win_rates
from experiments.summary import as_text, summarise
from four_seasons_env.files import write_atomically

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; height: auto; }
code { font-size: .85em; overflow-wrap: anywhere; }
.note { color: #555; font-size: .9rem; }
"""


@dataclass
class Report:
    """Make a page of runs."""

    runs: tyro.conf.Positional[list[Path]]
    """Folders of trainings and comparisons."""
    out: Path | None = None
    """The page; by default `report.html` in the first folder."""


def _picture(path: Path, told: str) -> str:
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<p><img alt="{html.escape(told)}" src="data:image/png;base64,{data}"></p>'


def _comparison(folder: Path, work: Path) -> str:
    results = pd.read_csv(folder / "results.csv")
    parts = []
    for rules, played in results.groupby("rules", sort=False):
        summary = summarise(played)
        title = f"{rules}, deals {played['deal'].min()}-{played['deal'].max()}"
        plot_win_rates(summary, title, work / "wins.png")
        plot_cards_up(played, title, work / "cards.png")
        parts += [
            f"<h2>{html.escape(title)}</h2>",
            f'<div class="wide">{as_text(summary).to_html(index=False, border=0)}</div>',
            '<p class="note">Intervals of the win rate are Wilson\'s; points are differences in '
            "percentage points on the same deals, with Student's interval of the paired "
            "differences; p is McNemar's exact test. No agent sees the order of the stock.</p>",
            _picture(work / "wins.png", "win rates"),
            _picture(work / "cards.png", "share of games with at least so many cards up"),
        ]
    return "\n".join(parts)


def _training(folder: Path, work: Path) -> str:
    run = json.loads((folder / "run.json").read_text())
    progress = pd.read_csv(folder / "progress.csv")
    title = f"{run['run']['agent']} learns {run['rules']['name']}, seed {run['run']['seed']}"
    plot_learning(progress, title, work / "learning.png")
    return "\n".join(
        [
            f"<h2>{html.escape(title)}</h2>",
            _picture(work / "learning.png", "learning curve"),
            '<p class="note">Lines: the last 1,000 training games; dots: validation deals.</p>',
            f"<p><code>{html.escape(run['command'])}</code></p>",
        ]
    )


def make_page(runs: list[Path]) -> str:
    """The page as HTML.

    Raises:
        FileNotFoundError: for a folder that holds neither a training nor a comparison.
    """
    sections = []
    with tempfile.TemporaryDirectory() as work:
        for folder in sorted(runs, key=lambda each: not (each / "results.csv").is_file()):
            if (folder / "results.csv").is_file():
                sections.append(_comparison(folder, Path(work)))
            elif (folder / "progress.csv").is_file():
                sections.append(_training(folder, Path(work)))
            else:
                raise FileNotFoundError(
                    f"{folder} holds no run: results.csv (of experiments.compare) or progress.csv "
                    "(of experiments.train) would stand there"
                )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Four Seasons</title><style>{_STYLE}</style></head><body>"
        "<h1>Four Seasons: how well is it played?</h1>" + "\n".join(sections) + "</body></html>\n"
    )


def report(run: Report) -> Path:
    """Write the page and return where it is."""
    out = run.out or run.runs[0] / "report.html"
    write_atomically(out, make_page(run.runs).encode())
    return out


def main() -> None:
    """Read the flags and run."""
    try:
        print(f"report: {report(tyro.cli(Report, description=__doc__))}")
    except (ValueError, FileNotFoundError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
