"""Statistics of per-deal results: win rates with intervals, differences on the same deals, luck.

| question | method |
| --- | --- |
| win rate of one policy | Wilson's interval |
| mean over training seeds and deals | variance components of a crossed model (`crossed`) |
| difference of two agents on the same deals | the same, deal by deal; interval and p agree |
| which of many agents differ from the baseline? | Holm's p-values |
| a typical training run | interquartile mean, bootstrap over runs: Agarwal et al. 2021 |
| win rate with less luck | control variate, fitted by cross-fitting |
| did an agent know hidden cards? | z test of a martingale: its luck against its variance |

Claims about an algorithm need several training seeds (Agarwal et al., "Deep Reinforcement Learning
at the Edge of the Statistical Precipice", 2021).

`four_seasons_env.agents.planner.luck` defines luck. Its mean is zero for every fair player, so any
multiple of it may be subtracted from a result: it is a control variate. The multiple that leaves
the least variance is fitted on other deals than it corrects, so the corrected result keeps its
mean.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from four_seasons_env.experiments.crossed import (
    LEVEL,
    difference_of,
    holm,
    mean_of,
    rate_interval,
)

RESAMPLES = 2000
"""Of the training runs, for the interval of a typical one: 50 lie beyond each end."""

BASELINE = "heuristic"
"""Other agents are compared with this one, deal by deal, unless another is named."""

CEILING = "ceiling"
"""Name of the ceiling in the column of agents."""
OPTIMUM = "optimum"
"""Name of the best fair play of a small game there."""

_TARGETS = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)
"""Differences in points, for which the necessary number of deals is estimated."""

_FEW = 5
"""The number of training seeds that a claim about an algorithm needs."""

_POWER = 0.8
"""Chance of finding a difference, for which the necessary number of deals is estimated."""

FOLDS = 10
"""Parts of the deals; each is corrected with the multiple that fits the others."""
_FEWEST = 50
"""Fewest games to fit a multiple; with fewer, the multiple is 1."""
_RARE = 10
"""Wins and losses that a luck-adjusted rate needs: with fewer, its interval is too narrow."""
_NO_VARIANCE = 1e-12
"""Variances below this are rounding errors of a W that does not depend on the cards."""

_MEASURES = (
    ("win_rate", "win", "won", 1.0),
    ("cards_up", "cards", "cards_up", 52.0),
    ("adjusted", "adjusted", "adjusted", 1.0),
)
"""Columns of a summary: a mean, and the start of the names of its intervals; of results; and the
largest value."""


def summarise(results: pd.DataFrame, against: str = BASELINE) -> pd.DataFrame:
    """A row for each agent and way of playing under each rule set, in order of appearance.

    Args:
        results: a row per game.
        against: label of the baseline. If it has played both ways, its deterministic games count.

    Columns: agent, play, rules, seeds (training runs), deals, win_rate with its 95% interval
    (win_low, win_high), iqm with iqm_low, iqm_high (interquartile mean of the win rate over
    seeds), cards_up with cards_low, cards_high, moves, ms_per_move, ms_per_game (processor time);
    and, with the label of the baseline in `against`, on the same deals, win_difference and
    cards_difference with their intervals (_low, _high), p_value of the difference of win rates, and
    p_holm, which takes into account how many agents are compared with the baseline. The latter are
    missing for the baseline, and for agents if the baseline has not played all of their deals.

    If luck was measured: luck_z and luck_p (`peeking`), and, for agents with ten wins and ten
    losses or more, adjusted, the luck-adjusted win rate, with adjusted_low, adjusted_high and
    adjusted_difference.

    Intervals and p-values are those of `crossed`.

    Raises:
        ValueError: if the seeds of an agent have not played the same deals.
    """
    results = with_adjusted(results)
    summary = pd.DataFrame(
        _row(results, played, key, against)
        for key, played in results.groupby(["rules", "agent", "play"], sort=False)
    )
    if "p_value" in summary:
        by_rules = summary.groupby("rules")["p_value"]
        summary["p_holm"] = by_rules.transform(lambda column: holm(column.to_numpy(float)))
    return summary


def summarise_seeds(results: pd.DataFrame, against: str = BASELINE) -> pd.DataFrame:
    """The columns of `summarise`, with a row for each training run, `train_seed`."""
    results = with_adjusted(results)
    groups = results.groupby(["rules", "agent", "play", "train_seed"], sort=False, dropna=False)
    return pd.DataFrame(
        {"train_seed": seed} | _row(results, played, (rules, agent, play), against)
        for (rules, agent, play, seed), played in groups
    )


def _games_of_baseline(results: pd.DataFrame, against: str) -> pd.DataFrame:
    """The games of the baseline, played one way: deterministically, if it has played both."""
    games = results[results["agent"] == against]
    one_way: pd.DataFrame = games[games["play"] == games["play"].min()]
    return one_way


def _row(results: pd.DataFrame, played: pd.DataFrame, key: Any, against: str) -> dict[str, Any]:
    """A row of a summary: the games of one player, beside those of the baseline."""
    rules, agent, play = key
    won = by_seed(played, "won")
    seeds, deals = won.shape
    row = {"agent": agent, "play": play, "rules": rules, "seeds": seeds, "deals": deals}

    # 1. The baseline counts if it has played the same deals.
    base = _games_of_baseline(results[results["rules"] == rules], against)
    base = base[base["deal"].isin(won.columns)]
    is_itself = ((base["agent"] == agent) & (base["play"] == play)).any()
    is_compared = base["deal"].nunique() == deals and not is_itself

    # 2. Means with their intervals, and their differences from the baseline.
    for mean, name, column, largest in _MEASURES:
        if column not in played or played[column].isna().any():
            continue  # luck was not measured, or wins or losses are too few
        table = by_seed(played, column).to_numpy()
        ends = mean_of(table).interval() if name != "win" else rate_interval(table)
        row |= {mean: float(table.mean())} | _interval(name, ends, 0.0, largest)
        if is_compared and base[column].notna().all():
            difference = difference_of(table, by_seed(base, column).to_numpy())
            row[f"{name}_difference"] = difference.value
            row |= _interval(f"{name}_difference", difference.interval(), -largest, largest)
            if name == "win":
                row |= {"against": against, "p_value": difference.p_value()}

    # 3. A typical run, times, luck and the test.
    row["iqm"], row["iqm_low"], row["iqm_high"] = iqm_interval(won.to_numpy().mean(axis=1))
    row["moves"] = played["moves"].mean()
    row["ms_per_move"] = 1000 * played["seconds"].sum() / max(played["moves"].sum(), 1)
    row["ms_per_game"] = 1000 * played["seconds"].mean()
    if "luck" in played and played["luck"].notna().all():
        row["luck_z"], row["luck_p"] = peeking(played)
    return row


def _interval(name: str, ends: Sequence[float], least: float, largest: float) -> dict[str, float]:
    low, high = np.clip(ends, least, largest).tolist()
    return {f"{name}_low": low, f"{name}_high": high}


def by_seed(played: pd.DataFrame, column: str) -> pd.DataFrame:
    """One agent's results as a table of floats, a row per training seed and a column per deal.

    Raises:
        ValueError: if not all seeds have played all deals, or one has played a deal twice.
    """
    # An agent that was not trained has no seed, and a pivot would drop its rows.
    keyed = played.assign(train_seed=played["train_seed"].fillna(-1))
    table = keyed.pivot(index="train_seed", columns="deal", values=column).astype(float)
    if table.isna().to_numpy().any():
        agent = played["agent"].iloc[0]
        raise ValueError(f"the training seeds of {agent!r} did not play the same deals")
    return table


def labels(table: pd.DataFrame) -> list[str]:
    """A label for each row: the agent, and its way to play if the table has both."""
    both = table.groupby("agent")["play"].nunique() > 1
    return [
        f"{agent}, {play}" if both[agent] else str(agent)
        for agent, play in zip(table["agent"], table["play"], strict=True)
    ]


def what_is_certain(summary: pd.DataFrame, seeds: pd.DataFrame) -> str:
    """A sentence on the differences that the games of one rule set show, and the deals needed.

    Args:
        summary: rows of `summarise`; those of the best possible play do not count.
        seeds: the same for each training run (`summarise_seeds`).
    """
    rows = summary.dropna(subset="seeds")
    deals = int(rows["deals"].max())
    names: list[str] = [*rows["against"].dropna().unique()] if "against" in rows else []
    name = "win_difference" if names else "win"
    width = 50 * float((rows[f"{name}_high"] - rows[f"{name}_low"]).max())
    if deals == 1 or not width > 0:
        return f"{deals:,} deal{'s' * (deals != 1)}: too few to distinguish any agents"
    text = f"{deals:,} deals: each win rate is known to within {_points(float(f'{width:.2g}'))}"
    if names:
        chance = rows[rows["p_holm"] >= 1 - LEVEL]
        which = f"within chance of {names[0]}: {', '.join(labels(chance))}"
        text = f"{deals:,} deals: {which if len(chance) else f'all differ from {names[0]}'}"
    # The squared width falls as 1 / deals, except for the part of the training seeds. An interval
    # reaches to what is found every second time; power takes more.
    target = next((each for each in _TARGETS if each < width), None)
    if target is not None and rows["seeds"].max() == 1:
        more = 1 + stats.norm.ppf(_POWER) / stats.norm.ppf((1 + LEVEL) / 2)
        needed = int(float(f"{deals * (more * width / target) ** 2:.2g}"))
        text += f"; to find a difference of {_points(target)} takes about {needed:,} deals"
    return text + _caveat(seeds.dropna(subset="train_seed").groupby(["agent", "play"]).size())


def _caveat(seeds: pd.Series) -> str:
    """A warning of too few training seeds; "" if there are enough, or nothing was trained."""
    few = sorted({each for each in seeds if each < _FEW})
    if few == [1]:
        return "; one training seed says how its weights play, not how well its algorithm learns"
    if few:
        numbers = " or ".join(map(str, few))
        return f"; claims about an algorithm need {_FEW} training seeds or more, not {numbers}"
    return ""


def _points(number: float) -> str:
    return f"{number:g} point{'' if number == 1 else 's'}"


def with_adjusted(results: pd.DataFrame) -> pd.DataFrame:
    """Add the column `adjusted`, the luck-adjusted result of each game, if luck was measured.

    It is missing for agents with fewer than ten wins or losses.

    Args:
        results: a row per game; returned unchanged without a column `luck`.
    """
    if "luck" not in results:
        return results
    results = results.assign(adjusted=np.nan)
    players = results.groupby(["rules", "agent", "play", "train_seed"], sort=False, dropna=False)
    for _, played in players:
        wins = int(played["won"].sum())
        if played["luck"].notna().all() and min(wins, len(played) - wins) >= _RARE:
            won, luck = (played[name].to_numpy(np.float64) for name in ("won", "luck"))
            results.loc[played.index, "adjusted"] = adjust(won, luck)
    return results


def adjust(won: NDArray[np.float64], luck: NDArray[np.float64]) -> NDArray[np.float64]:
    """The luck-adjusted results of one player's games: luck is a control variate.

    Args:
        won: (games,), 0 or 1.
        luck: (games,), with mean zero for a fair player.

    Returns:
        float64 (games,), with the same expectation as ``won``.
    """
    # Luck is measured in chances of winning, so 1 is the multiple of a perfect measure.
    adjusted = won - luck
    if len(won) < _FEWEST:
        return adjusted
    # A multiple that was fitted on a game depends on its luck, and the product of both would not
    # have mean zero. So each fold takes the multiple of the nine others (cross-fitting).
    fold = np.arange(len(won)) % FOLDS
    for k in range(FOLDS):
        inside, outside = fold == k, fold != k
        # With an intercept: luck explains how results differ from their mean, not the mean.
        with_mean = np.column_stack([np.ones(outside.sum()), luck[outside]])
        _, multiple = np.linalg.lstsq(with_mean, won[outside])[0]
        adjusted[inside] = won[inside] - multiple * luck[inside]
    return adjusted


def peeking(played: pd.DataFrame) -> tuple[float, float]:
    """The test for peeking: whether a player had more luck than chance explains.

    Args:
        played: the games of one player; columns luck, luck_variance and train_seed.

    Returns:
        z, the sum of the luck over its standard deviation, and p, the probability that a fair
        player has at least as much. With several training seeds, the most extreme seed counts and p
        is multiplied by their number (Bonferroni), because they play the same deals. NaN if luck is
        missing or has no variance.
    """
    runs = played.groupby("train_seed", dropna=False)[["luck", "luck_variance"]].sum(min_count=1)
    variances = runs["luck_variance"]
    if not (variances > _NO_VARIANCE).all():
        return np.nan, np.nan
    # In fair play the luck of each turned card has mean zero given all before it, so the sum over
    # many cards is nearly normal (the central limit theorem for martingales).
    z = float((runs["luck"] / np.sqrt(variances)).max())
    return z, min(1.0, len(runs) * float(stats.norm.sf(z)))


def iqm_interval(rates: NDArray[np.float64]) -> tuple[float, float, float]:
    """The interquartile mean of the runs' results, and its 95% bootstrap interval over runs.

    The interval of a single run is NaN.
    """
    mean = float(stats.trim_mean(rates, 0.25))
    if len(rates) < 2:
        return mean, np.nan, np.nan
    runs = np.random.default_rng(0).choice(rates, (RESAMPLES, len(rates)))
    # The percentile interval (Efron and Tibshirani 1993, ch. 13).
    low, high = np.quantile(stats.trim_mean(runs, 0.25, axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return mean, float(low), float(high)
