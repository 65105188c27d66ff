"""The summary of results, number by number and cell by cell, against scipy and by hand."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from four_seasons_env.experiments.blocks import LUCK
from four_seasons_env.experiments.crossed import difference_of, mean_of, rate_interval
from four_seasons_env.experiments.summary import (
    adjust,
    by_seed,
    iqm_interval,
    peeking,
    summarise,
    summarise_seeds,
    what_is_certain,
    with_adjusted,
)
from four_seasons_env.experiments.tables import LUCK_PRINTED, as_text, to_print

BASE = ([1, 0, 0, 1, 0, 0], [52, 10, 20, 52, 12, 13])
OTHER = ([1, 1, 0, 1, 1, 0], [52, 52, 22, 52, 52, 11])


def played(agent: str, won: Any, cards: Any, seed: int | None = None) -> pd.DataFrame:
    """Results of deals 0, 1 ... with 10, 11 ... moves and 1, 2 ... milliseconds."""
    count = len(won)
    return pd.DataFrame(
        {
            "agent": agent,
            "play": "as given",
            "rules": "czarina",
            "train_seed": seed,
            "deal": range(count),
            "won": np.array(won, bool),
            "cards_up": cards,
            "moves": range(10, 10 + count),
            "seconds": 0.001 * np.arange(1, 1 + count),
        }
    )


def certain(results: pd.DataFrame, against: str = "heuristic") -> str:
    """The line below the table of a comparison."""
    return what_is_certain(summarise(results, against), summarise_seeds(results, against))


def row_of(results: pd.DataFrame, agent: str, against: str = "heuristic") -> pd.Series:
    return summarise(results, against).set_index("agent").loc[agent]


def test_each_number_of_a_row() -> None:
    results = pd.concat([played("heuristic", *BASE), played("greedy", *OTHER)])
    row = row_of(results, "greedy")
    assert (row["play"], row["rules"]) == ("as given", "czarina")
    assert (row["seeds"], row["deals"]) == (1, 6)
    assert row["win_rate"] == pytest.approx(4 / 6)
    wilson = stats.binomtest(4, 6).proportion_ci(method="wilson")
    assert (row["win_low"], row["win_high"]) == pytest.approx((wilson.low, wilson.high))
    assert row["iqm"] == pytest.approx(4 / 6)
    assert row[["iqm_low", "iqm_high"]].isna().all()
    assert row["cards_up"] == pytest.approx(np.mean(OTHER[1]))
    cards = np.array([OTHER[1]], float)
    ends = row["cards_low"], row["cards_high"]
    assert ends == pytest.approx(tuple(np.clip(mean_of(cards).interval(), 0, 52)))
    assert row["moves"] == pytest.approx(12.5)
    assert row["ms_per_move"] == pytest.approx(21 / 75)
    assert row["ms_per_game"] == pytest.approx(3.5)
    assert row["win_difference"] == pytest.approx(2 / 6)
    assert row["cards_difference"] == pytest.approx(np.mean(OTHER[1]) - np.mean(BASE[1]))
    for name, i in (("win", 0), ("cards", 1)):
        test = stats.ttest_rel(OTHER[i], BASE[i])
        ends = test.confidence_interval(0.95)
        most = (1, 52)[i]
        assert row[f"{name}_difference_low"] == pytest.approx(max(ends.low, -most))
        assert row[f"{name}_difference_high"] == pytest.approx(min(ends.high, most))
    assert row["p_value"] == row["p_holm"] == pytest.approx(stats.ttest_rel(OTHER[0], BASE[0])[1])
    base = row_of(results, "heuristic")
    assert base[["win_difference", "cards_difference", "p_value", "p_holm"]].isna().all()


def test_baseline_needs_the_same_deals() -> None:
    base, other = played("heuristic", *BASE), played("greedy", *OTHER)
    elsewhere = pd.concat([base.assign(rules="corners"), other])
    assert "win_difference" not in row_of(elsewhere, "greedy")
    assert "win_difference" not in row_of(pd.concat([base[:5], other]), "greedy")
    more = pd.concat([played("heuristic", [*BASE[0], 1], [*BASE[1], 52]), other])
    assert row_of(more, "greedy")["win_difference"] == pytest.approx(2 / 6)


def test_seeds_on_both_sides() -> None:
    """The difference from another baseline."""
    won = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 0]], float)
    base = np.array([[0, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]], float)
    mine = [played("mine", each, 10, seed) for seed, each in enumerate(won)]
    theirs = [played("PPO", each, 10, seed) for seed, each in enumerate(base)]
    results = pd.concat([*theirs, *mine, played("heuristic", *BASE)])
    row = row_of(results, "mine", against="PPO")
    assert row["against"] == "PPO"
    expected = difference_of(won, base)
    assert row["win_difference"] == expected.value == pytest.approx(8 / 12 - 1 / 12)
    assert row["p_value"] == expected.p_value()
    assert row["p_holm"] == 2 * expected.p_value()  # of two agents, the one with less chance
    low, high = expected.interval()
    assert (row["win_difference_low"], row["win_difference_high"]) == (low, min(high, 1.0))
    assert row_of(results, "heuristic", against="PPO")["win_difference"] == pytest.approx(3 / 12)
    assert np.isnan(row_of(results, "PPO", against="PPO")["win_difference"])
    assert "vs PPO [95%]" in as_text(summarise(results, "PPO"))
    line = certain(results, "PPO")
    assert line.startswith("6 deals: within chance of PPO: mine, heuristic; claims about")


def test_baseline_of_two_plays_is_deterministic() -> None:
    both = [played("a", *BASE).assign(play=play) for play in ("stochastic", "deterministic")]
    differences = summarise(pd.concat([*both, played("b", *OTHER)]), "a")["win_difference"]
    assert differences.tolist() == pytest.approx([0, np.nan, 1 / 3], nan_ok=True)


def test_seeds_together_and_alone() -> None:
    runs = [played("a", BASE[0], BASE[1], 3), played("a", OTHER[0], OTHER[1], 5)]
    results = pd.concat([*runs, played("heuristic", *BASE)])
    row = row_of(results, "a")
    assert row["seeds"] == 2
    assert row["win_rate"] == pytest.approx(0.5)
    table = np.array([BASE[0], OTHER[0]], float)
    assert (row["win_low"], row["win_high"]) == rate_interval(table)
    assert (row["iqm"], row["iqm_low"], row["iqm_high"]) == pytest.approx((0.5, 1 / 3, 2 / 3))
    assert row["p_value"] == difference_of(table, np.array([BASE[0]], float)).p_value()
    assert row["win_difference"] == pytest.approx(1 / 6)
    alone = summarise_seeds(results)
    assert alone["train_seed"].tolist()[:2] == [3, 5]
    assert alone["win_rate"].tolist() == pytest.approx([2 / 6, 4 / 6, 2 / 6])
    second = stats.ttest_rel(OTHER[0], BASE[0])[1]
    assert alone["p_value"].tolist()[:2] == pytest.approx([1.0, second])
    assert by_seed(pd.concat(runs), "cards_up").to_numpy().tolist() == [BASE[1], OTHER[1]]
    assert by_seed(runs[0], "won").to_numpy().dtype == np.float64


# --- as text --------------------------------------------------------------------------------------


def test_each_cell_of_a_summary() -> None:
    base = played("heuristic", [1, 1] + 18 * [0], [52, 52] + 18 * [12])
    results = pd.concat([played("greedy", 20 * [1], 20 * [10]), base])
    assert as_text(summarise(results)).to_dict("list") == {
        "agent": ["greedy", "heuristic"],
        "play": ["as given", "as given"],
        "won % [95%]": ["100.00 [83.89, 100.00]", "10.00 [2.79, 30.10]"],
        "vs heuristic [95%]": ["+90.00 [+75.59, +100.00]", "-"],
        "p (Holm)": ["< 0.0001", "-"],
        "cards up [95%]": ["10.0 [10.0, 10.0]", "16.0 [10.2, 21.8]"],
        "cards vs heuristic [95%]": ["-6.0 [-11.8, -0.2]", "-"],
        "CPU ms/move": ["0.538", "0.538"],
        "CPU ms/game": ["10.50", "10.50"],
    }


# --- over seeds -----------------------------------------------------------------------------------


def test_iqm_interval() -> None:
    rates = np.array([0.1, 0.4, 0.5, 0.6, 0.9, 0.95])
    rng = np.random.default_rng(0)
    means = [stats.trim_mean(rates[rng.integers(0, 6, 6)], 0.25) for _ in range(2000)]
    mean, low, high = iqm_interval(rates)
    assert mean == pytest.approx((0.4 + 0.5 + 0.6 + 0.9) / 4)
    assert (low, high) == pytest.approx(tuple(np.quantile(means, [0.025, 0.975])), abs=0.02)
    assert iqm_interval(np.array([0.2, 0.4]))[1:] == pytest.approx((0.2, 0.4))
    assert iqm_interval(np.array([0.3, 0.3])) == pytest.approx((0.3, 0.3, 0.3))


# --- how certain it is ----------------------------------------------------------------------------


def games(**won: np.ndarray) -> pd.DataFrame:
    return pd.concat([played(agent, each, 52 * each) for agent, each in won.items()])


def test_agents_within_chance_are_named() -> None:
    """By Holm's p: one of many that seems different may be so by chance."""
    rng = np.random.default_rng(0)
    base = rng.random(300) < 0.3
    trained = [rng.random(300) < rate for rate in (0.35, 0.45, 0.55)]
    runs = [games(a=won).assign(train_seed=seed) for seed, won in enumerate(trained)]
    several = certain(pd.concat([games(heuristic=base), *runs]))
    assert several.startswith("300 deals: within chance of heuristic: a; claims about an algorithm")
    assert several.endswith("5 training seeds or more, not 3")
    alone = certain(pd.concat([games(heuristic=base), runs[2]]))
    assert re.match(r"300 deals: all differ from heuristic; to find .* takes about [\d,]+", alone)
    assert alone.endswith(
        "one training seed says how its weights play, not how well its algorithm learns"
    )
    # A p of 0.03 is within chance where ten agents are compared.
    near = base.copy()
    near[np.flatnonzero(~base)[:9]] = True
    near[np.flatnonzero(base)[:1]] = False
    one, many = games(heuristic=base, near=near), {f"a{i}": base for i in range(9)}
    assert row_of(one, "near")["p_value"] < 0.05
    assert "all differ" in certain(one)
    assert "within chance of heuristic: near, a0" in certain(pd.concat([one, games(**many)]))


def test_one_agent_or_few_deals() -> None:
    line = certain(games(a=np.arange(100) % 2 == 0))
    assert line == (
        "100 deals: each win rate is known to within 9.6 points; "
        "to find a difference of 2 points takes about 4,700 deals"
    )
    one = games(a=np.ones(1, bool), heuristic=np.ones(1, bool))
    assert certain(one) == "1 deal: too few to distinguish any agents"
    two = games(a=np.arange(2) % 2 == 0)
    assert certain(two).startswith("2 deals: each win rate is known to within 41 points; ")


@pytest.mark.parametrize(
    ("deals", "target"), [(4000, "1 point"), (12_000, "0.5 points"), (60_000, "0.2 points")]
)
def test_the_difference_to_find_is_smaller_than_the_width(deals: int, target: str) -> None:
    won = {"a": np.arange(deals) % 2 == 0, "heuristic": np.arange(deals) % 100 < 1}
    assert f"to find a difference of {target} takes about" in certain(games(**won))


def test_rare_wins_have_no_adjusted_rate() -> None:
    """Its interval would be too narrow: with 0.1% of wins it holds the truth in 63% of trials."""
    rare = np.arange(400) < 9
    for won in rare, ~rare:
        results = played_results(400).assign(won=won)
        assert "adjusted" not in summarise(results) or summarise(results)["adjusted"].isna().all()
        assert summarise(results)["luck_z"].notna().all()
    for won in np.arange(400) < 10, np.arange(400) >= 10:
        assert summarise(played_results(400).assign(won=won))["adjusted"].notna().all()


def test_games_without_a_move_take_no_time_per_move() -> None:
    row = row_of(games(a=np.ones(3, bool)).assign(moves=0, seconds=0.0), "a")
    assert (row["moves"], row["ms_per_move"]) == (0, 0)


# --- luck -----------------------------------------------------------------------------------------


def played_results(count: int, seed: int = 0, share: float = 0.8) -> pd.DataFrame:
    """Results of a player whose wins depend on its luck."""
    rng = np.random.default_rng(seed)
    variance = rng.uniform(0.05, 0.15, count)
    luck = rng.normal(0, variance**0.5)
    won = rng.uniform(size=count) < np.clip(0.6 + share * luck, 0, 1)
    return played("a", won, 20).assign(train_seed=np.nan, luck=luck, luck_variance=variance)


def test_the_multiple_fits_other_deals():
    results = played_results(100)
    won = results["won"].to_numpy(float)
    luck = results["luck"].to_numpy()
    before = adjust(won, luck)
    won[7] = 1 - won[7]
    changed = np.flatnonzero(~np.isclose(adjust(won, luck), before))
    assert 7 in changed
    change = adjust(won, luck)[7] - before[7]
    assert change == pytest.approx(2 * won[7] - 1)  # its own multiple stays
    assert not {17, 27, 37} & set(changed)  # of the same fold


def test_few_games_or_equal_results_have_no_multiple():
    assert adjust(np.array([1.0, 0.0]), np.array([0.4, -0.2])) == pytest.approx([0.6, 0.2])
    assert adjust(np.ones(80), played_results(80)["luck"].to_numpy()) == pytest.approx(1)


def test_each_training_seed_has_its_own_multiples():
    runs = [played_results(95, seed).assign(train_seed=seed) for seed in range(2)]
    together = with_adjusted(pd.concat(runs, ignore_index=True))
    alone = pd.concat(map(with_adjusted, runs))
    assert together["adjusted"].tolist() == alone["adjusted"].tolist()


def test_summary_has_adjusted_rates_and_peeking():
    results = pd.concat(
        [played_results(400), played_results(400, 1, share=0.4).assign(agent="heuristic")],
        ignore_index=True,
    )
    summary = summarise(results)
    first = summary.iloc[0]
    assert first["adjusted_low"] < first["adjusted"] < first["adjusted_high"]
    assert first["adjusted_high"] - first["adjusted_low"] < first["win_high"] - first["win_low"]
    assert first["adjusted_difference"] == pytest.approx(
        first["adjusted"] - summary.iloc[1]["adjusted"]
    )
    assert "luck-adjusted vs heuristic [95%]" in as_text(summary)
    cells = to_print(summary, LUCK_PRINTED)
    assert list(cells) == ["agent", "won % luck-adjusted [95%]", "luck z (p)"]
    assert len(cells) == 2
    alone = results[:400].copy()
    alone.loc[3, list(LUCK)] = np.nan
    for incomplete in (alone, alone.drop(columns=list(LUCK))):
        assert "adjusted" not in summarise(incomplete)


def test_much_luck_has_a_small_p():
    played = played_results(500)
    z, p = peeking(played)
    assert z == pytest.approx(played["luck"].sum() / played["luck_variance"].sum() ** 0.5)
    assert p == pytest.approx(stats.norm.sf(z))
    assert peeking(played.assign(luck=played["luck"] + 0.1))[1] < 1e-6
    assert peeking(played.assign(luck=played["luck"] - 0.1))[1] > 0.999
    assert np.isnan(peeking(played.assign(luck=np.nan))[0])
    assert np.isnan(peeking(played.assign(luck=0.0, luck_variance=0.0))[1])
    # Of training seeds, the most extreme one counts.
    lucky = played.assign(luck=played["luck"] + 0.05, train_seed=0)
    other = played_results(500, 1).assign(train_seed=1)
    z, p = peeking(lucky)
    assert peeking(pd.concat([lucky, other])) == (z, pytest.approx(2 * p))
