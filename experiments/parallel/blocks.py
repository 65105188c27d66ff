"""Work on deals in blocks: each block is a task with its own result file.

An interrupted or extended run works only on the blocks that are not done.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from four_seasons_env.experiments.command_line import progress_bar
from four_seasons_env.experiments.parallel.pool import Workers, run_tasks
from four_seasons_env.files import file_name
from four_seasons_env.rules import RULES, get_rules

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Block:
    """A range of deals of one rule set, which one task works on and stores."""

    out: Path
    """Folder of the run."""
    rules: str
    deals: range

    @property
    def folder(self) -> str:
        """Subfolder of its result file; "" for none."""
        return ""

    @property
    def part(self) -> Path:
        """Path of its result file."""
        folder = self.out / "parts" / file_name(self.rules) / self.folder
        return folder / f"{self.deals[0]}-{self.deals[-1]}.csv"

    def stored(self) -> pd.DataFrame | None:
        """The rows of its result file; None if the file is missing, cut short or damaged."""
        from four_seasons_env.experiments.results.tables import read_table

        try:
            return read_table(self.part)
        except FileNotFoundError:
            return None
        except ValueError as error:
            print(f"{error}; its {len(self.deals):,} deals are done again", file=sys.stderr)
            return None

    def left(self, stored: pd.DataFrame | None) -> Sequence[int]:
        """The deals to work on: all, unless the stored rows have each once, in order."""
        # All or none: the games of a block share the agent's random numbers, so a block is always
        # played whole.
        done = stored is not None and stored["deal"].tolist() == list(self.deals)
        return () if done else self.deals

    def write(self, results: pd.DataFrame) -> None:
        """Write its result file, atomically."""
        from four_seasons_env.experiments.results.tables import write_csv

        write_csv(self.part, results)


B = TypeVar("B", bound=Block)

MOST_DEALS = 10_000_000
"""Maximum number of deals of a run: its rows are kept in memory."""


def rule_set_names(names: Iterable[str]) -> list[str]:
    """The full names of rule sets; ["all"] means all of them.

    Raises:
        ValueError: for an unknown rule set, with the nearest one.
    """
    names = list(names)
    return list(RULES) if names == ["all"] else [get_rules(name).name for name in names]


def check_deals(deals: str) -> None:
    """Reject a text that is not a range of deals, and one of more deals than a run can have.

    Raises:
        ValueError: saying so.
    """
    from four_seasons_env.engine.deals import parse_deals

    if (count := len(parse_deals(deals))) > MOST_DEALS:
        raise ValueError(f"--deals must be {MOST_DEALS:,} deals or fewer, not {count:,}")


def split_deals(deals: str, size: int) -> list[range]:
    """Split a range of deals such as "0-9999" into blocks, which end at multiples of the size.

    Only the first and the last may be shorter: they hold the wanted deals of their blocks.

    Raises:
        ValueError: for a text that is not a range of deals.
    """
    from four_seasons_env.engine.deals import parse_deals

    numbers = parse_deals(deals)
    first, stop = numbers[0], numbers[-1] + 1
    # Multiples of the size, not of the range: a range that grows keeps its finished blocks.
    starts = range(first - first % size, stop, size)
    return [range(max(first, start), min(start + size, stop)) for start in starts]


def run_blocks(
    function: Callable[[B], Any],
    blocks: Sequence[B],
    label: str,
    workers: Workers,
    load: Callable[[B], Any],
) -> pd.DataFrame:
    """Work on each block that is not done, under a progress bar of deals.

    Args:
        function: writes the results of a block (`Block.write`). Workers import it by name.
        blocks: all blocks of the run; the bar counts those that are done already.
        label: label of the bar.
        workers: workers that call the function.
        load: compiles, or loads, all that a block needs. Called in this process with each block
            before workers start, so that they only load.

    Returns:
        The rows of all blocks, in their order, as written to results.csv.

    Raises:
        ValueError: see `Workers.check`.
        RuntimeError: if a block failed, after all others; its note has the first traceback.
    """
    import pandas as pd

    from four_seasons_env.experiments.results.tables import read_table, write_csv

    todo = [block for block in blocks if block.left(block.stored())]
    if workers.share_this_machine:
        with contextlib.suppress(Exception):  # the block fails in its worker, too, and is named
            for block in todo:
                load(block)
    # The name of a failed block is that of the file that is missing.
    names = [str(block.part.relative_to(block.out)) for block in todo]
    failures = []
    with progress_bar() as bar:
        sizes = {name: len(block.deals) for name, block in zip(names, todo, strict=True)}
        deals = sum(len(block.deals) for block in blocks)
        shown = bar.add_task(label, total=deals, completed=deals - sum(sizes.values()))
        for name, failure in run_tasks(function, todo, names, workers):
            bar.advance(shown, sizes[name])
            if failure:
                failures.append(failure)
    if failures:
        error = RuntimeError(
            f"{len(failures)} of {len(blocks)} blocks failed, the first {failures[0].name}; "
            f"finished blocks are saved: {failures[0].reason}"
        )
        if failures[0].details:
            error.add_note(failures[0].details)
        raise error
    # From the files alone, not from what this call has played: an interrupted run ends with the
    # same table as an uninterrupted one.
    results = pd.concat([read_table(block.part) for block in blocks], ignore_index=True)
    write_csv(blocks[0].out / "results.csv", results)
    return results
