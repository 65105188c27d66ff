"""Statistics of per-deal results: win rates with intervals, differences on the same deals.

Claims about an algorithm need several training seeds. The interquartile mean over runs, with a
bootstrap interval over runs, follows Agarwal et al., "Deep Reinforcement Learning at the Edge of
the Statistical Precipice" (2021). Means over runs *and* deals get the bootstrap of Owen, "The
pigeonhole bootstrap" (2007), which resamples both: all seeds play the same deals, so the games are
not independent.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from four_seasons_env.experiments.results.luck import luck_columns, with_adjusted

RESAMPLES = 2000
LEVEL = 0.95

BASELINE = "heuristic"
"""Other agents are compared with this one, deal by deal."""


def summarise(results: pd.DataFrame, baseline: str = BASELINE) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set, in order of appearance.

    Columns: agent, play, rules, seeds (training runs), deals, win_rate with its 95% interval
    (win_low, win_high), iqm with iqm_low, iqm_high (interquartile mean of the win rate over
    seeds), cards_up with cards_low, cards_high, moves, ms_per_move, ms_per_game; and, against the
    baseline on the same deals, win_difference and cards_difference with their intervals (_low,
    _high), and p_value (exact McNemar test; the largest of several seeds). The latter are missing
    for the baseline, and for agents if the baseline has not played all of their deals.

    If luck was measured: adjusted, the luck-adjusted win rate, with adjusted_low, adjusted_high and
    adjusted_difference, and equivalent_deals, luck_z and luck_p
    (`four_seasons_env.experiments.results.luck`).

    The interval of a win rate is Wilson's for one policy, and from the crossed bootstrap
    (`crossed_interval`) for several training seeds. Cards up and differences always use the latter.

    Raises:
        ValueError: if the seeds of an agent have not played the same deals.
    """
    results = with_adjusted(results)
    return pd.DataFrame(
        _row(results, played, key, baseline)
        for key, played in results.groupby(["rules", "agent", "play"], sort=False)
    )


def summarise_seeds(results: pd.DataFrame, baseline: str = BASELINE) -> pd.DataFrame:
    """The columns of `summarise`, with a row for each training run, `train_seed`."""
    results = with_adjusted(results)
    groups = results.groupby(["rules", "agent", "play", "train_seed"], sort=False, dropna=False)
    return pd.DataFrame(
        {"train_seed": seed} | _row(results, played, (rules, agent, play), baseline)
        for (rules, agent, play, seed), played in groups
    )


def _row(results: pd.DataFrame, played: pd.DataFrame, key: Any, baseline: str) -> dict[str, Any]:
    rules, agent, play = key
    won, cards = by_seed(played, "won"), by_seed(played, "cards_up")
    seeds, deals = won.shape
    if seeds == 1:
        wilson = stats.binomtest(int(won.to_numpy().sum()), deals).proportion_ci(method="wilson")
        win_interval = (wilson.low, wilson.high)
    else:
        win_interval = crossed_interval(won.to_numpy())
    row: dict[str, Any] = {
        "agent": agent,
        "play": play,
        "rules": rules,
        "seeds": seeds,
        "deals": deals,
        "win_rate": float(won.to_numpy().mean()),
        **_interval("win", win_interval),
    }
    row["iqm"], row["iqm_low"], row["iqm_high"] = iqm_interval(won.to_numpy().mean(axis=1))
    row |= {
        "cards_up": float(cards.to_numpy().mean()),
        **_interval("cards", crossed_interval(cards.to_numpy())),
        "moves": played["moves"].mean(),
        "ms_per_move": 1000 * played["seconds"].sum() / max(played["moves"].sum(), 1),
        "ms_per_game": 1000 * played["seconds"].mean(),
    }
    adjusted = None
    if "adjusted" in played and played["adjusted"].notna().all():
        adjusted = by_seed(played, "adjusted")
        row |= luck_columns(played)
        row |= _interval("adjusted", crossed_interval(adjusted.to_numpy()))
    others = results[(results["rules"] == rules) & (results["agent"] == baseline)]
    if agent != baseline and set(won.columns) <= set(others["deal"]):
        base = others.set_index("deal").loc[won.columns]
        row |= _against(won, base["won"].to_numpy(np.float64), "win")
        row |= _against(cards, base["cards_up"].to_numpy(np.float64), "cards")
        if adjusted is not None:
            row |= _against(adjusted, base["adjusted"].to_numpy(np.float64), "adjusted")
        row["p_value"] = max(
            mcnemar(run, base["won"].to_numpy(np.float64)) for run in won.to_numpy()
        )
    return row


def labels(table: pd.DataFrame) -> list[str]:
    """A label for each row: the agent, and its way to play if the table has both."""
    both = table.groupby("agent")["play"].nunique() > 1
    return [
        f"{agent}, {play}" if both[agent] else str(agent)
        for agent, play in zip(table["agent"], table["play"], strict=True)
    ]


def by_seed(played: pd.DataFrame, column: str) -> pd.DataFrame:
    """One agent's results as a table of floats, a row per training seed and a column per deal.

    Raises:
        ValueError: if not all seeds have played all deals, or one has played a deal twice.
    """
    keyed = played.assign(train_seed=played["train_seed"].fillna(-1))
    table = keyed.pivot(index="train_seed", columns="deal", values=column).astype(float)
    if table.isna().to_numpy().any():
        raise ValueError(f"the training seeds of {played['agent'].iloc[0]!r} played unlike deals")
    return table


def _interval(name: str, ends: tuple[float, float]) -> dict[str, float]:
    return {f"{name}_low": float(ends[0]), f"{name}_high": float(ends[1])}


def _against(table: pd.DataFrame, base: NDArray[np.float64], name: str) -> dict[str, float]:
    """Mean difference to the baseline, deal by deal, with its interval."""
    difference = table.to_numpy() - base
    ends = crossed_interval(difference)
    return {f"{name}_difference": float(difference.mean()), **_interval(f"{name}_difference", ends)}


def mcnemar(won: NDArray[np.float64], base: NDArray[np.float64]) -> float:
    """The p-value of the exact, two-sided McNemar test of two policies on the same deals."""
    only_here, only_there = int((won > base).sum()), int((won < base).sum())
    if not only_here + only_there:
        return 1.0
    return float(stats.binomtest(only_here, only_here + only_there).pvalue)


def crossed_interval(table: NDArray[np.float64]) -> tuple[float, float]:
    """A 95% percentile interval of a table's mean, whose rows and columns are both samples.

    Args:
        table: float64 of shape (seeds, deals). One seed makes it the plain bootstrap over deals.
    """
    return middle(resampled_means(table))


def middle(means: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of the middle 95%."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return float(low), float(high)


def resampled_means(table: NDArray[np.float64], number: int = 1) -> NDArray[np.float64]:
    """The mean of a table in each resample of its rows and columns; float64 (RESAMPLES,).

    Args:
        table: float64 of shape (seeds, deals).
        number: of the random rows; tables with as many deals always share the random columns.
    """
    seeds, deals = table.shape
    rng = np.random.default_rng(number)
    rows = rng.multinomial(seeds, np.full(seeds, 1 / seeds), RESAMPLES) / seeds
    means: NDArray[np.float64] = ((table @ _draws(deals).T).T * rows).sum(axis=1)
    return means


@functools.lru_cache(maxsize=4)
def _draws(deals: int) -> NDArray[np.float64]:
    """The weight of each deal in each resample; float64 (RESAMPLES, deals), rows sum to 1."""
    rng = np.random.default_rng(0)
    counts = [np.bincount(rng.integers(0, deals, deals), minlength=deals) for _ in range(RESAMPLES)]
    return np.array(counts) / deals


def interquartile_mean(values: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """The mean of the middle half."""
    mean: NDArray[np.float64] = stats.trim_mean(values, 0.25, axis=axis)
    return mean


def iqm_interval(rates: NDArray[np.float64]) -> tuple[float, float, float]:
    """The interquartile mean of the runs' results, and its 95% bootstrap interval over runs.

    The interval of a single run is NaN.
    """
    mean = float(interquartile_mean(rates))
    if len(rates) < 2:
        return mean, np.nan, np.nan
    if np.ptp(rates) == 0:
        return mean, mean, mean
    found = stats.bootstrap(
        (rates,),
        interquartile_mean,
        n_resamples=RESAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return mean, float(found.low), float(found.high)


def ranked(summary: pd.DataFrame) -> pd.DataFrame:
    """The rows of one rule set, the highest win rate first."""
    return summary.sort_values("win_rate", ascending=False, kind="stable")
