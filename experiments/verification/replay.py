"""Replaying the games of a comparison's folder, and what differs from what it says.

Confirmed are, for every game: that it is of the deal and the rules, that each move is legal, that
it goes on to its end and not beyond, and that won, cards_up and moves (of people also the time)
are what results.csv says; and that every deal that is claimed is there, once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from four_seasons_env.episodes.batch import MAX_MOVES
from four_seasons_env.experiments.evaluation.games import results_of
from four_seasons_env.experiments.evaluation.people import BY_HAND
from four_seasons_env.experiments.parallel.parts import PartError, check_stamp
from four_seasons_env.experiments.reporting.tables import read_table
from four_seasons_env.experiments.statistics.summary import RESULT_COLUMNS
from four_seasons_env.experiments.verification.claims import Claim, Claims, read_claims
from four_seasons_env.play.records import Record, RecordError, parse_record, read_lines
from four_seasons_env.rules import get_rules

RESULTS = "results.csv"
_KEY = ["rules", "agent", "play", "train_seed"]
_NO_SEED = -1
_SHOWN = 5
"""Differences of one kind that are told one by one."""


@dataclass
class Played:
    """What was found of a player under one rule set."""

    rules: str
    agent: str
    play: str
    train_seed: int | None
    deals: int
    """Deals that are claimed."""
    games: int = 0
    """Games that were replayed to their end."""
    won: int = 0
    moves: int = 0
    differences: int = 0


@dataclass
class Verification:
    """What was found in a folder."""

    folder: Path
    claims: Claims
    results: pd.DataFrame
    """results.csv."""
    players: list[Played] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    """What differs; of each kind the first few."""
    files: dict[str, str] = field(default_factory=dict)
    """The SHA-256 of each file that was read, by its path in the folder."""

    @property
    def verified(self) -> bool:
        """Whether all is as it is said to be."""
        return not self.differences


class _Differences:
    """Counts what differs, and keeps the first few of each kind as text."""

    def __init__(self, texts: list[str], where: str) -> None:
        self._texts, self._where = texts, where
        self._counts: dict[str, int] = {}

    def add(self, kind: str, text: str) -> None:
        """Note a difference."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        if self._counts[kind] <= _SHOWN:
            self._texts.append(f"{self._where}: {text}")

    def close(self) -> int:
        """Tell how many more there were, and return how many there are in all."""
        for kind, count in self._counts.items():
            if count > _SHOWN:
                self._texts.append(f"{self._where}: {count - _SHOWN:,} more like this ({kind})")
        return sum(self._counts.values())


def verify_folder(
    folder: Path, size: int, step: Callable[[int], None] = lambda _: None
) -> Verification:
    """Replay all games of a comparison's folder.

    Args:
        folder: of `four-seasons compare --record`.
        size: deals in a block of that command.
        step: is told how many deals have been looked at.

    Raises:
        FileNotFoundError: if the folder is none of a comparison.
        ValueError: if its list of players or its results cannot be read at all.
    """
    claims = read_claims(folder, size)
    texts: list[str] = []
    files: dict[str, str] = {}
    results = _read_results(folder, texts, files)
    found = Verification(folder, claims, results, differences=texts, files=files)
    rows: dict[Any, pd.DataFrame] = dict(list(results.groupby(_KEY, sort=False)))
    for blocks in claims.players:
        key = _key_of(blocks[0])
        own = rows.pop(key, results.iloc[:0])
        found.players.append(_verify_player(found, blocks, own, step))
    for key, others in rows.items():
        texts.append(f"{RESULTS} has {len(others):,} rows of {key}, whom the folder does not name")
    return found


def _key_of(claim: Claim) -> tuple[str, str, str, int]:
    seed = _NO_SEED if claim.train_seed is None else claim.train_seed
    return claim.rules, claim.agent, claim.play, seed


def _read_results(folder: Path, texts: list[str], files: dict[str, str]) -> pd.DataFrame:
    """results.csv, with -1 for no training seed.

    Raises:
        FileNotFoundError: if there is none.
        ValueError: if it is no table of results.
    """
    path = folder / RESULTS
    try:
        check_stamp(path)
    except PartError as error:
        texts.append(str(error))
    files[RESULTS] = hashlib.sha256(path.read_bytes()).hexdigest()
    try:
        results = read_table(path)
        if tuple(results) != RESULT_COLUMNS:
            raise ValueError(f"its columns are {', '.join(map(str, results))}")
        results["won"] = results["won"].map(_truth)
        for name in ("deal", "cards_up", "moves"):
            results[name] = results[name].map(_whole)
        results["train_seed"] = results["train_seed"].fillna(_NO_SEED).map(_whole)
        results["seconds"] = results["seconds"].astype(float)
        results["play"] = results["play"].astype(str)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} is no table of results: {error}") from None
    return results


def _truth(value: Any) -> bool:
    if str(value) not in ("True", "False"):
        raise ValueError(f"{value!r} is neither True nor False")
    return str(value) == "True"


def _whole(value: Any) -> int:
    if int(value) != value:
        raise ValueError(f"{value!r} is no whole number")
    return int(value)


def _verify_player(
    found: Verification,
    blocks: tuple[Claim, ...],
    rows: pd.DataFrame,
    step: Callable[[int], None],
) -> Played:
    """Replay the games of one player."""
    first = blocks[0]
    told = _Differences(found.differences, f"{first.rules}, {first.where}")
    games: list[Record] = []
    for block in blocks:
        games += _read_games(block, found, told)
        step(len(block.deals))
    played = Played(first.rules, first.agent, first.play, first.train_seed, 0)
    played.deals = sum(len(block.deals) for block in blocks)
    replayed = results_of(games)
    _compare(replayed, rows, blocks, told)
    played.games, played.won = len(replayed), int(replayed["won"].sum())
    played.moves = int(replayed["moves"].sum())
    played.differences = told.close()
    return played


def _read_games(block: Claim, found: Verification, told: _Differences) -> list[Record]:
    """The games of a block that are what they should be; each deal once."""
    name = str(block.games.relative_to(block.out))
    try:
        if not block.games.is_file():
            raise FileNotFoundError
        check_stamp(block.games, block.origin)
    except FileNotFoundError:
        told.add("missing files", f"{name} is missing, with its {len(block.deals):,} games")
        return []
    except PartError as error:
        told.add("damaged files", str(error).replace(f"{block.out}/", ""))
    found.files[name] = hashlib.sha256(block.games.read_bytes()).hexdigest()
    games: dict[int, Record] = {}
    try:
        for number, line in read_lines(block.games):
            if number > 2 * len(block.deals):
                told.add("lines", f"{name} has more lines than deals")
                break
            try:
                record = parse_record(line)
                wrong = _what_is_wrong(record, block)
                if record.deal in games:
                    wrong = f"deal {record.deal} is there twice"
            except RecordError as error:
                record, wrong = None, str(error)
            if wrong:
                told.add("games", f"{name}, line {number}: {wrong}")
            if record and record.deal is not None and record.deal in block.deals:
                games.setdefault(record.deal, record)
    except RecordError as error:
        told.add("damaged files", str(error).replace(f"{block.out}/", ""))
    missing = [deal for deal in block.deals if deal not in games]
    if missing:
        some = ", ".join(map(str, missing[:_SHOWN])) + (" ..." if len(missing) > _SHOWN else "")
        told.add("missing games", f"{name} lacks {len(missing):,} games: deals {some}")
    return list(games.values())


def _what_is_wrong(record: Record, block: Claim) -> str | None:
    """Why a game, legal as it is, is not one of this block; None if it is."""
    if get_rules(record.rules).name != block.rules:
        return f"a game of {record.rules!r}"
    if record.deal not in block.deals:
        return f"deal {record.deal} is not one of this file"
    if record.player != block.agent:
        return f"deal {record.deal} was played by {record.player!r}, not by {block.agent!r}"
    count = len(record.moves)
    if block.play == BY_HAND:
        return None
    if not record.end.over and count < MAX_MOVES:
        return f"deal {record.deal} breaks off after {count} moves"
    if count > MAX_MOVES:
        return f"deal {record.deal} has {count} moves, and {MAX_MOVES} is the limit"
    if record.undone:
        return f"deal {record.deal}: an agent takes no cards back"
    return None


def _compare(
    replayed: pd.DataFrame, rows: pd.DataFrame, blocks: tuple[Claim, ...], told: _Differences
) -> None:
    """Compare what the games say with the rows of results.csv, deal by deal."""
    claimed: set[int] = set().union(*(block.deals for block in blocks))
    for deal in rows["deal"][rows["deal"].duplicated()]:
        told.add("rows", f"{RESULTS} has deal {deal} twice")
    rows = rows.drop_duplicates("deal")
    missing = claimed.difference(rows["deal"])
    if missing:
        told.add("rows", f"{RESULTS} lacks {len(missing):,} of its deals, such as {min(missing)}")
    for deal in rows["deal"][~rows["deal"].isin(claimed)]:
        told.add("rows", f"{RESULTS} has deal {deal}, which the folder does not claim")
    both = rows.merge(replayed, on="deal", suffixes=("", "_played"))
    for name in ("won", "cards_up", "moves", "seconds"):
        said, is_so = both[name].to_numpy(), both[f"{name}_played"].to_numpy()
        if name != "seconds":
            differs = said != is_so
        elif blocks[0].play == BY_HAND:  # a table has six digits of it
            differs = ~np.isclose(said, is_so, rtol=1e-5, equal_nan=True)
        else:  # an agent's word
            differs = ~(np.isfinite(said) & (said >= 0))
        for _, row in both[differs].iterrows():
            text = f"deal {row['deal']}: {RESULTS} says {name} {row[name]}"
            told.add(name, f"{text}, the game says {row[f'{name}_played']}")
