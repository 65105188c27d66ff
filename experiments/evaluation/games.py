"""Games kept as moves beside the results of a block, so that others can replay them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd

from four_seasons_env.experiments.parallel.parts import (
    PartError,
    check_stamp,
    stamp_of,
    write_stamped,
)
from four_seasons_env.play.records import Record, to_lines


def results_of(games: Sequence[Record]) -> pd.DataFrame:
    """The results of games: a row a game with deal, won, cards_up, moves, seconds.

    Seconds are missing where no times were kept.
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


def games_of(part: Path) -> Path:
    """The file of games beside a result file."""
    return part.with_suffix(".jsonl.gz")


def write_games(part: Path, games: Iterable[Record], origin: str) -> None:
    """Write the games of a result file, with their stamp, before that file is written.

    What stood there of an earlier play counts as not written from now on.
    """
    games = list(games)
    stamp_of(part).unlink(missing_ok=True)
    write_stamped(games_of(part), to_lines(games), len(games), origin)


def has_games(part: Path, origin: str, say: Callable[[str], None] | None = None) -> bool:
    """Whether the games of a result file are there as they were written.

    Args:
        part: the result file.
        origin: the digest of what must have produced them.
        say: called with what is wrong with games that are there.
    """
    try:
        check_stamp(games_of(part), origin)
    except FileNotFoundError:
        return False
    except PartError as error:
        if say:
            say(f"{error}: its games are played again")
        return False
    return True
