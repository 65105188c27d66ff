"""Games as JSON lines: one small format for games of people, agents and PySolFC.

A line is an object:

| field        | value                                                                |
| ------------ | -------------------------------------------------------------------- |
| ``rules``    | name of the rule set                                                 |
| ``deal``     | the deal's number, or ``deck``: the cards as text, first dealt first |
| ``moves``    | texts of the moves, such as ``["deal", "T3>T0"]``                    |
| ``times``    | seconds from the start to each move; may be left out                 |
| ``undone``   | how many moves that had turned a card were taken back; left out if 0 |
| ``by_agent`` | how many moves were made by an agent; left out if 0                  |
| ``player``   | a name chosen by the user; may be empty                              |
| ``result``   | ``"won"``, ``"lost"`` (over, and not won) or ``"open"``              |

Reading a record replays it and rejects moves that are not legal. The field ``hinted`` of 3.0.0 is
ignored. A file whose name ends in `.gz` is compressed.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_integers, nearest
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules, legal, new_masks, play
from four_seasons_env.engine.moves import find_move
from four_seasons_env.engine.validation import check_games_in_place
from four_seasons_env.files import expanded
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules

_COUNTS = ("undone", "by_agent")
"""The fields that are left out if they are 0."""

_KINDS: dict[str, type] = {
    **dict.fromkeys(("rules", "deck", "player", "result"), str),
    **dict.fromkeys(("moves", "times"), list),
    **dict.fromkeys(("deal", *_COUNTS), int),
}
"""The fields, and the type of each."""

_LINE_BYTES = 2**22
"""Bytes of the longest line that is read: a game of 150,000 moves with their times."""

_MOST_SECONDS = 2.0**53
"""Upper bound of times. Larger integers cannot be added to seconds, or not exactly."""


class RecordError(ValueError):
    """A record that is malformed, or whose moves are not legal."""


class End(NamedTuple):
    """How a game ended."""

    won: bool
    cards_up: int
    over: bool
    """Whether it is won, or only moves that rename spaces are left."""


@dataclass(frozen=True)
class Record:
    """One game; `read_records` reads it from a file.

    Examples:
        >>> record = Record("four-seasons", ("deal", "T3>T0"), deal=17)
        >>> record.result, record.positions()[-1].waste
        ('open', ['5H'])
        >>> parse_record(record.to_json()) == record
        True

    See Also:
        `four_seasons_env.datasets.load`: recorded games as arrays of transitions.
        `append_record`: adds a game to a file.
    """

    rules: str
    moves: tuple[str, ...]
    deal: int | None = None
    deck: str | None = None
    times: tuple[float, ...] = ()
    player: str = ""
    undone: int = 0
    by_agent: int = 0

    def start(self) -> Game:
        """The game's opening."""
        return Game(self.rules, deal=self.deal, deck=self.deck)

    def positions(self) -> list[Game]:
        """The positions of the game, from the opening to the last."""
        positions = [self.start()]
        for move in self.moves:
            positions.append(positions[-1].after(move))
        return positions

    @functools.cached_property
    def end(self) -> End:
        """How the game ended, found by a replay.

        Raises:
            ValueError: if a move is not legal, with the reason.
        """
        start = self.start()
        numbers = [find_move(start.rules, move).number for move in self.moves]
        games = start.record.copy()
        played, continues = play_through(games, start.rules, numbers)
        if played < len(self.moves):
            self.positions()  # raises the error that says which move is not legal, and why
        cards_up = int(games["cards_up"][0])
        return End(cards_up == start.rules.cards, cards_up, not continues)

    @property
    def result(self) -> str:
        """How the game ended: "won", "lost" or "open"."""
        if self.end.won:
            return "won"
        return "lost" if self.end.over else "open"

    def to_json(self) -> str:
        """The record as a line, without a line break."""
        fields: dict[str, Any] = {"rules": self.rules}
        fields |= {"deal": self.deal} if self.deck is None else {"deck": self.deck}
        fields["moves"] = list(self.moves)
        if self.times:
            fields["times"] = [round(each, 2) for each in self.times]
        for name in _COUNTS:
            fields |= {name: getattr(self, name)} if getattr(self, name) else {}
        return json.dumps(fields | {"player": self.player, "result": self.result})


def play_through(
    games: NDArray[Any], rules: Rules, moves: Sequence[int] | NDArray[np.int64]
) -> tuple[int, bool]:
    """Play the moves of a game, up to the first that is not legal.

    Args:
        games: GAME (1,), the position to start from; afterwards the position that is reached.
        rules: the rule set.
        moves: numbers of its action space.

    Returns:
        How many moves were played, and whether the game continues after them.

    Raises:
        TypeError: for moves that are not integers.
        InvalidGame: if it is not a position of the rule set.
        ValueError: if there are several, or the array cannot be written.
    """
    check_games_in_place(games, rules)
    if len(games) != 1:
        raise ValueError(f"games must be one position, of shape (1,), not {len(games)}")
    words, masks = new_masks(1, rules)
    numbers = check_integers("moves", moves, len(moves))
    played, continues = _play_through(games, compile_rules(rules), numbers, words, masks)
    return int(played), bool(continues)


@jit
def _play_through(games: Any, rules: Any, moves: Any, words: Any, masks: Any) -> Any:
    """`play_through` with masks of `new_masks(1, ...)`."""
    continues = legal(games[0], rules[0], False, words[0])
    for i in range(len(moves)):
        if not 0 <= moves[i] < masks.shape[1] or not masks[0, moves[i]]:
            return i, continues
        play(games[0], rules[0], moves[i])
        continues = legal(games[0], rules[0], False, words[0])
    return len(moves), continues


def parse_record(line: str | bytes) -> Record:
    """The record of a line.

    Raises:
        RecordError: with the reason why it is not a record.
    """
    # 1. The line is a JSON object of known fields, each of its type.
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        raise RecordError("a record must be a JSON object, and this is not JSON") from None
    if not isinstance(fields, dict):
        raise RecordError(f"a record must be a JSON object, not {line[:40]!r}")
    fields.pop("hinted", None)
    for field, value in fields.items():
        if field not in _KINDS:
            raise RecordError(f"unknown field {field!r}: {nearest(field, _KINDS)}")
        if not isinstance(value, _KINDS[field]) or isinstance(value, bool):
            raise RecordError(
                f"{field!r} must be of type {_KINDS[field].__name__}, not {value!r:.40}"
            )

    # 2. It has the fields that a game needs.
    missing = {"rules", "moves", "result"} - fields.keys()
    if missing:
        raise RecordError(f"fields are missing: {', '.join(sorted(missing))}")
    if ("deal" in fields) == ("deck" in fields):
        raise RecordError("give a deal or a deck, and not both")
    if not all(isinstance(move, str) for move in fields["moves"]):
        raise RecordError("moves must be texts")

    # 3. Times and counts fit the moves.
    stated = fields.pop("result")
    fields["moves"], fields["times"] = tuple(fields["moves"]), tuple(fields.get("times", ()))
    record = Record(**fields)
    check_times(record.times, len(record.moves))
    for field in _COUNTS:
        if getattr(record, field) < 0:
            raise RecordError(f"{field!r} must be 0 or more, not {getattr(record, field)}")
    if record.by_agent > len(record.moves):
        raise RecordError("'by_agent' counts more moves than the record has")

    # 4. The moves are legal, and lead to the result that the line states.
    try:
        result = record.result
    except ValueError as error:
        raise RecordError(f"not a game by its rules: {error}") from None
    if result != stated:
        raise RecordError(f"the moves lead to {result!r}, but the record says {stated!r}")
    return record


def check_times(times: Sequence[Any], moves: int) -> None:
    """Check the times of a number of moves, if there are any.

    Raises:
        RecordError: if they are not numbers in rising order, one for each move.
    """
    if times and (
        len(times) != moves
        or not all(type(each) in (int, float) and abs(each) < _MOST_SECONDS for each in times)
        or any(early > late for early, late in itertools.pairwise([0, *times]))
    ):
        raise RecordError("times must be seconds from 0, one for each move, in rising order")


def read_records(path: str | Path) -> Iterator[Record]:
    """The records of a JSON lines file; empty lines are ignored.

    Raises:
        RecordError: naming the file, the line and the reason. It comes after the records of all
            good lines, because an interrupted process may have left a part of a line.
    """
    faults = []
    for number, line in read_lines(path):
        try:
            yield parse_record(line)
        except RecordError as error:
            faults.append(f"{path}, line {number}: {error}")
    if faults:
        more = f" (and {len(faults) - 1} more lines)" if len(faults) > 1 else ""
        raise RecordError(f"{faults[0]}{more}")


def read_lines(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a JSON lines file that are not empty, with their numbers from 1.

    Raises:
        RecordError: if the file is damaged, or has a line that is too long for a game.
    """
    path, number = expanded(path), 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            # A small compressed file may have a line that does not fit into memory.
            while line := file.readline(_LINE_BYTES + 1):
                number += 1
                if len(line) > _LINE_BYTES:
                    raise RecordError(
                        f"{path}, line {number} must be {_LINE_BYTES:,} bytes or fewer"
                    )
                if line.strip():
                    yield number, line
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise RecordError(f"{path} is damaged after line {number}: {error}") from None


def to_lines(records: Iterable[Record]) -> bytes:
    """Records as the content of a compressed JSON lines file; equal records give equal bytes."""
    lines = "".join(record.to_json() + "\n" for record in records)
    return gzip.compress(lines.encode(), mtime=0)


def append_record(path: str | Path, record: Record) -> None:
    """Add a record to a JSON lines file, which is created if it does not exist.

    A last line without a line break stays a line.

    Raises:
        RecordError: if a compressed file is damaged: nothing after the damage could be read.
        OSError: naming the file, if it cannot be written.
    """
    # Compressed by itself if the file is: gzip reads several parts as one text.
    path = expanded(path)
    line = missing_break(path) + f"{record.to_json()}\n".encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("ab") as file:
            file.write(gzip.compress(line) if path.suffix == ".gz" else line)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def missing_break(path: str | Path) -> bytes:
    """The line break that a JSON lines file needs before another line: b"\\n", or b"".

    Raises:
        RecordError: see `read_lines`.
    """
    last = b"\n"
    if expanded(path).is_file():  # a device may have no end
        for _, line in read_lines(path):
            last = line
    return b"" if last.endswith(b"\n") else b"\n"
