"""Luck and the test for peeking in what compare writes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from four_seasons_env.agents.planner.luck import LuckMeter
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.blocks import LUCK
from four_seasons_env.experiments.compare import Compare, compare
from four_seasons_env.experiments.comparison import COLUMNS, read_manifest
from four_seasons_env.experiments.folders import read_table
from four_seasons_env.experiments.summary import BASELINE, peeking, summarise
from four_seasons_env.game import Game
from four_seasons_env.records import read_records
from four_seasons_env.rules import RULES
from four_seasons_env.solver import solve
from tests.helpers import documented

# --- peekers


def test_seeing_all_cards_is_exposed():
    meter, games = LuckMeter(RULES["four-seasons"]), []
    for deal in range(TRAIN_FROM, TRAIN_FROM + 30):
        game = Game(deal=deal)
        moves = solve(game, max_positions=200_000).moves
        games.append(meter.measure(game, [move.number for move in moves]))
    luck = pd.DataFrame(games, columns=["luck", "luck_variance"]).assign(train_seed=0)
    assert peeking(luck)[1] < 1e-6


# --- commands


@pytest.fixture(scope="module")
def lucky(compared: Compare, tmp_path_factory: pytest.TempPathFactory) -> Compare:
    """A comparison with luck, of few deals."""
    deals = f"{TRAIN_FROM}-{TRAIN_FROM + 2}"
    run = replace(compared, out=tmp_path_factory.mktemp("luck") / "c", deals=deals, luck=True)
    compare(run)
    return run


def test_luck_can_be_checked(lucky):
    """The columns of luck follow from the recorded games, and the test for peeking from them."""
    results = read_table(lucky.out / "results.csv")
    assert list(results) == [*COLUMNS, *LUCK]
    assert documented("results.csv") == {*results}
    results = results.query("agent == 'heuristic'")
    (path,) = lucky.out.glob("parts/*/heuristic-*/*.jsonl.gz")
    meter = LuckMeter(RULES["four-seasons"])
    assert read_manifest(lucky.out).luck == {"four-seasons": meter.name}
    measured = [meter.measure(game.start(), game.moves) for game in read_records(path)]
    assert results[list(LUCK)].to_numpy() == pytest.approx(np.array(measured), abs=1e-6)
    z = results["luck"].sum() / results["luck_variance"].sum() ** 0.5
    summary = read_table(lucky.out / "summary.csv")
    # More games have a luck-adjusted win rate, too.
    game = results.iloc[:1]
    many = pd.concat([game.assign(deal=deal, won=deal % 2 == 0) for deal in range(40)])
    many = pd.concat([many.assign(agent=name) for name in ("a", BASELINE)], ignore_index=True)
    assert documented("summary.csv") == {*summary, *summarise(many)}
    summary = summary.set_index("agent")
    assert summary["luck_z"]["heuristic"] == pytest.approx(z, rel=1e-4)
    table = (lucky.out / "table.md").read_text()
    assert "luck z (p)" in table and "luck-adjusted" not in table  # of fewer than ten wins


def test_luck_can_be_added_later(lucky, tmp_path):
    run = replace(lucky, out=tmp_path / "c", luck=False, record=False, agents=["A=greedy"])
    assert "luck" not in compare(run)
    compare(replace(run, luck=True))
    again = compare(run)
    first = read_table(lucky.out / "results.csv").query("agent == 'A'")
    assert again[list(LUCK)].to_numpy() == pytest.approx(first[list(LUCK)].to_numpy())
