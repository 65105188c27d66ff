"""People as players of a comparison: the games that they have played, `human:FOLDER`.

A person's first attempt at a deal counts, in the order of the files' names and lines. The player is
the one named in the records. Several persons count like the training seeds of an algorithm, so the
deals that all of them have played count. Unfinished games, and games in which
a turned card was taken back, do not count as won.
"""

from __future__ import annotations

import collections
import hashlib
import math
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.matches.players import (
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
"""How people play, in the column that says of agents whether they leave something to chance."""
_FILES = ("*.jsonl", "*.jsonl.gz")


@dataclass(frozen=True)
class Person(Player):
    """One person, with a recorded game for each deal."""

    games: tuple[Record, ...] = ()

    def play_games(
        self, rules: Rules, deals: Sequence[int], seed: int = 0
    ) -> tuple[pd.DataFrame, list[Record]]:
        """The recorded results and games of these deals."""
        by_deal = {each.deal: each for each in self.games}
        games = [by_deal[deal] for deal in deals]
        return results_of(games), games


def results_of(games: Sequence[Record]) -> pd.DataFrame:
    """The results of games: a row per game with deal, won, cards_up, moves, seconds.

    Seconds are missing where no times were recorded.
    """
    ends = [game.end for game in games]
    return pd.DataFrame(
        {
            "deal": [game.deal for game in games],
            "won": [end.won and not game.undone for game, end in zip(games, ends, strict=True)],
            "cards_up": [end.cards_up for end in ends],
            "moves": [len(game.moves) for game in games],
            "seconds": [round(game.times[-1], 2) if game.times else math.nan for game in games],
        }
    )


def find_all_players(
    names: Iterable[str],
    rules: str | Rules,
    plays: Iterable[str],
    trust: bool,
    deals: Container[int],
) -> list[Player]:
    """The players of a comparison under one rule set, people included; prints whose games count.

    Args:
        names: see `find_players`; and folders or files of people's games, "human:games" or
            "Ada=human:games/ada.jsonl".
        rules: the rule set.
        plays: ways in which trained networks are to play.
        trust: open zips.
        deals: those of the comparison.

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
            players += _find_people(label or name, Path(path), rules, deals)
        else:
            players += find_players([text], rules, plays, trust)
    check_distinct(players)
    return players


def _find_people(label: str, path: Path, rules: Rules, deals: Container[int]) -> list[Person]:
    """The persons whose games are in a file or folder."""
    files = (
        [path] if path.is_file() else sorted(each for form in _FILES for each in path.rglob(form))
    )
    found = [record for file in files for record in read_records(file)]
    if not found:
        raise FileNotFoundError(f"no games at {path}: `four-seasons play` writes JSON lines")
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
    common = sorted(set.intersection(*(set(games) for games in first.values())))
    if not common:
        raise ValueError(
            f"no deal of {path} was played by all of {', '.join(map(repr, sorted(first)))}: give "
            "each a file and a label, as in Ada=human:games/ada.jsonl"
        )
    people = []
    for number, name in enumerate(sorted(first)):
        games = tuple(replace(first[name][deal], player=label) for deal in common)
        digest = hashlib.sha256("\n".join(game.to_json() for game in games).encode()).hexdigest()
        people.append(
            Person(
                label,
                f"{HUMAN}:{path}",
                BY_HAND,
                train_seed=number if len(first) > 1 else None,
                kind="people",
                digest=digest,
                deals=tuple(common),
                games=games,
            )
        )
    persons = f"{len(people)} persons, " if len(people) > 1 else ""
    print(f"{label}: {persons}{len(common):,} of the compared deals, {len(own):,} games found")
    return people
