"""Say of each deal that is lost why it is lost, and draw the plainest.

    python -m four_seasons_env.experiments.losses --out runs/losses
    python -m four_seasons_env.experiments.pages --losses runs/losses      # into docs/solver.md

The deals are those that the kept census proved lost. A reason is a few moments for which the piles
do not suffice, however the deal is played (`four_seasons_env.solver.why_lost`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from rich.progress import track

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.evaluation.ceiling import CENSUS, read_census
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.reporting.loss_picture import loss_picture
from four_seasons_env.experiments.reporting.losses_page import reasons_of
from four_seasons_env.experiments.reporting.tables import print_table, write_csv
from four_seasons_env.game import Game
from four_seasons_env.rules import get_rules
from four_seasons_env.solver import why_lost

TABLE = "losses.csv"
PICTURES = "lost-*.svg"


@dataclass
class Losses:
    """Say of each deal that is lost why it is lost."""

    out: Path
    """Folder of the results."""
    rules: str = "four-seasons"
    pictures: int = 3
    """How many are drawn: those with the fewest moments."""


def losses(run: Losses) -> None:
    """Write losses.csv, a row a deal, and the pictures.

    Raises:
        ValueError: for a wrong flag, or if no deal of these rules is known to be lost; nothing is
            written then.
    """
    rules = get_rules(run.rules)
    if run.pictures < 0:
        raise ValueError(f"--pictures is 0 or more, not {run.pictures}")
    check_out(run.out, "explanation of losses")
    solved = read_census(CENSUS)
    if solved is None:
        raise ValueError("the census of docs/results is not there")
    is_lost = (solved["rules"] == rules.name) & (solved["status"] == "lost")
    lost = solved.loc[is_lost, "deal"].tolist()
    if not lost:
        raise ValueError(f"the census knows no deal of {rules.name!r} that is lost")
    rows = []
    for deal in track(lost, "asking why"):
        reason = why_lost(Game(rules, deal))
        moments, waiting = (" ".join(each) for each in reason) if reason else (None, None)
        rows.append({"rules": rules.name, "deal": deal, "moments": moments, "waiting": waiting})
    table = pd.DataFrame(rows)
    write_csv(run.out / TABLE, table)
    found = reasons_of(table)
    for deal in list(found)[: run.pictures]:
        picture = loss_picture(Game(rules, deal), found[deal])
        write_atomically(run.out / PICTURES.replace("*", str(deal)), picture.encode())
    shown = pd.DataFrame([(str(deal), " ".join(each.moments)) for deal, each in found.items()])
    shown.columns = pd.Index(["deal", "moments"])
    print_table(shown, f"{rules.name}: {len(found)} of {len(lost)} losses have a reason")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, losses, Losses, __doc__)


if __name__ == "__main__":
    main()
