"""Regret: how much less often agents win small games than the best fair play would.

An opening's value is a mean over all orders of the unseen cards, and an agent plays one order. So
value less win, of one deal, says little; but its mean over deals is an unbiased estimate of the
regret, and taking the values of the very openings that were played leaves out the luck of those.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
from scipy import stats

from experiments.evaluation.ceiling import CEILING
from experiments.evaluation.openings import opening_of
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules, get_rules

BEST = "optimum"
"""Stands in an agent's place in the row of the best fair play."""


def summarise_optimum(rules: Rules, valued: pd.DataFrame) -> dict[str, float | int]:
    """The optimum of a game from the values of its openings (`experiments.optimum`).

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
    values: pd.DataFrame, played: pd.DataFrame, solved: pd.DataFrame
) -> pd.DataFrame:
    """A row for each agent under each rule set, and one for the optimum and one for the ceiling.

    Only deals count whose openings are valued. Columns: rules, cards, those of
    `summarise_optimum`, agent, deals, win_rate (of the optimum: the mean value of the openings of
    these deals), regret on these deals with its 95% interval (regret_low, regret_high).

    Args:
        values: of `experiments.optimum`, a row an opening.
        played: of `experiments.compare`, a row a game.
        solved: of `experiments.census`, a row a deal.
    """
    rows = []
    for name, valued in values.groupby("rules", sort=False):
        rules = get_rules(str(name))
        worth = {
            tuple(map(int, str(cards).split())): value
            for cards, value in zip(valued["cards"], valued["value"], strict=True)
        }
        about = {"rules": name, "cards": rules.cards, **summarise_optimum(rules, valued)}
        own = played[played["rules"] == name]
        offered = {
            deal: worth.get(opening_of(Game(rules, int(deal)).record[0], rules))
            for deal in own["deal"].unique()
        }
        best = pd.Series(offered, dtype=float).dropna()
        for agent, games in own.groupby("agent", sort=False):
            won = games.set_index("deal")["won"].reindex(best.index)
            rows.append(about | _row(str(agent), best, won.astype(float)))
        rows.append(about | _row(BEST, best, best))
        status = solved[solved["rules"] == name].set_index("deal")["status"]
        rows.append(
            about | _row(CEILING, best, (status == "won").reindex(best.index).astype(float))
        )
    return pd.DataFrame(rows)


def _row(agent: str, best: pd.Series, won: pd.Series) -> dict[str, object]:
    """What an agent wins, and its regret, of deals with the values of their openings."""
    regret = best - won
    low, high = (0.0, 0.0) if agent == BEST else _interval(regret)
    if agent != BEST and won.nunique() == 1:  # the luck of the stock has not shown
        seen = stats.binomtest(int(won.sum()), len(won)).proportion_ci()
        low, high = best.mean() - seen.high, best.mean() - seen.low
    row = {"agent": agent, "deals": len(best), "win_rate": won.mean(), "regret": regret.mean()}
    return row | {"regret_low": low, "regret_high": high}


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


def regret_as_text(summary: pd.DataFrame) -> pd.DataFrame:
    """The summary as cells of text: a row a game, a column an agent."""
    rows = []
    for name, found in summary.groupby("rules", sort=False):
        cells = {"rules": name, "deals": f"{found['deals'].iloc[0]:,}"}
        for _, row in found.iterrows():
            text = f"{100 * row['win_rate']:.2f}"
            if row["agent"] not in (BEST, CEILING):
                low, high = 100 * row["regret_low"], 100 * row["regret_high"]
                text += f", regret {100 * row['regret']:.2f} [{low:.2f}, {high:.2f}]"
            cells[str(row["agent"])] = text
        rows.append(cells)
    return pd.DataFrame(rows)
