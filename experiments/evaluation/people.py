"""People as players of a comparison: the games that they have played, `human:FOLDER`.

A person's first attempt at a deal counts, in the order of the file; files are read in the order of
their names. The player is whoever is named in the records: several persons stand like the training
seeds of an algorithm, so the deals that all of them have played count. A game that was not played
to its end counts as it stands, and one in which a card that had been turned was taken back is not
won, whatever its end.
"""

from __future__ import annotations

import collections
import hashlib
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from four_seasons_env.experiments.evaluation.deciding_code import code_digest
from four_seasons_env.experiments.evaluation.games import results_of
from four_seasons_env.experiments.evaluation.isolated import find_isolated
from four_seasons_env.experiments.evaluation.players import (
    Player,
    check_distinct,
    check_label,
    find_players,
    split_label,
)
from four_seasons_env.play.records import Record, read_records
from four_seasons_env.rules import Rules, get_rules

HUMAN = "human"
BY_HAND = "by hand"
"""How people play, in a column that tells of agents whether they leave something to chance."""
_FILES = ("*.jsonl", "*.jsonl.gz")


@dataclass(frozen=True)
class Person(Player):
    """What one person has played."""

    played: tuple[Record, ...] = ()
    """A game a deal."""

    def deals_in(self, block: range | tuple[int, ...]) -> tuple[int, ...]:
        """Those deals of a block that the person has played."""
        return tuple(deal for deal in self._deals if deal in block)

    @property
    def _deals(self) -> list[int]:
        return sorted(each.deal for each in self.played if each.deal is not None)

    def games(self, deals: Iterable[int]) -> list[Record]:
        """The games of these deals."""
        by_deal = {each.deal: each for each in self.played}
        return [by_deal[deal] for deal in deals]

    def results(self, deals: Sequence[int]) -> pd.DataFrame:
        """The results of these deals; see `results_of`."""
        return results_of(self.games(deals))

    @property
    def made_by(self) -> dict[str, Any]:
        """The games, and the code that reads them; `deals`: those that were played."""
        return {
            "label": self.agent,
            "agent": HUMAN,
            "play": self.play,
            "train_seed": self.train_seed,
            "weights and options": self.digest,
            "code": code_digest(),
            "deals": self._deals,
        }


def find_all_players(
    names: Iterable[str],
    rules: str | Rules,
    plays: Iterable[str],
    trust: bool,
    deals: Container[int],
    say: Callable[[str], None] = print,
    isolate: bool = False,
) -> list[Player]:
    """The players of a comparison under one rule set, people included.

    Args:
        names: see `find_players`; and folders or files of people's games, "human:games" or
            "Ada=human:games/ada.jsonl".
        rules: the rule set.
        plays: ways in which trained networks are to play.
        trust: open zips.
        deals: those of the comparison.
        say: is told which games of people do not count, and why.
        isolate: let agents run in processes of their own
            (`four_seasons_env.experiments.evaluation.isolated`).

    Raises:
        ValueError: see `find_players`, or if there are no games of these rules and deals.
        FileNotFoundError: where there are no weights or games.
    """
    rules, plays = get_rules(rules), list(plays)
    players: list[Player] = []
    for text in names:
        label, name = split_label(text)
        kind, colon, path = name.partition(":")
        if kind == HUMAN and colon:
            if label:
                check_label(label, HUMAN)
            players += _find_people(label or name, Path(path), rules, deals, say)
        else:
            find = find_isolated if isolate else find_players
            players += find([text], rules, plays, trust)
    check_distinct(players)
    return players


def _find_people(
    label: str, path: Path, rules: Rules, deals: Container[int], say: Callable[[str], None]
) -> list[Person]:
    """The persons whose games are in a file or folder."""
    files = (
        [path] if path.is_file() else sorted(each for form in _FILES for each in path.rglob(form))
    )
    found = [record for file in files for record in read_records(file)]
    if not found:
        raise FileNotFoundError(
            f"no games at {path}: JSON lines are expected, as `play` keeps them"
        )
    own = [record for record in found if get_rules(record.rules) == rules]
    if not own:
        others = ", ".join(sorted({record.rules for record in found}))
        raise ValueError(f"{path} has no games of {rules.name!r}: its games are of {others}")
    first: dict[str, dict[int, Record]] = collections.defaultdict(dict)
    for record in own:
        if record.deal is not None and record.deal in deals:
            first[record.player].setdefault(record.deal, record)
    if not first:
        raise ValueError(f"{path} has no games of the deals that are compared")
    common = set.intersection(*(set(games) for games in first.values()))
    if not common:
        raise ValueError(
            f"no deal of {path} was played by all of {', '.join(map(repr, sorted(first)))}: give "
            "each a file and a label, as in Ada=human:games/ada.jsonl"
        )
    people = []
    for number, name in enumerate(sorted(first)):
        games = tuple(replace(first[name][deal], player=label) for deal in sorted(common))
        digest = hashlib.sha256("\n".join(game.to_json() for game in games).encode()).hexdigest()
        seed = number if len(first) > 1 else None
        person = Person(label, f"{HUMAN}:{path}", BY_HAND, seed, "people", digest, played=games)
        people.append(person)
    say(_told(label, people, len(own)))
    return people


def _told(label: str, people: Sequence[Person], found: int) -> str:
    """Which games count, in a line."""
    games = [game for person in people for game in person.played]
    persons = f"{len(people)} persons, " if len(people) > 1 else ""
    text = f"{label}: {persons}{len(people[0].played):,} deals"
    notes = {
        "games left out (later attempts, deals not compared or not played by all)": found
        - len(games),
        "not played to the end": sum(game.result == "open" for game in games),
        "not won, as turned cards were taken back": sum(game.undone > 0 for game in games),
    }
    return "; ".join([text, *(f"{count:,} {what}" for what, count in notes.items() if count)])
