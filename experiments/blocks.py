"""Deals in blocks: each block is a task with its own result file.

An interrupted or extended run works only on the blocks that are not done. Two parts:

1. any `Block`, and `run_blocks`, which hands those that are not done to workers;
2. `PlayerBlock`, a block of a comparison: the games of one player, with their moves and their luck.
"""

import abc
import contextlib
import functools
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from joblib import Parallel, delayed

from four_seasons_env.agents.agent import AnswerError
from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.experiments import folders, play
from four_seasons_env.experiments.command_line import one_line, progress_bar
from four_seasons_env.experiments.comparison import COLUMNS, Manifest, read_games
from four_seasons_env.experiments.players import Player
from four_seasons_env.experiments.workers import Workers
from four_seasons_env.files import file_name, write_atomically
from four_seasons_env.records import Record, to_lines
from four_seasons_env.rules import get_rules
from four_seasons_env.schemas import Count
from four_seasons_env.streams import complain


@dataclass(frozen=True)
class Block(abc.ABC):
    """A range of deals of one rule set, which one task works on and stores."""

    out: Path
    """Folder of the run."""
    rules: str
    folder: str
    """Subfolder of its result file; "" for none."""
    deals: range

    @abc.abstractmethod
    def work(self) -> None:
        """Work on the deals, and write the result file."""

    @abc.abstractmethod
    def load(self) -> None:
        """Compile, or load, what `work` needs."""

    @property
    def part(self) -> Path:
        """Path of its result file."""
        folder = self.out / "parts" / file_name(self.rules) / self.folder
        return folder / f"{self.deals[0]}-{self.deals[-1]}.csv"

    def stored(self) -> pd.DataFrame | None:
        """The rows of its result file; None if it is not done, cut short or damaged."""
        try:
            rows = self.read()
            return rows if self.is_done(rows) else None
        except FileNotFoundError:
            return None
        except ValueError as error:
            complain(f"{error}; its {len(self.deals):,} deals are done again")
            return None

    def read(self) -> pd.DataFrame:
        """Read its result file.

        Raises:
            FileNotFoundError: if there is none.
            ValueError: if it is damaged.
        """
        return folders.read_table(self.part, {"deal": Count})

    def is_done(self, stored: pd.DataFrame) -> bool:
        """Whether the stored rows have each deal once, in order; else all are worked on again."""
        # All or none: the games of a block share the agent's random numbers.
        return stored["deal"].tolist() == list(self.deals)


def split_deals(numbers: range, size: int) -> list[range]:
    """Split a range of deals into blocks, which end at multiples of the size.

    Only the first and the last may be shorter: they hold the deals of their blocks that are asked
    for. A range that grows keeps its finished blocks.

    >>> split_deals(range(18, 35), 10)
    [range(18, 20), range(20, 30), range(30, 35)]
    """
    first, stop = numbers[0], numbers[-1] + 1
    starts = range(first - first % size, stop, size)
    return [range(max(first, start), min(start + size, stop)) for start in starts]


def run_blocks(blocks: Sequence[Block], label: str, workers: Workers) -> pd.DataFrame:
    """Work on each block that is not done, under a progress bar of deals.

    Args:
        blocks: all blocks of the run; the bar counts those that are done already.
        label: label of the bar.
        workers: workers that work on the blocks.

    Returns:
        The rows of all blocks, in their order, as written to results.csv.

    Raises:
        ValueError: see `Workers.check`.
        RuntimeError: if a block failed, after all others are done; its note has the traceback.
    """
    # 1. Which blocks are done? Their rows, or None.
    rows = [block.stored() for block in blocks]
    todo = [block for block, done in zip(blocks, rows, strict=True) if done is None]

    # 2. This process compiles for a block of each rule set and folder; its workers only load.
    if workers.share_this_machine:
        with contextlib.suppress(Exception):  # the block fails in its worker, too, and is named
            for block in {(each.rules, each.folder): each for each in todo}.values():
                block.load()

    # 3. Workers work on the others.
    failures = []
    with workers.started(), progress_bar() as bar:
        deals, left = (sum(len(each.deals) for each in some) for some in (blocks, todo))
        shown = bar.add_task(label, total=deals, completed=deals - left)
        # joblib returns results of loky and Dask as they come, those of Ray at the end (ray pull
        # request 41028, closed).
        order = "list" if workers.backend == "ray" else "generator_unordered"
        for count, failure in Parallel(return_as=order)(delayed(_attempt)(each) for each in todo):
            bar.advance(shown, count)
            failures += failure
    if failures:
        raise failures[0]

    # 4. One table. New rows come from their files, too, whose numbers are rounded: an interrupted
    # run ends with the same table as an uninterrupted one.
    for i, block in enumerate(blocks):
        if rows[i] is None:
            rows[i] = block.read()
    table = pd.concat(rows, ignore_index=True)
    folders.write_csv(blocks[0].out / "results.csv", table)
    return table


def _attempt(block: Block) -> tuple[int, list[RuntimeError]]:
    """Work on a block, and return its number of deals, and its error, if it failed.

    The error names the block, and has the traceback as a note, which a worker can send.
    """
    try:
        block.work()
    except Exception as error:
        failure = RuntimeError(
            f"block {block.part.relative_to(block.out)} failed, and finished blocks are saved: "
            f"{type(error).__name__}: {one_line(error)}"
        )
        # A wrong answer says enough, as does a file that cannot be written.
        is_ours = isinstance(error, OSError) and str(error.filename).startswith(str(block.out))
        if not (is_ours or isinstance(error, AnswerError)):
            failure.add_note(traceback.format_exc().rstrip())
        return len(block.deals), [failure]
    return len(block.deals), []


# --- blocks of a comparison ----------------------------------------------------------------------

LUCK = ["luck", "luck_variance"]
"""Columns of results.csv: luck of all turned cards, and its variance for a fair player."""


@dataclass(frozen=True)
class PlayerBlock(Block):
    """A block of deals, played by one player."""

    player: Player
    seed: int
    record: bool
    luck: bool

    @property
    def games(self) -> Path:
        """File of the recorded games."""
        return self.part.with_suffix(".jsonl.gz")

    def read(self) -> pd.DataFrame:
        """Read its games."""
        return read_games(self.part)

    def is_done(self, stored: pd.DataFrame) -> bool:
        """Whether results, games and luck of the block are complete, and the player's own."""
        player, cards = self.player, get_rules(self.rules).cards
        of_player = stored[["agent", "play", "rules"]].eq([player.agent, player.play, self.rules])
        seeds = stored["train_seed"].astype(object)
        same_seed = seeds.isna() if player.train_seed is None else seeds.eq(player.train_seed)
        is_sound = stored["won"].eq(stored["cards_up"].eq(cards))
        if not (of_player.all(axis=None) and same_seed.all() and is_sound.all()):
            return False
        # Luck is measured from the moves of a game, which only the process that plays it has.
        has_luck = "luck" in stored or not self.luck
        return has_luck and (self.games.is_file() or not self.record) and super().is_done(stored)

    def load(self) -> None:
        """Compile, or load, what a block needs."""
        games = play.warm_up(self.player, get_rules(self.rules))["game"]
        if self.luck:
            luck_of(games.tolist())

    def work(self) -> None:
        """Play the block, and write its games, if they are recorded, and its results."""
        player = self.player
        results = play.play_in_block(player, get_rules(self.rules), self.deals, self.seed)
        results = results.assign(
            agent=player.agent, play=player.play, rules=self.rules, train_seed=player.train_seed
        )
        games = results["game"].tolist()
        columns = list(COLUMNS)
        if self.luck:
            results[LUCK] = luck_of(games)
            columns += LUCK
        # The results come last, because they mark the block as done.
        if self.record:
            write_atomically(self.games, to_lines(games))
        folders.write_csv(self.part, results[columns])


def blocks_of(out: Path, manifest: Manifest) -> list[list[PlayerBlock]]:
    """The blocks of a comparison: a list for each player under each rule set."""
    return [
        [
            PlayerBlock(
                *(out, rules, player.folder, deals),
                *(player, manifest.seed, manifest.recorded, rules in manifest.luck),
            )
            for deals in split_deals(manifest.numbers, player.block)
        ]
        for rules, players in manifest.players.items()
        for player in players
    ]


def files_of(out: Path, manifest: Manifest) -> list[Path]:
    """The files of all blocks of a comparison: results, and games, which may not be recorded."""
    all_blocks = [block for player in blocks_of(out, manifest) for block in player]
    return [path for block in all_blocks for path in (block.part, block.games)]


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
    return pd.DataFrame(measured, columns=LUCK, dtype=float).round(12)
