"""Games kept as JSON lines, whoever played them: one small format for people, agents and PySolFC.

A line is an object:

============  ================================================================================
field         value
============  ================================================================================
``rules``     name of the rule set
``deal``      the deal's number, or ``deck``: the cards as text, first dealt first
``moves``     texts of the moves, such as ``["deal", "T3>T0"]``
``times``     seconds from the start to each move; may be left out
``player``    a name, the user's to give; may be empty
``result``    ``"won"``, ``"lost"`` (over, and not won) or ``"open"``
============  ================================================================================

A record is replayed when it is read: what is not a game by its rules is refused.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from four_seasons_env.game import Game
from four_seasons_env.rules import nearest

_FIELDS = ("rules", "deal", "deck", "moves", "times", "player", "result")
_KINDS: dict[str, type | tuple[type, ...]] = {
    "rules": str,
    "deal": int,
    "deck": str,
    "moves": list,
    "times": list,
    "player": str,
    "result": str,
}


class RecordError(ValueError):
    """A record that is not one, or not of a game by its rules."""


@dataclass(frozen=True)
class Record:
    """One game; `Record.of` makes it, `read_records` reads it."""

    rules: str
    moves: tuple[str, ...]
    deal: int | None = None
    deck: str | None = None
    times: tuple[float, ...] = ()
    player: str = ""

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

    @property
    def result(self) -> str:
        """How the game ended: "won", "lost" or "open"."""
        game = self.positions()[-1]
        if game.is_won:
            return "won"
        return "lost" if game.is_over else "open"

    def to_json(self) -> str:
        """The record as a line, without a line break."""
        told: dict[str, Any] = {"rules": self.rules}
        told |= {"deal": self.deal} if self.deck is None else {"deck": self.deck}
        told["moves"] = list(self.moves)
        if self.times:
            told["times"] = [round(each, 2) for each in self.times]
        return json.dumps(told | {"player": self.player, "result": self.result})


def parse_record(line: str) -> Record:
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
        or not all(isinstance(each, (int, float)) for each in times)
        or any(early > late for early, late in itertools.pairwise(times))
    ):
        raise RecordError("times are seconds, one a move, and none is before the last")
    record = Record(
        told["rules"],
        tuple(moves),
        told.get("deal"),
        told.get("deck"),
        tuple(times),
        told.get("player", ""),
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
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield parse_record(line)
                except RecordError as error:
                    raise RecordError(f"{path}, line {number}: {error}") from None


def append_record(path: Path, record: Record) -> None:
    """Add a record to a JSON lines file, which need not be there yet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(record.to_json() + "\n")
