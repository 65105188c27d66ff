"""Work on deals in blocks: each block is a task with a result file of its own.

Shared by `four-seasons compare` and `four-seasons census`. A run that was stopped, or grows, works
on the blocks that are not done yet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from rich.progress import Progress

from four_seasons_env.agents.policy_files import rules_fields
from four_seasons_env.engine.deals import parse_deals
from four_seasons_env.experiments.parallel.jobs import run_tasks
from four_seasons_env.experiments.parallel.parts import PartError, digest_of, read_part, write_part
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.rules import RULES, file_name, get_rules


@dataclass(frozen=True)
class Block:
    """Deals of one rule set, in rising order, worked on and stored together."""

    out: Path
    """Folder of the run."""
    rules: str
    deals: range | tuple[int, ...]

    @property
    def folder(self) -> str:
        """Folder of its result file within that of the rule set; "" for none."""
        return ""

    @property
    def part(self) -> Path:
        """Its result file."""
        folder = self.out / "parts" / file_name(self.rules) / self.folder
        return folder / f"{self.deals[0]}-{self.deals[-1]}.csv"

    @property
    def made_by(self) -> dict[str, Any]:
        """What produces its results: another value of it, other results."""
        return {"rules": rules_fields(get_rules(self.rules))}

    @property
    def origin(self) -> str:
        """The digest that its result file carries."""
        return digest_of(self.made_by, self.rules, list(self.deals))

    def left(self, stored: pd.DataFrame | None) -> Sequence[int]:
        """The deals to work on.

        Args:
            stored: its results so far, from `stored`.
        """
        return self.deals if stored is None else ()

    def stored(self, say: Callable[[str], None] | None = None) -> pd.DataFrame | None:
        """Its results, if it has a result file and that matches its stamp; else None.

        Args:
            say: called with why a result file cannot be used, and what follows.
        """
        try:
            return self.read()
        except FileNotFoundError:
            return None
        except PartError as error:
            if say:
                say(f"{error}: its {len(self.deals):,} deals are done again")
            return None

    def read(self) -> pd.DataFrame:
        """Its results.

        Raises:
            PartError: if the file does not match its stamp, or is of another origin.
            FileNotFoundError: if there is none.
        """
        return read_part(self.part, self.origin)

    def write(self, results: pd.DataFrame) -> None:
        """Write its result file and the stamp that `read` checks."""
        write_part(self.part, results, self.origin)


B = TypeVar("B", bound=Block)


def rule_set_names(names: Iterable[str]) -> list[str]:
    """The full names of rule sets; ["all"] stands for every one.

    Raises:
        ValueError: for an unknown rule set, with the nearest one.
    """
    names = list(names)
    return list(RULES) if names == ["all"] else [get_rules(name).name for name in names]


def split_deals(deals: str | tuple[int, ...], size: int) -> list[range | tuple[int, ...]]:
    """A range of deals such as "0-9999", or any deals, in blocks; the last may be shorter.

    Raises:
        ValueError: for a text that is no range of deals.
    """
    numbers = parse_deals(deals) if isinstance(deals, str) else deals
    return [numbers[i : i + size] for i in range(0, len(numbers), size)]


def run_blocks(
    function: Callable[[B], Any], blocks: Sequence[B], label: str, workers: Workers
) -> None:
    """Call a function on each block that is not done, under a progress bar.

    A block whose result file does not match its stamp is worked on again, and its name printed.

    Args:
        function: writes the block's results (`Block.write`); of a module, for workers to import.
        blocks: all blocks of the run; the bar counts those that are done already.
        label: of the bar.
        workers: where they run.

    Raises:
        ValueError: see `Workers.check`.
        RuntimeError: if a block failed, once all others are done.
    """
    todo = [block for block in blocks if block.left(block.stored(say=print))]
    names = [str(block.part.relative_to(block.out)) for block in todo]
    failures = []
    with Progress() as bar:
        shown = bar.add_task(label, total=len(blocks), completed=len(blocks) - len(todo))
        for failure in run_tasks(function, todo, names, workers):
            bar.advance(shown)
            if failure:
                failures.append(failure)
    if failures:
        reasons = Counter(each.reason for each in failures)
        told = "; ".join(f"{reason} ({count} times)" for reason, count in reasons.most_common(3))
        raise RuntimeError(
            f"{len(failures)} of {len(blocks)} blocks failed, as {failures[0].name} did; what is "
            f"done is saved: {told}"
        )


def collect_blocks(blocks: Sequence[Block], path: Path) -> pd.DataFrame:
    """Write the results of all blocks into one table, with its stamp, and return them.

    Args:
        blocks: give the order of the rows.
        path: of the table.

    Raises:
        PartError: if a result file does not match its stamp.
    """
    results = pd.concat([block.read() for block in blocks], ignore_index=True)
    write_part(path, results, digest_of([block.origin for block in blocks]))
    return results
