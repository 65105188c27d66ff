"""Statistics over training seeds, against hand-made cases and scipy's own bootstrap."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from four_seasons_env.experiments.statistics.summary import (
    crossed_interval,
    improvement,
    improvements,
    interquartile_mean,
    iqm_interval,
    labels,
    mcnemar,
    summarise,
    summarise_seeds,
    wins_by_label,
)


def table_of(runs: dict[tuple[str, str, int | None], list[int]]) -> pd.DataFrame:
    """Results of runs: agent, play and training seed, and which deals were won."""
    parts = [
        pd.DataFrame({"deal": range(len(won)), "won": np.array(won, bool)}).assign(
            agent=agent,
            play=play,
            rules="r",
            train_seed=seed,
            cards_up=[52 if each else 10 for each in won],
            moves=10,
            seconds=0.001,
        )
        for (agent, play, seed), won in runs.items()
    ]
    return pd.concat(parts, ignore_index=True)


HALF = [1, 0] * 50
RUNS = {
    ("heuristic", "deterministic", None): HALF,
    ("ppo", "deterministic", 0): [1] * 60 + [0] * 40,
    ("ppo", "deterministic", 1): [1] * 70 + [0] * 30,
    ("ppo", "stochastic", 0): [1] * 40 + [0] * 60,
    ("ppo", "stochastic", 1): [1] * 20 + [0] * 80,
    ("dqn", "deterministic", 0): [1] * 65 + [0] * 35,
}


def test_interquartile_mean_leaves_out_the_ends() -> None:
    assert interquartile_mean(np.array([0.0, 0.4, 0.5, 0.6, 100.0])) == pytest.approx(0.5)
    mean, low, high = iqm_interval(np.array([0.1, 0.4, 0.5, 0.6, 0.9]))
    assert mean == pytest.approx(0.5)
    assert 0.1 <= low < 0.5 < high <= 0.9
    assert iqm_interval(np.array([0.3]))[0] == pytest.approx(0.3)
    assert np.isnan(iqm_interval(np.array([0.3]))[1])
    assert iqm_interval(np.array([0.3, 0.3])) == (pytest.approx(0.3),) * 3


def test_one_seed_gets_the_bootstrap_over_deals() -> None:
    values = np.random.default_rng(3).normal(size=400)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    low, high = crossed_interval(values[None, :])
    assert (low, high) == (
        pytest.approx(expected.low, abs=0.01),
        pytest.approx(expected.high, abs=0.01),
    )


def test_the_crossed_interval_counts_the_spread_of_seeds_and_of_deals() -> None:
    rng = np.random.default_rng(0)
    deals = rng.normal(size=(1, 2000))
    narrow = crossed_interval(np.repeat(deals, 5, axis=0))  # as if all seeds were one
    alone = crossed_interval(deals)
    assert np.ptp(narrow) == pytest.approx(np.ptp(alone), rel=0.1)
    seeds = np.array([[-1.0], [-0.5], [0.0], [0.5], [1.0]])
    wide = crossed_interval(deals + seeds)
    # Variances add: that of the mean of five seeds, and that of the mean of 2,000 deals.
    sd = np.sqrt(seeds.var() / 5 + deals.var() / 2000)
    assert np.ptp(wide) == pytest.approx(2 * 1.96 * sd, rel=0.1)


def test_probability_of_improvement_counts_pairs_of_runs() -> None:
    better, worse = np.array([0.3, 0.4, 0.5]), np.array([0.1, 0.35])
    share, low, high = improvement(better, worse)
    assert share == pytest.approx(5 / 6)
    assert 0 <= low <= share <= high <= 1
    assert improvement(better, better)[0] == pytest.approx(0.5)
    assert improvement(better, np.array([0.2])) == (1.0, 1.0, 1.0)
    assert np.isnan(improvement(better[:1], worse[:1])[1])


def test_summary_over_seeds() -> None:
    results = table_of(RUNS)
    summary = summarise(results).set_index(["agent", "play"])
    row = summary.loc[("ppo", "deterministic")]
    assert (row["seeds"], row["deals"]) == (2, 100)
    assert row["win_rate"] == pytest.approx(0.65)
    assert row["iqm"] == pytest.approx(0.65)
    assert row["win_low"] < 0.6
    assert row["win_high"] > 0.7
    assert row["win_difference"] == pytest.approx(0.15)
    assert row["cards_difference"] == pytest.approx(0.15 * 42)
    per_seed = summarise_seeds(results)
    runs = per_seed[(per_seed["agent"] == "ppo") & (per_seed["play"] == "deterministic")]
    assert runs["win_rate"].tolist() == [0.6, 0.7]
    assert row["p_value"] == runs["p_value"].max()
    # By hand: seed 0 alone won the 30 odd deals below 60, the baseline the 20 even ones above.
    assert runs["p_value"].iloc[0] == pytest.approx(stats.binomtest(30, 50).pvalue)
    assert mcnemar(np.array(HALF, float), np.array(HALF, float)) == 1.0


def test_seeds_that_played_unlike_deals_are_refused() -> None:
    results = table_of(RUNS)
    gone = (results["agent"] == "ppo") & (results["train_seed"] == 1) & (results["deal"] == 7)
    with pytest.raises(ValueError, match="seeds of 'ppo' played unlike deals"):
        summarise(results[~gone])


def test_improvements_name_the_better_first() -> None:
    pairs = improvements(table_of(RUNS))
    told = {(row["first"], row["second"]): row["probability"] for _, row in pairs.iterrows()}
    assert told[("ppo, deterministic", "ppo, stochastic")] == 1.0
    assert told[("ppo, deterministic", "heuristic, deterministic")] == 1.0
    assert told[("heuristic, deterministic", "ppo, stochastic")] == 1.0
    assert ("dqn, deterministic", "heuristic, deterministic") not in told, "one run each"


def test_labels_and_shared_deals() -> None:
    results = table_of(RUNS)
    assert set(labels(results)) == {"heuristic", "ppo, deterministic", "ppo, stochastic", "dqn"}
    won = wins_by_label(results)
    assert won.shape == (100, 4)
    assert won["ppo, stochastic"].sum() == 40  # half of the seeds is enough
    assert won["heuristic"].sum() == 50
    assert won.all(axis=1).sum() == 20
