"""Games kept as JSON lines, whoever played them: one small format for people, agents and PySolFC.

A line is an object:

============  ================================================================================
field         value
============  ================================================================================
``rules``     name of the rule set
``deal``      the deal's number, or ``deck``: the cards as text, first dealt first
``moves``     texts of the moves, such as ``["deal", "T3>T0"]``
``times``     seconds from the start to each move; may be left out
``undone``    how many moves that had turned a card were taken back; left out if none was
``player``    a name, the user's to give; may be empty
``result``    ``"won"``, ``"lost"`` (over, and not won) or ``"open"``
============  ================================================================================

A record is replayed when it is read: what is not a game by its rules is refused. A file whose name
ends in `.gz` is compressed.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import math
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.replay import play_through
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules, nearest

_FIELDS = ("rules", "deal", "deck", "moves", "times", "undone", "player", "result")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "rules": str,
    "deal": int,
    "deck": str,
    "moves": list,
    "times": list,
    "undone": int,
    "player": str,
    "result": str,
}


_LONGEST = 1 << 20
"""Bytes of a line at most."""


class RecordError(ValueError):
    """A record that is not one, or not of a game by its rules."""


class End(NamedTuple):
    """How a game ended."""

    won: bool
    cards_up: int
    over: bool
    """Whether it is won, or nothing is left but moves that only rename spaces."""


@dataclass(frozen=True)
class Record:
    """One game; `read_records` reads it."""

    rules: str
    moves: tuple[str, ...]
    deal: int | None = None
    deck: str | None = None
    times: tuple[float, ...] = ()
    player: str = ""
    undone: int = 0

    def start(self) -> Game:
        """The game's opening."""
        return Game(self.rules, deal=self.deal, deck=self.deck)

    def positions(self) -> list[Game]:
        """The positions of the game, from the opening to the last."""
        positions = [self.start()]
        for move in self.moves:
            after = positions[-1].copy()
            after.play(move)
            positions.append(after)
        return positions

    @functools.cached_property
    def end(self) -> End:
        """How the game ended, by playing it once more.

        Raises:
            ValueError: if it is not a game by its rules, with the reason.
        """
        game = self.start()
        known = _numbers(game.rules)
        numbers = [known[move] for move in self.moves if move in known]
        played, goes_on = play_through(game.record, game.rules, numbers)
        if played < len(self.moves):
            self.positions()  # says which move is not legal, and why
        return End(game.is_won, game.cards_up, not goes_on)

    @property
    def result(self) -> str:
        """How the game ended: "won", "lost" or "open"."""
        if self.end.won:
            return "won"
        return "lost" if self.end.over else "open"

    def to_json(self) -> str:
        """The record as a line, without a line break."""
        told: dict[str, Any] = {"rules": self.rules}
        told |= {"deal": self.deal} if self.deck is None else {"deck": self.deck}
        told["moves"] = list(self.moves)
        if self.times:
            told["times"] = [round(each, 2) for each in self.times]
        if self.undone:
            told["undone"] = self.undone
        return json.dumps(told | {"player": self.player, "result": self.result})


@functools.cache
def _numbers(rules: Rules) -> dict[str, int]:
    """The numbers of a rule set's moves, by their texts."""
    return {move.text: move.number for move in all_moves(rules)}


def parse_record(line: str | bytes) -> Record:
    """The record of a line.

    Raises:
        RecordError: naming what is wrong with it.
    """
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        raise RecordError("a record is a JSON object, and this is not JSON") from None
    if not isinstance(told, dict):
        raise RecordError(f"a record is a JSON object, not {line[:40]!r}")
    for field, value in told.items():
        if field not in _FIELDS:
            raise RecordError(f"unknown field {field!r}: {nearest(field, _FIELDS)}")
        if not isinstance(value, _KINDS[field]) or isinstance(value, bool):
            raise RecordError(f"{field!r} is not what it should be: {str(value)[:40]!r}")
    missing = {"rules", "moves", "result"} - told.keys()
    if missing:
        raise RecordError(f"fields are missing: {', '.join(sorted(missing))}")
    if ("deal" in told) == ("deck" in told):
        raise RecordError("give a deal or a deck, and not both")
    moves, times = told["moves"], told.get("times", [])
    if not all(isinstance(move, str) for move in moves):
        raise RecordError("moves are texts")
    if times and (
        len(times) != len(moves)
        or not all(type(each) in (int, float) and math.isfinite(each) for each in times)
        or any(early > late for early, late in itertools.pairwise([0, *times]))
    ):
        raise RecordError("times are seconds from 0, one a move, and none is before the last")
    if told.get("undone", 0) < 0:
        raise RecordError("'undone' counts moves that were taken back: it is 0 or more")
    record = Record(
        told["rules"],
        tuple(moves),
        told.get("deal"),
        told.get("deck"),
        tuple(times),
        told.get("player", ""),
        told.get("undone", 0),
    )
    try:
        result = record.result
    except ValueError as error:
        raise RecordError(f"not a game by its rules: {error}") from None
    if result != told["result"]:
        raise RecordError(f"the moves end in {result!r}, the record says {told['result']!r}")
    return record


def read_records(path: Path) -> Iterator[Record]:
    """The records of a JSON lines file; empty lines are passed over.

    Raises:
        RecordError: naming the file, the line and what is wrong with it.
    """
    for number, line in read_lines(path):
        try:
            yield parse_record(line)
        except RecordError as error:
            raise RecordError(f"{path}, line {number}: {error}") from None


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a JSON lines file that are not empty, with their numbers from 1.

    Raises:
        RecordError: if the file is damaged, or has a line that is too long for a record.
    """
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(_LONGEST + 1):
                number += 1
                if len(line) > _LONGEST:
                    raise RecordError(f"{path}, line {number}: longer than {_LONGEST:,} bytes")
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RecordError(f"{path} is damaged after line {number}: {error}") from None


def to_lines(records: Iterable[Record]) -> bytes:
    """Records as the content of a compressed JSON lines file; the same records, the same bytes."""
    lines = "".join(record.to_json() + "\n" for record in records)
    return gzip.compress(lines.encode(), mtime=0)


def append_record(path: Path, record: Record) -> None:
    """Add a record to a JSON lines file, which need not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(record.to_json() + "\n")
