"""The luck of recorded games, as columns of results."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import pandas as pd

from four_seasons_env.agents.luck import LuckMeter
from four_seasons_env.records import Record
from four_seasons_env.rules import Rules, get_rules

LUCK = ("luck", "luck_variance")
"""Columns of results.csv: luck of all turned cards, and its variance for a fair player."""


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
    return pd.DataFrame(measured, columns=list(LUCK), dtype=float)
