"""Luck-adjusted results, and the test for peeking, in compare, verify and report."""

import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from four_seasons_env.agents.names import make_agent
from four_seasons_env.agents.planner.luck import LuckMeter, game_luck
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.compare import Compare, compare, play_all
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.matches.task import LUCK, meter_for
from four_seasons_env.experiments.parallel.pool import Workers
from four_seasons_env.experiments.report import Report, report
from four_seasons_env.experiments.reporting.cells import luck_as_text
from four_seasons_env.experiments.results.comparison import COLUMNS, read_manifest
from four_seasons_env.experiments.results.summary import (
    adjust,
    equivalent_deals,
    peeking,
    summarise,
    with_adjusted,
)
from four_seasons_env.experiments.results.tables import read_table, write_csv
from four_seasons_env.experiments.studies.peeking import (
    RULE_SET,
    Peeker,
    Strategy,
    all_cards,
    any_card,
    play_and_measure,
)
from four_seasons_env.experiments.verify import Verify, verify
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from tests.helpers import ROOT, small

ALONE = Workers(n_jobs=1)
DEALS = f"{TRAIN_FROM}-{TRAIN_FROM + 2}"


# --- statistics


def played_results(count: int, seed: int = 0, share: float = 0.8) -> pd.DataFrame:
    """Results of a player whose wins depend on its luck."""
    rng = np.random.default_rng(seed)
    variance = rng.uniform(0.05, 0.15, count)
    luck = rng.normal(0, variance**0.5)
    won = rng.uniform(size=count) < np.clip(0.6 + share * luck, 0, 1)
    return pd.DataFrame(
        {
            **{"rules": "four-seasons", "agent": "a", "play": "stochastic", "train_seed": np.nan},
            **{"deal": np.arange(count), "won": won, "cards_up": 20, "moves": 9, "seconds": 0.1},
            **{"luck": luck, "luck_variance": variance},
        }
    )


def test_adjusting_keeps_the_mean():
    means, adjusted = [], []
    for seed in range(200):
        results = with_adjusted(played_results(300, seed))
        means.append(results["won"].mean())
        adjusted.append(results["adjusted"].mean())
    error = np.std(means) / len(means) ** 0.5
    assert np.mean(adjusted) == pytest.approx(np.mean(means), abs=4 * error)
    assert np.std(adjusted) < 0.9 * np.std(means)


def test_the_multiple_fits_other_deals():
    results = played_results(100)
    won = results["won"].to_numpy(float)
    luck = results["luck"].to_numpy()
    before = adjust(won, luck)
    won[7] = 1 - won[7]
    changed = np.flatnonzero(~np.isclose(adjust(won, luck), before))
    assert 7 in changed
    assert adjust(won, luck)[7] - before[7] == pytest.approx(
        2 * won[7] - 1
    )  # its own multiple stays
    assert not {17, 27, 37} & set(changed)  # of the same fold


def test_few_games_subtract_plain_luck():
    won, luck = np.array([1.0, 0.0]), np.array([0.4, -0.2])
    assert adjust(won, luck) == pytest.approx([0.6, 0.2])


def test_always_winning_stays_unadjusted():
    results = played_results(80).assign(won=True)
    assert with_adjusted(results)["adjusted"].to_numpy() == pytest.approx(1)


def test_summary_has_adjusted_rates_and_peeking():
    results = pd.concat(
        [played_results(400), played_results(400, 1, share=0.4).assign(agent="heuristic")],
        ignore_index=True,
    )
    summary = summarise(results)
    first = summary.iloc[0]
    assert first["adjusted_low"] < first["adjusted"] < first["adjusted_high"]
    assert first["adjusted_high"] - first["adjusted_low"] < first["win_high"] - first["win_low"]
    assert first["equivalent_deals"] > 400
    assert first["adjusted_difference"] == pytest.approx(
        first["adjusted"] - summary.iloc[1]["adjusted"]
    )
    cells = luck_as_text(summary)
    assert list(cells) == [
        *("agent", "play", "won % [95%]", "won % luck-adjusted [95%]"),
        *("luck-adjusted vs heuristic [95%]", "worth deals", "luck z (p)"),
    ]
    assert len(cells) == 2


def test_results_without_luck_columns():
    summary = summarise(played_results(50).drop(columns=list(LUCK)))
    assert "adjusted" not in summary
    assert luck_as_text(summary).empty


def test_a_game_without_luck_omits_the_player():
    results = played_results(60)
    results.loc[3, list(LUCK)] = np.nan
    summary = summarise(results)
    assert luck_as_text(summary).empty
    assert summary["win_rate"].notna().all()


def test_half_the_spread_is_worth_four_times_the_deals():
    won = np.array([0.0, 1.0] * 50)
    games = pd.DataFrame({"deal": range(100), "won": won > 0, "adjusted": (won + 0.5) / 2})
    assert equivalent_deals(games) == pytest.approx(400)


def test_much_luck_has_a_small_p():
    played = played_results(500)
    z, p = peeking(played)
    assert z == pytest.approx(played["luck"].sum() / played["luck_variance"].sum() ** 0.5)
    assert p == pytest.approx(stats.norm.sf(z))
    assert peeking(played.assign(luck=played["luck"] + 0.1))[1] < 1e-6
    assert peeking(played.assign(luck=played["luck"] - 0.1))[1] > 0.999
    assert np.isnan(peeking(played.assign(luck=np.nan))[0])
    assert np.isnan(peeking(played.assign(luck=0.0, luck_variance=0.0))[1])


def test_the_most_extreme_training_seed_counts():
    lucky = played_results(200).assign(train_seed=0)
    lucky["luck"] += 0.05
    both = pd.concat([lucky, played_results(200, 1).assign(train_seed=1)])
    z, p = peeking(lucky)
    assert peeking(both) == (z, pytest.approx(2 * p))


@pytest.mark.slow
def test_p_values_of_fair_players_are_uniform():
    """40 sets of 75 games of a fair player, measured with another W than the bundled one."""
    rules = small("four-seasons")
    agent = make_agent("heuristic", rules)

    def worth(games: np.ndarray) -> np.ndarray:
        return np.sin(games["top"][:, 12]) + games["cards_up"] / 5  # of the waste's top card

    found = []
    for first in range(TRAIN_FROM, TRAIN_FROM + 3_000, 75):
        deals = range(first, first + 75)
        games = play_deals(agent, rules, deals, forbid_repeats=True, record=True)["game"]
        rows = []
        for game, deal in zip(games, deals, strict=True):
            luck = game_luck(Game(rules, deal=deal), game.moves, worth)
            rows.append({"luck": luck.total, "luck_variance": luck.variance, "train_seed": 0})
        found.append(peeking(pd.DataFrame(rows))[1])
    assert stats.kstest(found, "uniform").pvalue > 0.01


# --- peekers


def exposed(strategy: Strategy, games: int) -> float:
    """The p-value of the test after a number of games."""
    return peeking(pd.DataFrame(play_and_measure(strategy, TRAIN_FROM, games)))[1]


def test_seeing_all_cards_is_exposed():
    assert exposed(all_cards, 30) < 1e-6


@pytest.mark.slow
def test_seeing_the_next_card_is_exposed():
    """Few games, for speed; experiments/studies/peeking.py has more games and peekers."""
    assert exposed(Peeker(RULE_SET, any_card), 60) < 1e-3


def test_only_peekers_are_exposed():
    found = read_table(ROOT / "docs" / "results" / "peeking.csv").groupby("what").last()
    assert (found["games"] <= 2000).all()
    fair = found.loc["nothing", "luck_p"]
    assert 0.01 < fair < 0.99
    assert (found.drop("nothing")["luck_p"] < 1e-6).all()
    assert len(found) == 4


# --- commands


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """A comparison with luck."""
    out = tmp_path_factory.mktemp("luck") / "c"
    run = Compare(out, ["greedy", "heuristic"], deals=DEALS, luck=True, record=True, workers=ALONE)
    compare(run)
    return run


def test_compare_stores_the_luck_of_each_game(compared):
    results = read_table(compared.out / "results.csv")
    assert list(results) == [*COLUMNS, *LUCK]
    assert results[list(LUCK)].notna().all(axis=None)
    assert read_manifest(compared.out).luck == {
        "four-seasons": LuckMeter(RULES["four-seasons"]).name
    }
    assert "won % luck-adjusted [95%]" in (compared.out / "table.md").read_text()
    page = report(Report([compared.out]))
    assert "won % luck-adjusted [95%]" in page.read_text()
    assert "luck z (p)" in page.read_text()


def test_luck_can_be_added_later(compared, tmp_path):
    run = replace(compared, out=tmp_path / "c", luck=False, record=False, agents=["greedy"])
    assert "luck" not in play_all(run)
    play_all(replace(run, luck=True))
    again = play_all(run)
    first = read_table(compared.out / "results.csv").query("agent == 'greedy'")
    assert again[list(LUCK)].to_numpy() == pytest.approx(first[list(LUCK)].to_numpy())


def test_another_w_is_rejected(compared, tmp_path, monkeypatch):
    run = replace(compared, out=tmp_path / "c", agents=["random"], deals="0-0")
    monkeypatch.setattr(meter_for(RULES["four-seasons"]), "name", "another")
    play_all(run)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="with luck by another, not planner"):
        play_all(run)


def test_rules_without_planner_write_nothing(tmp_path):
    run = Compare(tmp_path / "c", ["random"], ["simplicity"], "0-0", luck=True, workers=ALONE)
    with pytest.raises(FileNotFoundError, match="no planner"):
        play_all(run)
    assert not (tmp_path / "c" / "compare.json").exists()


def test_verify_measures_luck(compared, capsys):
    assert verify(Verify(compared.out, luck=True, workers=ALONE))
    assert "luck" in capsys.readouterr().out
    path = compared.out / "results.csv"
    kept, forged = path.read_bytes(), read_table(path)
    forged.loc[2, "luck"] -= 0.1
    write_csv(path, forged)
    assert not verify(Verify(compared.out, luck=True, workers=ALONE))
    assert "results.csv says luck" in capsys.readouterr().out
    path.write_bytes(kept)


def test_damaged_games_fail_with_luck(compared, tmp_path, capsys):
    out = shutil.copytree(compared.out, tmp_path / "c")
    for path in out.rglob("*.jsonl.gz"):
        path.write_bytes(path.read_bytes()[:-20])
    assert not verify(Verify(out, luck=True, workers=ALONE))
    assert "is damaged after line" in capsys.readouterr().out
