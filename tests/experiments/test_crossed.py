"""Intervals and p-values over seeds and deals: against scipy, at the ends, and by simulation."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from four_seasons_env.experiments.crossed import difference_of, holm, mean_of, rate_interval
from tests.helpers import ROOT, load


def test_one_seed_is_a_t_test() -> None:
    mine, other = np.random.default_rng(0).random((2, 1, 30))
    paired = stats.ttest_rel(mine[0], other[0])
    found = difference_of(mine, other)
    assert found.interval() == pytest.approx(tuple(paired.confidence_interval(0.95)))
    assert found.p_value() == pytest.approx(paired.pvalue)
    single = stats.ttest_1samp(mine[0], 0.0)
    assert mean_of(mine).interval() == pytest.approx(tuple(single.confidence_interval(0.95)))


def test_seeds_that_differ_widely_decide() -> None:
    """Where deals hardly matter, an interval over three seeds is Student's over their means."""
    rng = np.random.default_rng(1)
    table = np.array([[10.0], [20.0], [40.0]]) + rng.normal(0, 0.01, (3, 500))
    expected = stats.ttest_1samp(table.mean(axis=1), 0.0).confidence_interval(0.95)
    assert mean_of(table).interval() == pytest.approx(tuple(expected), rel=1e-3)


def test_p_is_below_five_percent_where_the_interval_leaves_out_zero() -> None:
    rng = np.random.default_rng(2)
    for shift in np.linspace(0, 0.2, 40):
        mine, other = (rng.random((3, 200)) < rate for rate in (0.4 + shift, 0.4))
        found = difference_of(mine.astype(float), other.astype(float))
        low, high = found.interval()
        assert (found.p_value() < 0.05) == (low > 0 or high < 0)


def test_results_without_variance() -> None:
    ones, zeros = np.ones((1, 4)), np.zeros((2, 4))
    assert difference_of(ones, zeros).p_value() == 2 * 0.5**4  # a sign test
    assert difference_of(ones, ones).p_value() == 1.0
    assert np.isnan(mean_of(np.ones((2, 1))).interval()).all()
    # Of two seeds that won all of five deals, nothing is known but that there were five deals.
    wilson = stats.binomtest(5, 5).proportion_ci(method="wilson")
    assert rate_interval(np.ones((2, 5))) == pytest.approx((wilson.low, wilson.high))


def test_holm() -> None:
    assert holm(np.array([0.04, np.nan, 0.01, 0.03])).tolist() == pytest.approx(
        [0.06, np.nan, 0.03, 0.06], nan_ok=True
    )
    assert holm(np.array([0.9, 0.8])).tolist() == [1.0, 1.0]


# --- simulation -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study() -> Any:
    return load(ROOT / "experiments/studies/intervals.py")


@pytest.mark.slow
@pytest.mark.parametrize("points", [0.0, 0.8, 1.6])
@pytest.mark.parametrize(("deals", "seeds"), [(1000, 3), (1000, 5), (10_000, 3), (10_000, 5)])
def test_intervals_hold_what_they_promise(
    study: Any, deals: int, seeds: int, points: float
) -> None:
    """Within the error of 500 trials: 0.01 for a coverage of 0.95 and for a size of 0.05."""
    found = study.simulate(500, seeds, deals, points)
    assert 0.92 <= found["coverage"] <= 0.99
    assert found["size"] <= 0.075
    assert found["power"] > (0.85 if seeds == 5 else 0.45)


@pytest.mark.slow
def test_one_seed_says_nothing_about_others(study: Any) -> None:
    found = study.simulate(1000, 1, 1000)
    assert 0.935 <= found["coverage"] <= 0.965 and found["size"] <= 0.065
    assert study.simulate(200, 1, 10_000, 1.6)["coverage"] < 0.7  # the caveat of one is needed


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("seeds", [1, 3])
def test_extreme_rates(study: Any, which: int, seeds: int) -> None:
    """Of a share of wins, or of losses, below one percent."""
    found = study.simulate(500, seeds, 1000, 0.0, study.RARE[which])
    assert found["coverage"] >= 0.92 and found["size"] <= 0.075


@pytest.mark.slow
def test_many_agents_that_are_equal(study: Any) -> None:
    """In at most 5% of tables, any of 17 agents seems to differ from the baseline."""
    assert study.any_found(200, 17) <= 0.08
