"""Put comparisons on docs/leaderboard.md, once their games have been replayed.

    python -m four_seasons_env.experiments.leaderboard runs/c runs/sent-by-others

Each folder, of `four-seasons compare --record`, is verified first (`four-seasons verify`); one that
is not leaves the page as it is. The rows are kept in docs/results/leaderboard.csv; without a folder
the page is written from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import tyro

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.experiments.command_line import ROOT, require_clone, run_command
from four_seasons_env.experiments.compare import BLOCK
from four_seasons_env.experiments.pages import with_part
from four_seasons_env.experiments.reporting.leaderboard_page import (
    leaderboard_part,
    merged,
    rows_of,
)
from four_seasons_env.experiments.reporting.tables import read_table, write_csv
from four_seasons_env.experiments.verification.replay import verify_folder

PAGE = ROOT / "docs" / "leaderboard.md"
ROWS = ROOT / "docs" / "results" / "leaderboard.csv"


@dataclass
class Leaderboard:
    """Put comparisons on the leaderboard."""

    folders: tyro.conf.Positional[list[Path]] = field(default_factory=list)
    """Folders of `four-seasons compare --record`, whoever has sent them."""


def with_leaderboard(page: str, rows: pd.DataFrame) -> str:
    """The text of docs/leaderboard.md with these rows."""
    return with_part(page, "leaderboard", leaderboard_part(rows))


def update_leaderboard(run: Leaderboard) -> None:
    """Verify the folders and write their rows, and the page.

    Raises:
        FileNotFoundError: if a folder is none of a comparison.
        ValueError: if a folder is not verified; nothing is written then.
        RuntimeError: in an installed wheel.
    """
    require_clone()
    new = [rows_of(verify_folder(folder, BLOCK)) for folder in run.folders]
    rows = read_table(ROWS) if ROWS.is_file() else pd.DataFrame()
    for each in new:
        rows = merged(rows, each) if len(rows) else each
    page = with_leaderboard(PAGE.read_text(), rows)
    write_csv(ROWS, rows)
    write_atomically(PAGE, page.encode())
    print(f"{len(rows)} rows in {PAGE}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, update_leaderboard, Leaderboard, __doc__)


if __name__ == "__main__":
    main()
