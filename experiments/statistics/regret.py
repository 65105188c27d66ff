"""Regret: how much less often agents win small games than the best fair play would.

What an agent's decisions cost in a game (`four_seasons_env.experiments.evaluation.regrets`), on
average over games.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
from scipy import stats

from four_seasons_env.experiments.evaluation.ceiling import CEILING
from four_seasons_env.experiments.evaluation.openings import opening_of
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules, get_rules

BEST = "optimum"
"""Stands in an agent's place in the row of the best fair play."""


def summarise_optimum(rules: Rules, valued: pd.DataFrame) -> dict[str, float | int]:
    """The optimum of a game from the values of its openings (`four-seasons optimum`).

    Returns:
        Of them all `openings`, how many are `valued`; `optimum`, their mean; `low` and `high`, its
        95% interval, which is a point where all openings are valued.
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
    values: pd.DataFrame,
    played: pd.DataFrame,
    weighed: pd.DataFrame,
    solved: pd.DataFrame,
    kinds: dict[str, str],
) -> pd.DataFrame:
    """A row for each agent under each rule set, and one for the optimum and one for the ceiling.

    Columns: rules, cards, those of `summarise_optimum`, positions and seconds that an opening took
    on average (the first take more than the later, which share what they find), agent, kind, deals,
    win_rate (of the optimum: the mean value of the openings of these deals), regret with its 95%
    interval (regret_low, regret_high; of the ceiling, which sees all: optimum less win rate).

    Args:
        values: of `four-seasons optimum`, a row an opening.
        played: a row a game with agent, deal and won, of deals whose openings are valued.
        weighed: a row a game with agent, deal and regret.
        solved: of `four-seasons census`, a row a deal.
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
        own, regrets = played[played["rules"] == name], weighed[weighed["rules"] == name]
        best = pd.Series(
            {
                deal: worth[opening_of(Game(rules, int(deal)).record[0], rules)]
                for deal in own["deal"].unique()
            }
        )
        for agent, games in own.groupby("agent", sort=False):
            told = about | {"agent": agent, "kind": kinds[str(agent)], "deals": len(games)}
            regret = regrets["regret"][regrets["agent"] == agent]
            rows.append(told | {"win_rate": games["won"].mean(), **_mean("regret", regret)})
        told = about | {"kind": "-", "deals": len(best)}
        rows.append(told | {"agent": BEST, "win_rate": best.mean(), **_exactly("regret", 0.0)})
        won = (solved["status"] == "won")[solved["rules"] == name]
        ahead = best.mean() - won.mean()
        rows.append(told | {"agent": CEILING, "win_rate": won.mean(), **_exactly("regret", ahead)})
    return pd.DataFrame(rows)


def _mean(name: str, values: pd.Series) -> dict[str, float]:
    """A mean with its 95% interval, as columns."""
    low, high = _interval(values)
    return {name: float(values.mean()), f"{name}_low": max(0.0, low), f"{name}_high": high}


def _exactly(name: str, value: float) -> dict[str, float]:
    """A number without an interval, in the same columns."""
    return {name: value, f"{name}_low": value, f"{name}_high": value}


def _interval(values: pd.Series) -> tuple[float, float]:
    """The 95% interval of a mean; where all values are one, that of what was not seen once."""
    mean = float(values.mean())
    if values.nunique() == 1:
        unseen = float(stats.binomtest(0, len(values)).proportion_ci().high)
        return (mean - unseen, mean) if mean == 1 else (mean, mean + unseen)
    spread = stats.ttest_1samp(values, 0).confidence_interval()
    return float(spread.low), float(spread.high)


def optimum_as_text(row: pd.Series) -> str:
    """An optimum in percent, with its interval where openings were drawn."""
    text = f"{100 * row['optimum']:.3f}"
    if row["valued"] < row["openings"]:
        text += f" [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
    return text


def regret_as_text(summary: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The summary as cells of text: games won, and regret; a row an agent, a column a game."""
    won, regret = [], []
    for agent, found in summary.groupby("agent", sort=False):
        told = {"agent": str(agent), "made of": str(found["kind"].iloc[0])}
        games = found.set_index("rules")
        won.append(told | {name: f"{100 * row['win_rate']:.1f}" for name, row in games.iterrows()})
        if agent not in (BEST, CEILING):
            regret.append(told | {name: _regret_cell(row) for name, row in games.iterrows()})
    return pd.DataFrame(won), pd.DataFrame(regret)


def _regret_cell(row: pd.Series) -> str:
    low, high = 100 * row["regret_low"], 100 * row["regret_high"]
    return f"{100 * row['regret']:.2f} [{low:.2f}, {high:.2f}]"
