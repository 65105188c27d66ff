"""Check a comparison that others have sent: replay its games and compare them with its results.

    four-seasons compare --agents heuristic --record --out runs/c    # whoever plays
    four-seasons verify runs/c                                       # whoever doubts

Every game is replayed on the engine: deals, wins, cards up and moves must be those of results.csv.
What differs is said, and the exit status is 1. `verified.json` in the folder says what was found;
it is for the reader who has written it, and proves nothing to the next. What no replay can show is
told in docs/protocol.md.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import tyro
from rich.progress import Progress

import four_seasons_env
from four_seasons_env.engine.sources import module_digest
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.compare import BLOCK
from four_seasons_env.experiments.parallel.parts import digest_of
from four_seasons_env.experiments.reporting.tables import print_table
from four_seasons_env.experiments.training.run_folder import write_json
from four_seasons_env.experiments.verification.replay import Verification, verify_folder

VERIFIED = "verified.json"
DIFFERS = 1
"""Exit status where something differs."""


@dataclass
class Verify:
    """Replay the games of a comparison and compare them with its results."""

    folder: tyro.conf.Positional[Path]
    """Folder of `four-seasons compare --record`."""


def verify(run: Verify) -> Verification:
    """Replay, print what was found and write it to `verified.json`; see `verify_folder`."""
    with Progress(transient=True) as bar:
        shown = bar.add_task("replaying", total=None)
        found = verify_folder(run.folder, BLOCK, lambda deals: bar.advance(shown, deals))
    write_json(run.folder / VERIFIED, as_json(found))
    print_table(_cells(found), str(run.folder))
    for text in found.differences:
        print(text)
    games, moves = (
        sum(getattr(each, name) for each in found.players) for name in ("games", "moves")
    )
    verdict = "verified" if found.verified else "NOT verified"
    print(
        f"{verdict}: {games:,} games of {moves:,} moves replayed; saved in {run.folder / VERIFIED}"
    )
    return found


def as_json(found: Verification) -> dict[str, Any]:
    """What `verified.json` holds."""
    deals = found.claims.deals
    return {
        "verified": found.verified,
        "deals": {"first": deals[0], "last": deals[-1], "count": len(deals)},
        "sealed": found.claims.sealed,
        "players": [dataclasses.asdict(each) for each in found.players],
        "differences": found.differences,
        "files": found.files,
        "digest": digest_of(found.files),
        "version": four_seasons_env.__version__,
        "engine": module_digest("four_seasons_env.engine.replay"),
    }


def _cells(found: Verification) -> pd.DataFrame:
    """A row a player."""
    return pd.DataFrame(
        {
            "agent": each.agent,
            "play": each.play,
            "rules": each.rules,
            "seed": "-" if each.train_seed is None else str(each.train_seed),
            "deals": f"{each.deals:,}",
            "games": f"{each.games:,}",
            "won": f"{each.won:,}",
            "verified": f"{each.differences:,} differ" if each.differences else "yes",
        }
        for each in found.players
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    found = run_command(arguments, verify, Verify, __doc__, "nothing is saved; again: {command}")
    if not found.verified:
        sys.exit(DIFFERS)
