"""`GamesTask`: a block of deals that one player plays, the unit of work of a comparison."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.experiments.matches.play import play_in_block, warm_up
from four_seasons_env.experiments.parallel.blocks import Block, split_deals
from four_seasons_env.experiments.results.comparison import COLUMNS, Manifest, Player
from four_seasons_env.files import write_atomically
from four_seasons_env.records import Record, RecordError, read_lines, to_lines
from four_seasons_env.rules import Rules, get_rules

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
    def folder(self) -> str:
        """Folder of the player's result files."""
        return self.player.folder

    @property
    def games(self) -> Path:
        """File of the recorded games."""
        return self.part.with_suffix(".jsonl.gz")

    def left(self, stored: pd.DataFrame | None) -> Sequence[int]:
        """The deals to play: all, unless results, games and luck of the block are complete."""
        if self.record and not self._has_games():
            return self.deals
        # Luck is measured from the moves of a game, which only this process has.
        if self.luck and (stored is None or "luck" not in stored):
            return self.deals
        return super().left(stored)

    def _has_games(self) -> bool:
        try:
            return sum(1 for _ in read_lines(self.games)) == len(self.deals)
        except (FileNotFoundError, RecordError):
            return False


def tasks_of(out: Path, manifest: Manifest) -> list[list[GamesTask]]:
    """The tasks of a comparison: a list for each player under each rule set."""
    flags = manifest.seed, manifest.recorded
    return [
        [
            GamesTask(out, rules, block, player, *flags, rules in manifest.luck)
            for block in split_deals(manifest.deals, player.block)
        ]
        for rules, players in manifest.players.items()
        for player in players
    ]


def load_block(task: GamesTask) -> None:
    """Compile, or load, what a block needs."""
    game = warm_up(task.player, get_rules(task.rules))["game"]
    if task.luck:
        _load_luck(game.item())


@functools.cache
def _load_luck(game: Record) -> None:
    luck_of([game])


def play_block(task: GamesTask) -> None:
    """Play a block of deals, and write the results and games of those that are asked for."""
    rules, player = get_rules(task.rules), task.player
    results = play_in_block(player, rules, task.deals, task.seed)
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
    task.write(results[columns])


@functools.lru_cache(maxsize=2)
def meter_for(rules: Rules) -> LuckMeter:
    """The meter of the luck of games.

    Raises:
        FileNotFoundError: for a rule set without a planner.
    """
    return LuckMeter(rules)


def luck_of(games: Sequence[Record]) -> pd.DataFrame:
    """The columns `LUCK`, a row per game.

    Args:
        games: games of one rule set.
    """
    measured = [
        meter_for(get_rules(game.rules)).measure(game.start(), game.moves) for game in games
    ]
    # Without luck, the sums of chances leave a rounding error, which would not be 0 in a file.
    return pd.DataFrame(measured, columns=list(LUCK), dtype=float).round(12)
