"""How certain a comparison is: the line below its table, and playing until it is certain enough."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.experiments import compare
from four_seasons_env.experiments.compare import Compare, play_until_resolved
from four_seasons_env.experiments.matches.results import read_manifest
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.statistics.certainty import (
    confidence_sequence,
    sequential_intervals,
    what_is_certain,
)


def games(**won: np.ndarray) -> pd.DataFrame:
    rows = [
        {"rules": "r", "agent": agent, "play": "p", "train_seed": None, "deal": deal, "won": each}
        for agent, all_won in won.items()
        for deal, each in enumerate(all_won)
    ]
    return pd.DataFrame(rows)


def test_the_line_says_what_so_many_deals_can_tell_apart() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 200)) < 0.5
    line = what_is_certain(games(a=first, b=second))
    spread = np.std(first.astype(float) - second, ddof=1)
    width = 196 * spread / np.sqrt(200)
    assert line.startswith(f"200 deals: differences under {width:.2g} points are within chance")
    assert line.endswith(
        f"resolving 2 points takes about {float(f'{200 * (width / 2) ** 2:.2g}'):,.0f} deals"
    )


def test_the_line_of_one_agent_and_of_too_few_deals() -> None:
    line = what_is_certain(games(a=np.arange(100) % 2 == 0))
    assert line.startswith("100 deals: the win rate is known to within 9.8 points; resolving 2")
    assert what_is_certain(games(a=np.ones(1, bool), b=np.ones(1, bool))).endswith(
        "too few to distinguish any agents"
    )
    many = games(a=np.arange(40_000) % 2 == 0, b=np.arange(40_000) % 4 < 2)
    assert "differences under 0.69 points" in what_is_certain(many)
    assert "resolving 0.5 points" in what_is_certain(many)


@pytest.mark.parametrize("mean", [0.0, 0.95])
def test_confidence_sequence_holds_at_all_deals(mean: float) -> None:
    """Of 300 comparisons stopped when it suits best, at most 5% miss the mean."""
    rng = np.random.default_rng(1)
    chances = [(1 - mean) / 2 * 0.6, 1 - (1 - mean) * 0.6 - mean, (1 - mean) / 2 * 0.6 + mean]
    missed = 0
    for _ in range(300):
        low, high = confidence_sequence(rng.choice([-1.0, 0.0, 1.0], 2000, p=chances), 5)
        missed += not low <= mean <= high  # the ends are those of the worst time to stop
    assert missed <= 15


def test_differences_are_to_the_heuristic_or_to_the_first() -> None:
    won = np.arange(50) % 2 == 0
    table = sequential_intervals(games(a=won, heuristic=~won, b=won), 5)
    assert table[["agent", "baseline"]].to_numpy().tolist() == [
        ["a", "heuristic"],
        ["b", "heuristic"],
    ]
    assert table["difference"].tolist() == [0, 0]
    assert sequential_intervals(games(a=won, b=won), 5)["baseline"].tolist() == ["a"]


def test_a_comparison_plays_until_it_is_resolved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare, "BLOCK", 50)
    run = Compare(
        tmp_path, ["random", "greedy", "heuristic"], deals="10000-10399", workers=Workers(n_jobs=1)
    )
    run.resolve = 16
    results = play_until_resolved(run)
    played = results["deal"].nunique()
    assert 50 < played < 400
    assert played % 50 == 0
    assert read_manifest(tmp_path).deals == f"10000-{10_000 + played - 1}"
    again = play_until_resolved(run)
    pd.testing.assert_frame_equal(again, results)
    run.resolve = 0.1
    assert play_until_resolved(run)["deal"].nunique() == 400
    run.deals = "sealed:10"
    with pytest.raises(ValueError, match="plays a range"):
        play_until_resolved(run)
    run.resolve = -1
    with pytest.raises(ValueError, match="more than 0"):
        compare.compare(run)
