"""Solve deals, and count those that can be won by a player who sees every card.

--seconds limits the time for each deal. If the command is started again, it solves missing blocks
of ten deals, and blocks with open deals again if they now get more time:

    python experiments/studies/census.py --deals test --seconds 1 --out runs/z
    python experiments/studies/census.py --deals test --seconds 60 --out runs/z

`results.csv` has a row per deal. An open deal may be winnable or lost: the share of winnable deals
lies between the share won and one minus the share lost.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.engine.deals import RANKS, TRAIN_FROM, deals_in_words
from four_seasons_env.experiments import blocks, folders
from four_seasons_env.experiments.command_line import Run, command, rule_set_names
from four_seasons_env.experiments.comparison import parse_range
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.game import Game
from four_seasons_env.solver import solve

BLOCK = 10
"""Deals in one task and result file."""
COLUMNS = ("rules", "deal", "base", "status", "moves", "positions", "seconds", "allowed", "step")
"""Columns of a result file: `base` is the base rank of the foundations, `moves` the length of the
solution (0: none found; until version 3.0.0, without some of its unnecessary moves), `allowed` the
time limit of the last attempt in seconds, `step` the solver's step that decided."""


@dataclass
class Census(Run):
    """Solve deals, and count those that can be won."""

    out: Path
    """Folder of the results. Blocks of decided deals in it are skipped."""
    rules: list[str] = field(default_factory=lambda: ["four-seasons"])
    """Rule sets by name, changed ones in quotes, as in 'czarina(piles=4)'; or `all`."""
    deals: str = "10000-10999"
    """A range of deals, or `test` (0-9999) or `validation` (10000-19999)."""
    seconds: float = 1.0
    """Seconds per deal. Blocks with a deal that stayed open after less time are tried again."""
    workers: Workers = field(default_factory=Workers)


@dataclass(frozen=True)
class CensusBlock(blocks.Block):
    """A block of deals to solve."""

    seconds: float

    def read(self) -> pd.DataFrame:
        """Read its answers."""
        # Here, because a worker gets this class of a script with all names that it uses, and the
        # types of columns cannot be pickled.
        from four_seasons_env.experiments.comparison import CENSUS
        from four_seasons_env.schemas import Amount

        return folders.read_table(self.part, CENSUS | {"allowed": Amount})

    def is_done(self, stored: pd.DataFrame) -> bool:
        """Whether all deals have been tried, and those left open for no less time than now."""
        tried = (stored["status"] != "unknown") | (stored["allowed"] >= self.seconds)
        return bool(tried.all()) and super().is_done(stored)

    def load(self) -> None:
        """Compile, or load, the solver: all of its steps run in a won deal and one left open."""
        for number in (3, 6):
            game = Game("four-seasons", TRAIN_FROM + number)
            solve(game, max_positions=400_000)

    def work(self) -> None:
        """Solve the deals, and write the file."""
        rows = [self._solve(deal) for deal in self.deals]
        folders.write_csv(self.part, pd.DataFrame(rows, columns=list(COLUMNS)))

    def _solve(self, deal: int) -> dict[Any, Any]:
        game = Game(self.rules, deal)
        solution = solve(game, seconds=self.seconds)
        # One base rank for all foundations, or a rule set with several.
        bases = {int(rank) for rank in game.record["base"][0]}
        return {
            "rules": self.rules,
            "deal": deal,
            "base": RANKS[bases.pop()] if len(bases) == 1 else "",
            "status": solution.status,
            "moves": len(solution.moves),
            "positions": solution.positions,
            "seconds": solution.seconds,
            "allowed": self.seconds,
            "step": solution.step,
        }


def census(run: Census) -> pd.DataFrame:
    """Solve the missing deals, and print how many are won, lost and open.

    Returns:
        All results, a row per deal.

    Raises:
        ValueError: for an unknown rule set, or a text that names no deals.
        RuntimeError: if a block of deals could not be solved, after all others have been, or if
            another process uses the folder.
    """
    rule_sets, numbers = rule_set_names(run.rules), parse_range(run.deals)
    if not run.seconds > 0:
        raise ValueError(f"--seconds must be more than 0, not {run.seconds:g}")
    run.workers.check()
    todo = [
        CensusBlock(run.out, rules, "", deals, run.seconds)
        for rules in rule_sets
        for deals in blocks.split_deals(numbers, BLOCK)
    ]
    own = [run.out / "results.csv", *(block.part for block in todo)]
    with folders.locked(run.out, "census", own):
        folders.write_json(run.out / "census.json", folders.provenance())
        results = blocks.run_blocks(todo, "solving", run.workers)
    for rules, solved in results.groupby("rules", sort=False):
        counts = solved["status"].value_counts()
        shown = ", ".join(f"{count:,} {status}" for status, count in counts.items())
        print(f"{rules}, {deals_in_words(numbers)}: {shown}")
    print(f"saved in {run.out}: results.csv, a row per deal")
    return results


main = command(census, "decided deals are saved in {run.out}; resume: {command}")


if __name__ == "__main__":
    main()
