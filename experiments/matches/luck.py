"""The luck of recorded games, as columns of results."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import pandas as pd

from four_seasons_env.agents.luck import LuckMeter
from four_seasons_env.engine.moves import find_move
from four_seasons_env.play.records import Record
from four_seasons_env.rules import Rules, get_rules

LUCK = ("luck", "luck_variance", "steep_luck", "opening_luck")
"""Columns of results.csv. Luck is that of all turned cards, with its exact variance for a fair
player; `steep_luck` is that by a power of W, which suits weak players; `opening_luck` is W of the
opening less its mean over training deals."""


@functools.lru_cache(maxsize=2)
def meter_for(rules: Rules) -> LuckMeter:
    """What measures the luck of games.

    Raises:
        FileNotFoundError: for a rule set without a planner.
    """
    return LuckMeter(rules)


def luck_of(games: Sequence[Record]) -> pd.DataFrame:
    """The columns `LUCK`, a row per game.

    Args:
        games: of one rule set.
    """
    return pd.DataFrame([_luck_of(game) for game in games], columns=list(LUCK), dtype=float)


def _luck_of(game: Record) -> tuple[float, ...]:
    rules, start = get_rules(game.rules), game.start().record
    meter = meter_for(rules)
    luck = meter.measure(start, [find_move(rules, move).number for move in game.moves])
    return luck.total, luck.variance, float(luck.steep.sum()), meter.opening(start)
