"""Simulate how often intervals hold the truth, and how often a difference is found where none is.

    python experiments/studies/intervals.py --out runs/coverage.csv

A game is won with log-odds that are the sum of four parts: a mean, a part of the training seed, a
part of the deal, and a rest. Two algorithms play the same deals with seeds of their own. The
intervals and p-values are those of `four_seasons_env.experiments.crossed`.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import tyro
from numpy.typing import NDArray
from scipy import special

from four_seasons_env.experiments.command_line import progress_bar
from four_seasons_env.experiments.crossed import difference_of, holm, rate_interval
from four_seasons_env.experiments.folders import measured_by, write_csv

Games = NDArray[np.float64]

DEALS = 2.0
"""Standard deviation of the deals, in log-odds of a win."""
REST = 0.7
"""That of how a seed plays a deal."""
COMMON = -0.2
"""Mean log-odds of algorithms that win somewhat less than half of the games."""
RARE = (-12.0, 9.0)
"""Of algorithms that win, or lose, less than one game in a hundred."""

_AVERAGE = np.random.default_rng(9).normal(0, np.hypot(DEALS, REST), 200_000)


def rate(mean: float) -> float:
    """The win rate of a seed of this log-odds."""
    return float(special.expit(mean + _AVERAGE).mean())


def played(rng: np.random.Generator, mean: float, spread: float, deals: Games, seeds: int) -> Games:
    """The results of an algorithm, 0 or 1, float64 of shape (seeds, deals)."""
    of_seeds = rng.normal(0, spread, (seeds, 1))
    odds = mean + of_seeds + deals + rng.normal(0, REST, (seeds, len(deals)))
    won: Games = (rng.random(odds.shape) < special.expit(odds)).astype(float)
    return won


def simulate(
    trials: int, seeds: int, deals: int, points: float = 0.0, mean: float = COMMON
) -> dict[str, float]:
    """How often an interval holds the truth, and how often a difference is found.

    Args:
        trials: repetitions.
        seeds: number of seeds of each algorithm.
        deals: number of deals.
        points: standard deviation of the seeds' win rates, in percentage points.
        mean: log-odds of the algorithm.

    Returns:
        coverage, of the win rate's interval; size, the share of differences that are found where
        there are none; and power, the same where the difference is five points.
    """
    rng = np.random.default_rng(0)
    slope = (rate(mean + 0.1) - rate(mean - 0.1)) / 0.2
    spread = points / 100 / slope
    truth = float(np.mean([rate(mean + each) for each in rng.normal(0, spread, 200)]))
    truth = truth if points else rate(mean)
    held = found = true = 0
    for _ in range(trials):
        of_deals = rng.normal(0, DEALS, deals)
        one, other = (played(rng, mean, spread, of_deals, seeds) for _ in range(2))
        better = played(rng, mean + 0.05 / slope, spread, of_deals, seeds)
        low, high = rate_interval(one)
        held += low <= truth <= high
        found += difference_of(one, other).p_value() < 0.05
        true += difference_of(better, one).p_value() < 0.05
    return {"coverage": held / trials, "size": found / trials, "power": true / trials}


def any_found(trials: int, agents: int, deals: int = 500) -> float:
    """The share of tables in which any of some agents, all equal, differs from the baseline."""
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(trials):
        of_deals = rng.normal(0, DEALS, deals)
        base, *others = (played(rng, COMMON, 0.0, of_deals, 1) for _ in range(agents + 1))
        p_values = np.array([difference_of(each, base).p_value() for each in others])
        wrong += holm(p_values).min() < 0.05
    return wrong / trials


def main(out: Path, trials: int = 8000) -> None:
    """Simulate all cases.

    Args:
        out: file of the rows.
        trials: repetitions of each case; half as many with 10,000 deals.
    """
    cases = [(k, n, sd, COMMON) for k in (1, 3, 5) for n in (1000, 10_000) for sd in (0, 0.8, 1.6)]
    cases += [(seeds, 1000, 0.0, mean) for mean in RARE for seeds in (1, 3)]
    rows: list[dict[str, float]] = []
    with progress_bar() as bar:
        for seeds, deals, points, mean in bar.track(cases, description="simulating"):
            count = trials if deals < 10_000 else max(trials // 2, 1)
            case = {"rate": rate(mean), "seeds": seeds, "deals": deals, "points": points}
            found = simulate(count, seeds, deals, points, mean)
            # Five points more or less than a rare win, or loss, is no small difference.
            power = found["power"] if mean == COMMON else np.nan
            rows.append(case | {"agents": 1} | found | {"power": power, "trials": count})
        for agents in (5, 17):
            size = any_found(max(trials // 4, 1), agents)
            case = {"rate": rate(COMMON), "seeds": 1, "deals": 500, "points": 0.0, "agents": agents}
            rows.append(case | {"size": size, "trials": max(trials // 4, 1)})
    write_csv(out, pd.DataFrame(rows).assign(**measured_by()))


if __name__ == "__main__":
    tyro.cli(main)
