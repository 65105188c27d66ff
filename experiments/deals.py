"""List deals by difficulty, as CSV: for a curriculum, or for a test on hard deals.

    four-seasons deals --rules czarina --difficulty lost
    four-seasons deals --difficulty hard --count 100 --out hard.csv

Verdicts come from a census (the stored one holds test deals only): `winnable` with a known winning
sequence, `lost` with a proof, or `open`. Of agents that have played a deal, `agents` says how many
there were and `wins` how many won; `chance` is the planner's chance of winning at the start.

An `easy` deal is winnable, and at least half of the agents won it; a `hard` one is winnable, and
fewer than one agent in six won it; those between are `medium`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.experiments.command_line import CATALOGUE, run_command
from four_seasons_env.rules import file_name, get_rules

if TYPE_CHECKING:
    import pandas as pd

VERDICTS = {"won": "winnable", "lost": "lost", "unknown": "open"}
"""Names of the solver's answers."""
PLAYED = ("easy", "medium", "hard")
DIFFICULTIES = ("any", *VERDICTS.values(), *PLAYED)
EASY, HARD = 1 / 2, 1 / 6
"""Shares of agents that won: of an easy deal at least, of a hard one less than."""
COLUMNS = ("agents", "wins", "chance")
"""Of a catalogue, after `rules` and `deal`; see `experiments/studies/catalogue.py`."""


@dataclass
class Deals:
    """List deals by difficulty."""

    rules: str = "four-seasons"
    """A rule set by name."""
    difficulty: str = "any"
    """any, winnable, lost, open, easy, medium or hard."""
    count: int | None = None
    """The most deals; the lowest numbers come first."""
    census: Path | None = None
    """A folder of `four-seasons census`, for the verdicts. By default the stored census."""
    catalogue: Path | None = None
    """A folder of experiments/studies/catalogue.py, for what agents won. By default the stored
    one."""
    out: Path | None = None
    """A CSV file, in place of standard output."""


def list_deals(run: Deals) -> pd.DataFrame:
    """The deals, a row for each, with the columns `rules`, `deal`, `verdict` and `COLUMNS`.

    Raises:
        ValueError: for an unknown rule set or difficulty, or if nothing is known about it.
    """
    import pandas as pd

    from four_seasons_env.experiments.matches.ceiling import read_census
    from four_seasons_env.experiments.reporting.tables import read_table

    rules = get_rules(run.rules).name
    check_choice("difficulty", run.difficulty, DIFFICULTIES)
    if run.count is not None:
        check_positive("--count", run.count)
    census = read_census(run.census)
    solved = None if census is None else census[census["rules"] == rules]
    if solved is None or solved.empty:
        where = run.census or "the stored census"
        raise ValueError(f"{where} has no deals of {rules!r}: run `four-seasons census`")
    found = solved[["rules", "deal"]].assign(verdict=solved["status"].map(VERDICTS))
    path = (run.catalogue or CATALOGUE) / f"{file_name(rules)}.csv"
    played = read_table(path) if path.is_file() else pd.DataFrame(columns=["deal", *COLUMNS])
    found = found.merge(played[["deal", *COLUMNS]].astype({"deal": int}), on="deal", how="left")
    found = found.astype({"agents": "Int64", "wins": "Int64", "chance": float})
    if run.difficulty in PLAYED and not found["agents"].sum():
        raise ValueError(
            f"no agents' results for {rules!r} in {path.parent}: known are winnable, lost and "
            "open; experiments/studies/catalogue.py adds agents"
        )
    return found[_chosen(found, run.difficulty)].head(run.count or len(found))


def _chosen(found: pd.DataFrame, difficulty: str) -> pd.Series[bool]:
    """Which deals have a difficulty."""
    share = (found["wins"] / found["agents"]).astype(float)
    winnable = found["verdict"] == "winnable"
    if difficulty in PLAYED:
        of_share = {"easy": share >= EASY, "hard": share < HARD}
        of_share["medium"] = share.between(HARD, EASY, inclusive="left")
        return winnable & of_share[difficulty]
    return (found["verdict"] == difficulty) | (difficulty == "any")


def deals(run: Deals) -> None:
    """Write the list, or print it."""
    from four_seasons_env.experiments.reporting.tables import write_csv

    found = list_deals(run)
    if run.out is None:
        print(found.to_csv(index=False), end="")
    else:
        write_csv(run.out, found)
        print(f"{len(found)} deals: {run.out}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, deals, Deals, __doc__)
