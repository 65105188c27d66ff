"""Work on deals in blocks: each block is a task with its own result file.

An interrupted or extended run works only on the blocks that are not done. A `GamesTask` is a block
of a comparison, which one player plays.
"""

import contextlib
import functools
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from joblib import Parallel, delayed

from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.agents.registry import AnswerError
from four_seasons_env.experiments import folders, play
from four_seasons_env.experiments.command_line import one_line, progress_bar
from four_seasons_env.experiments.comparison import COLUMNS, Manifest
from four_seasons_env.experiments.players import Player
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.files import file_name, write_atomically
from four_seasons_env.records import Record, to_lines
from four_seasons_env.rules import get_rules


@dataclass(frozen=True)
class Block:
    """A range of deals of one rule set, which one task works on and stores."""

    out: Path
    """Folder of the run."""
    rules: str
    folder: str
    """Subfolder of its result file; "" for none."""
    deals: range

    @property
    def part(self) -> Path:
        """Path of its result file."""
        folder = self.out / "parts" / file_name(self.rules) / self.folder
        return folder / f"{self.deals[0]}-{self.deals[-1]}.csv"

    def stored(self) -> pd.DataFrame | None:
        """The rows of its result file; None if the file is missing, cut short or damaged."""
        try:
            return folders.read_table(self.part)
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


B = TypeVar("B", bound=Block)


def split_deals(numbers: range, size: int) -> list[range]:
    """Split a range of deals into blocks, which end at multiples of the size.

    Only the first and the last may be shorter: they hold the wanted deals of their blocks.
    """
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
        function: writes the result file of a block. Workers import it by name.
        blocks: all blocks of the run; the bar counts those that are done already.
        label: label of the bar.
        workers: workers that call the function.
        load: compiles, or loads, all that a block needs. Called in this process with a block of
            each rule set and folder before workers start, so that they only load.

    Returns:
        The rows of all blocks, in their order, as written to results.csv.

    Raises:
        ValueError: see `Workers.check`.
        RuntimeError: if a block failed, after all others are done; its note has the traceback.
    """
    todo = [block for block in blocks if block.left(block.stored())]
    if workers.share_this_machine:
        with contextlib.suppress(Exception):  # the block fails in its worker, too, and is named
            for block in {(each.rules, each.folder): each for each in todo}.values():
                load(block)
    with workers.started(), progress_bar() as bar:
        deals, left = (sum(len(each.deals) for each in some) for some in (blocks, todo))
        shown = bar.add_task(label, total=deals, completed=deals - left)
        # joblib returns results of loky and Dask as they come, those of Ray at the end.
        kind = "list" if workers.backend == "ray" else "generator_unordered"
        failures = []
        for done, failed in Parallel(return_as=kind)(
            delayed(_attempt)(function, each) for each in todo
        ):
            bar.advance(shown, done)
            if failed:
                failures.append(failed)
    if failures:
        raise failures[0]
    # From the files alone, not from what this call has played: an interrupted run ends with the
    # same table as an uninterrupted one.
    results = pd.concat([folders.read_table(block.part) for block in blocks], ignore_index=True)
    folders.write_csv(blocks[0].out / "results.csv", results)
    return results


def _attempt(function: Callable[[B], Any], block: B) -> tuple[int, RuntimeError | None]:
    """Work on a block, and return its number of deals, and its error, if it failed.

    The error names the block, and has the traceback as a note, which a worker can send.
    """
    try:
        function(block)
    except Exception as error:
        failed = RuntimeError(
            f"block {block.part.relative_to(block.out)} failed, and finished blocks are saved: "
            f"{type(error).__name__}: {one_line(error)}"
        )
        if not isinstance(error, AnswerError):  # its message is enough
            failed.add_note(traceback.format_exc().rstrip())
        return len(block.deals), failed
    return len(block.deals), None


# --- blocks of a comparison ----------------------------------------------------------------------

LUCK = ("luck", "luck_variance")
"""Columns of results.csv: luck of all turned cards, and its variance for a fair player."""


@dataclass(frozen=True)
class GamesTask(Block):
    """A block of deals, played by one player."""

    player: Player
    seed: int
    record: bool = False
    luck: bool = False

    @property
    def games(self) -> Path:
        """File of the recorded games."""
        return self.part.with_suffix(".jsonl.gz")

    def left(self, stored: pd.DataFrame | None) -> Sequence[int]:
        """The deals to play: all, unless results, games and luck of the block are complete."""
        if self.record and not self.games.is_file():
            return self.deals
        # Luck is measured from the moves of a game, which only this process has.
        if self.luck and (stored is None or "luck" not in stored):
            return self.deals
        return super().left(stored)


def tasks_of(out: Path, manifest: Manifest) -> list[list[GamesTask]]:
    """The tasks of a comparison: a list for each player under each rule set."""
    flags = manifest.seed, manifest.recorded
    return [
        [
            GamesTask(out, rules, player.folder, block, player, *flags, rules in manifest.luck)
            for block in split_deals(manifest.numbers, player.block)
        ]
        for rules, players in manifest.players.items()
        for player in players
    ]


def load_block(task: GamesTask) -> None:
    """Compile, or load, what a block needs."""
    games = play.warm_up(task.player, get_rules(task.rules))["game"]
    if task.luck:
        luck_of(games.tolist())


def play_block(task: GamesTask) -> None:
    """Play a block of deals, and write the results and games of those that are asked for."""
    rules, player = get_rules(task.rules), task.player
    results = play.play_in_block(player, rules, task.deals, task.seed)
    games = results.pop("game").tolist()
    results["agent"] = player.agent
    results["play"] = player.play
    results["rules"] = rules.name
    results["train_seed"] = player.train_seed
    columns = list(COLUMNS)
    if task.luck:
        results[list(LUCK)] = luck_of(games)
        columns += LUCK
    # The results come last, because they mark the block as done.
    if task.record:
        write_atomically(task.games, to_lines(games))
    folders.write_csv(task.part, results[columns])


@functools.lru_cache(maxsize=2)
def meter_for(rules: str) -> LuckMeter:
    """The meter of the luck of games under a rule set.

    Raises:
        FileNotFoundError: for a rule set without a planner.
    """
    return LuckMeter(get_rules(rules))


def luck_of(games: Sequence[Record]) -> pd.DataFrame:
    """The columns `LUCK`, a row per game.

    Args:
        games: games of one rule set.
    """
    measured = [meter_for(game.rules).measure(game.start(), game.moves) for game in games]
    # Without luck, the sums of chances leave a rounding error, which would not be 0 in a file.
    return pd.DataFrame(measured, columns=list(LUCK), dtype=float).round(12)
