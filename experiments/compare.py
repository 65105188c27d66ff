"""Compare agents on the same deals: `python -m experiments.compare --agents random heuristic`.

Every agent plays every deal, thousands side by side, and sees only what a player may see. Results
are kept by the deal in `results.csv`; a table and plots are made from that file. What is done is
not done again: a run that was stopped goes on where it was.
"""

from __future__ import annotations

import io
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import tyro
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agents.registry import make_agent
from experiments.play import play_deals
from experiments.plots import plot_cards_up, plot_win_rates
from experiments.summary import (
    RESULT_COLUMNS,
    as_markdown,
    as_text,
    summarise,
    with_ceiling,
)
from four_seasons_env.deals import parse_deals
from four_seasons_env.files import write_atomically
from four_seasons_env.rules import RULES, get_rules

CENSUS = Path(__file__).parent.parent / "docs" / "results" / "census"
"""Where the repository keeps the census of the test deals, a file a rule set."""
BLOCK = 1000
"""Deals that are played side by side, in one task. Part of what makes a result repeatable."""


@dataclass
class Compare:
    """Play agents on the same deals and compare them."""

    out: Path
    """Folder of the results; what it holds of the same comparison is kept."""
    agents: list[str] = field(default_factory=lambda: ["random", "heuristic", "maskable_ppo"])
    """Agents by name; one with weights may carry their path, as in maskable_ppo:runs/x/best."""
    rules: list[str] = field(default_factory=lambda: ["four-seasons"])
    """Rule sets by name; `all` for every one."""
    deals: str = "0-9999"
    """A range of deals; 0-9999 are the test deals."""
    seed: int = 0
    """Of the agents' chance and of the stock's reshuffles."""
    n_jobs: int = -1
    """Processes side by side; -1: one a core."""
    census: Path = CENSUS
    """A folder of `experiments.census`: where it has all the deals, the table shows how many can be
    won at all. That of the test deals comes with the repository."""


Task = tuple[str, str, range]
"""What is played and kept as one: a rule set, an agent, a block of deals."""


def _part(run: Compare, task: Task) -> Path:
    rules, agent, block = task
    folders = [name.replace("/", "_").replace(":", "_") for name in (rules, agent)]
    return run.out.joinpath("parts", *folders, f"{block[0]}-{block[-1]}.csv")


def write_csv(path: Path, table: pd.DataFrame) -> None:
    """Write a table as CSV, as a whole or not at all."""
    text = io.StringIO()
    table.to_csv(text, index=False, float_format="%.6g")
    write_atomically(path, text.getvalue().encode())


def _play_block(run: Compare, task: Task) -> None:
    """An agent plays a block of deals, and its result file is written."""
    rules_name, name, block = task
    rules = get_rules(rules_name)
    agent = make_agent(name, rules)
    played = play_deals(agent, rules, block, seed=run.seed)
    played["agent"] = name
    played["rules"] = rules.name
    played["train_seed"] = getattr(agent, "train_seed", None)
    write_csv(_part(run, task), played[list(RESULT_COLUMNS)])


def _blocks(deals: range) -> list[range]:
    return [deals[i : i + BLOCK] for i in range(0, len(deals), BLOCK)]


def _claim(run: Compare) -> None:
    """Make sure that the folder is for this comparison.

    Raises:
        ValueError: if it holds results of another seed.
    """
    about = {"seed": run.seed}
    path = run.out / "compare.json"
    if path.is_file():
        found = json.loads(path.read_text())
        if found != about:
            raise ValueError(f"{run.out} holds a comparison of {found}, not of {about}")
    write_atomically(path, (json.dumps(about) + "\n").encode())


def play_all(run: Compare) -> pd.DataFrame:
    """Play what has not been played yet, and return all results, a row for each agent and deal."""
    rule_sets = (
        list(RULES) if run.rules == ["all"] else [get_rules(name).name for name in run.rules]
    )
    for rules in rule_sets:
        for name in run.agents:
            make_agent(name, rules)  # say what is wrong before anything is played
    blocks = _blocks(parse_deals(run.deals))
    _claim(run)
    tasks = [(rules, name, block) for rules in rule_sets for name in run.agents for block in blocks]
    todo = [task for task in tasks if not _part(run, task).is_file()]
    with Progress() as bar:
        playing = bar.add_task("playing", total=len(tasks), completed=len(tasks) - len(todo))
        parallel = Parallel(n_jobs=run.n_jobs, return_as="generator_unordered")
        for _ in parallel(delayed(_play_block)(run, task) for task in todo):
            bar.advance(playing)
    results = pd.concat([pd.read_csv(_part(run, task)) for task in tasks], ignore_index=True)
    write_csv(run.out / "results.csv", results)
    return results


def read_census(path: Path) -> pd.DataFrame | None:
    """Results of `experiments.census`: of its folder, or of all files of a folder; None: none."""
    files = [path / "results.csv"]
    if not files[0].is_file():
        files = sorted(path.glob("*.csv"))
    return pd.concat([pd.read_csv(file) for file in files], ignore_index=True) if files else None


def print_table(cells: pd.DataFrame, title: str) -> None:
    """Print a table of text; names are folded where the terminal is narrow, numbers never."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    table = Table(title=title)
    for i, column in enumerate(cells.columns):
        is_name = column in ("agent", "rules", "what") or i == 0
        table.add_column(
            column,
            justify="left" if is_name else "right",
            no_wrap=not is_name,
            overflow="fold" if is_name else "ellipsis",
        )
    for row in cells.itertuples(index=False):
        table.add_row(*row)
    console.print(table)


def compare(run: Compare) -> None:
    """Play, print the table, and keep table and plots beside the results."""
    results = play_all(run)
    summary = summarise(results)
    solved = read_census(run.census)
    if solved is not None:
        summary = with_ceiling(summary, results, solved)
    write_csv(run.out / "summary.csv", summary)
    cells = as_text(summary)
    write_atomically(run.out / "table.md", as_markdown(cells).encode())
    for rules, played in results.groupby("rules", sort=False):
        title = f"{rules}, deals {run.deals}"
        name = str(rules).replace("/", "_")
        plot_win_rates(summary[summary["rules"] == rules], title, run.out / f"win_rates-{name}.png")
        plot_cards_up(played, title, run.out / f"cards_up-{name}.png")
    print_table(cells, f"deals {run.deals}")
    print(f"kept in {run.out}: results.csv (a row a game), summary.csv, table.md, plots")


def exit_with(error: Exception) -> Any:
    """End the program with the error's message, without a traceback."""
    sys.exit(f"error: {error}")


def main() -> None:
    """Read the flags and run."""
    try:
        compare(tyro.cli(Annotated[Compare, tyro.conf.arg(name="")], description=__doc__))
    except (ValueError, FileNotFoundError) as error:
        exit_with(error)


if __name__ == "__main__":
    main()
