"""Regret: how much less often agents win small games than the best fair play.

`four_seasons_env.experiments.matches.exact_values` gives the regret of one game.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import comb

import numpy as np
import pandas as pd
from scipy import stats

from four_seasons_env.experiments.matches.ceiling import CEILING
from four_seasons_env.experiments.matches.openings import opening_of
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules, get_rules

BEST = "optimum"
"""Name of the row of the best fair play."""


def summarise_optimum(rules: Rules, valued: pd.DataFrame) -> dict[str, float | int]:
    """The optimum of a game from the values of its openings (`four-seasons optimum`).

    Returns:
        The number of `openings`, how many of them are `valued`, `optimum`, their mean value, and
        `low` and `high`, its 95% interval: a point if all openings are valued.
    """
    every, drawn = comb(rules.cards - 1, rules.piles), int(valued["alike"].sum())
    values = pd.Series(np.repeat(valued["value"].to_numpy(), valued["alike"].to_numpy()))
    mean = float(values.mean())
    low, high = (mean, mean) if drawn == every else _interval(values)
    return {
        "openings": every,
        "valued": drawn,
        "optimum": mean,
        "low": max(0.0, low),
        "high": min(1.0, high),
    }


def summarise_regret(
    values: pd.DataFrame, played: pd.DataFrame, kinds: Mapping[str, str]
) -> pd.DataFrame:
    """A row for each agent under each rule set, one for the optimum, and one for the ceiling.

    Columns: rules, cards, those of `summarise_optimum`, mean positions and seconds of an opening
    (later openings take less than the first, as they share its results), agent, kind, deals,
    win_rate (of the optimum: the mean value of the openings of these deals), and regret with its
    95% interval, regret_low and regret_high. The regret of the ceiling, which sees all cards, is
    the win rate of the optimum less its own.

    Args:
        values: a row an opening; see `four_seasons_env.experiments.optimum.COLUMNS`.
        played: one row per game; columns rules, agent, deal, won, regret, and winnable, whether the
            true deal can be won.
        kinds: what each agent's play consists of.
    """
    rows = []
    for name, valued in values.groupby("rules", sort=False):
        rules = get_rules(str(name))
        worth = {
            tuple(map(int, str(cards).split())): value
            for cards, value in zip(valued["cards"], valued["value"], strict=True)
        }
        about = {"rules": name, "cards": rules.cards, **summarise_optimum(rules, valued)}
        about |= {"positions": valued["nodes"].mean(), "seconds": valued["seconds"].mean()}
        own = played[played["rules"] == name]
        for agent, games in own.groupby("agent", sort=False):
            row = about | {"agent": agent, "kind": kinds[str(agent)], "deals": len(games)}
            rows.append(row | {"win_rate": games["won"].mean(), **_mean(games["regret"])})
        deals = own.drop_duplicates("deal")
        best = np.mean(
            [worth[opening_of(Game(rules, int(deal)).record[0], rules)] for deal in deals["deal"]]
        )
        row, winnable = about | {"kind": "-", "deals": len(deals)}, deals["winnable"].mean()
        rows.append(row | {"agent": BEST, "win_rate": best, **_exactly(0.0)})
        rows.append(row | {"agent": CEILING, "win_rate": winnable, **_exactly(best - winnable)})
    return pd.DataFrame(rows)


def _mean(values: pd.Series) -> dict[str, float]:
    """A mean regret with its 95% interval, as columns."""
    low, high = _interval(values)
    return {"regret": float(values.mean()), "regret_low": max(0.0, low), "regret_high": high}


def _exactly(value: float) -> dict[str, float]:
    """A regret without an interval, in the same columns."""
    return {"regret": value, "regret_low": value, "regret_high": value}


def _interval(values: pd.Series) -> tuple[float, float]:
    """The 95% interval of a mean; if all values are equal, that of an event never observed."""
    mean = float(values.mean())
    if values.nunique() == 1:
        unseen = float(stats.binomtest(0, len(values)).proportion_ci().high)
        return (mean - unseen, mean) if mean == 1 else (mean, mean + unseen)
    spread = stats.ttest_1samp(values, 0).confidence_interval()
    return float(spread.low), float(spread.high)


def regret_as_text(summary: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The summary as text: games won, and regret; one row per agent, one column per game."""
    won, regret = [], []
    for agent, found in summary.groupby("agent", sort=False):
        row = {"agent": str(agent), "method": str(found["kind"].iloc[0])}
        games = found.set_index("rules")
        won.append(row | {name: f"{100 * each['win_rate']:.1f}" for name, each in games.iterrows()})
        if agent not in (BEST, CEILING):
            regret.append(row | {name: _regret_cell(each) for name, each in games.iterrows()})
    return pd.DataFrame(won), pd.DataFrame(regret)


def _regret_cell(row: pd.Series) -> str:
    low, high = 100 * row["regret_low"], 100 * row["regret_high"]
    return f"{100 * row['regret']:.2f} [{low:.2f}, {high:.2f}]"
