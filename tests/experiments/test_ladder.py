"""The ladder, the choice of the best, and what the planner's disagreements are worth."""

import json

import numpy as np
import pandas as pd
import pytest

import four_seasons_env.agents.best
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.best import make_best, read_prices
from four_seasons_env.agents.scripted.heuristic import HeuristicAgent
from four_seasons_env.agents.search.rollout import RolloutAgent
from four_seasons_env.engine.deals import TEST, TRAIN_FROM, VALIDATION
from four_seasons_env.experiments.disagreements import (
    Disagreements,
    describe,
    disagreements_as_text,
    find_disagreements,
    summarise_disagreements,
)
from four_seasons_env.experiments.ladder import PLAYERS, merged, price_list
from four_seasons_env.experiments.pages import with_rows
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]


def test_prices_are_listed_from_the_cheapest_on():
    summary = pd.DataFrame(
        [
            ("random", "stochastic", 0.9, 0.1),
            ("heuristic", "deterministic", 0.3, 0.2),
            ("rollout@worlds=4", "deterministic", 0.2, 0.5),
            ("planner", "deterministic", 0.7, 3.0),
            ("planner@lookahead=1", "deterministic", 0.7, 30.0),
            ("ceiling", "-", 1.0, np.nan),
        ],
        columns=["agent", "play", "win_rate", "ms_per_move"],
    )
    listed = price_list(summary.sample(frac=1, random_state=0))
    assert [each["agent"] for each in listed] == [
        "heuristic",
        "rollout@worlds=4",
        "planner",
        "planner@lookahead=1",
    ]
    assert [each["milliseconds"] for each in listed] == [0.2, 0.5, 3.0, 30.0]


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """Prices made up for the test."""
    path = tmp_path / "best.json"
    found = [
        {"agent": "heuristic", "won": 0.3, "milliseconds": 0.01},
        {"agent": "rollout@worlds=3", "won": 0.4, "milliseconds": 1.0},
        {"agent": "planner:nowhere", "won": 0.7, "milliseconds": 2.0},
    ]
    path.write_text(json.dumps({"agents": found}))
    prices = read_prices(path)
    monkeypatch.setattr(four_seasons_env.agents.best, "read_prices", lambda: prices)


@pytest.mark.usefixtures("measured")
def test_the_best_is_the_strongest_that_is_fast_enough_and_has_its_weights():
    assert isinstance(make_best(DEFAULT, milliseconds=0.02), HeuristicAgent)
    assert isinstance(make_best(DEFAULT, milliseconds=1.0), RolloutAgent)
    assert isinstance(make_best(DEFAULT, milliseconds=100), RolloutAgent)
    with pytest.raises(ValueError, match=r"within 0.001 ms a move: the fastest takes 0.01 ms"):
        make_best(DEFAULT, milliseconds=0.001)


def test_the_kept_prices_are_of_agents_that_there_are_and_of_validation_deals():
    kept = json.loads(four_seasons_env.agents.best.MEASURED.read_text())
    first, last = map(int, kept["deals"].split("-"))
    assert first in VALIDATION
    assert last in VALIDATION
    assert not set(range(first, last + 1)) & set(TEST)
    assert {each["agent"] for each in kept["agents"]} <= set(PLAYERS)
    for rules in RULES.values():
        make_agent("best", rules)
    assert make_agent("best@milliseconds=0.05").mask == "distinct"


def test_prices_measured_anew_take_the_place_of_the_old():
    before = [{"agent": "a", "won": 0.1, "milliseconds": 1.0}, {"agent": "b", "milliseconds": 3.0}]
    now = [{"agent": "a", "won": 0.2, "milliseconds": 4.0}, {"agent": "c", "milliseconds": 2.0}]
    assert merged(before, now) == [now[1], before[1], now[0]]


def test_kept_results_get_new_rows_in_the_place_of_the_same_agents(tmp_path):
    def rows(*agents: str, deals: int = 100, won: float = 0.1) -> pd.DataFrame:
        names = {"rules": "four-seasons", "play": "deterministic", "deals": deals}
        return pd.DataFrame([{"agent": each, "win_rate": won, **names} for each in agents])

    kept = tmp_path / "kept.csv"
    assert with_rows(kept, rows("a")).equals(rows("a"))
    pd.concat([rows("a", "b", "ceiling"), rows("old", deals=50)]).to_csv(kept, index=False)
    both = with_rows(kept, rows("c", "b", won=0.9))
    assert both["agent"].tolist() == ["a", "c", "b", "ceiling"]
    assert both["win_rate"].tolist() == [0.1, 0.9, 0.9, 0.1]


def test_the_ladder_has_no_agent_that_cannot_be_made():
    for name in PLAYERS:
        make_agent(name)


def test_what_is_seen_at_a_glance():
    game = Game(DEFAULT, deal=TRAIN_FROM)
    seen = describe(game)
    assert seen["spaces"] == 0
    assert seen["cards_up"] == game.cards_up
    assert seen["waste"] == len(game.waste) == 0
    game.play("deal")
    assert describe(game)["waste"] == 1
    hosts = [move for move in game.legal_moves() if str(move).startswith("W>T")]
    assert describe(game)["hosted"] == bool(hosts)


def test_decisions_that_differ_are_played_on_from_and_all_else_is_not(tmp_path):
    deals = f"{VALIDATION[-1]}-{VALIDATION[-1]}"
    small = "planner@nodes=30,expansions=10,endgame_nodes=200"
    table = find_disagreements(Disagreements(tmp_path, deals, planner=small, player=small))
    assert len(table) > 25
    assert table["differs"].any()
    assert not table["differs"].all()
    assert (table["own_won"].isna() == ~table["differs"]).all()
    assert (table["other_won"].isna() == ~table["differs"]).all()
    same = table[~table["differs"]]
    assert (same["own_waste"] == same["other_waste"]).all()
    assert (same["own_cards_up"] == same["other_cards_up"]).all()
    summary = summarise_disagreements(table).set_index("where")
    assert summary.loc["all decisions", "decisions"] == len(table)
    stages = summary.iloc[1:4]
    assert stages["decisions"].sum() == len(table)
    assert stages["differ"].sum() == table["differs"].sum() == summary.iloc[0]["differ"]
    assert list(disagreements_as_text(summary.reset_index())["where"]) == list(summary.index)


def test_the_gain_of_a_disagreement_is_the_difference_of_the_games_won():
    columns = {f"{side}_{name}": 0 for side in ("own", "other") for name in NAMES}
    table = pd.DataFrame([columns] * 4).assign(stock=[40, 20, 5, 5], differs=[True] * 3 + [False])
    table["own_spaces"] = [1, 0, 0, 0]
    table["own_won"], table["other_won"] = [1, 1, 0, np.nan], [0, 1, 1, np.nan]
    summary = summarise_disagreements(table).set_index("where")
    assert summary.loc["all decisions", "gain"] == 0
    assert summary.loc["first third of the stock", "gain"] == 1
    assert summary.loc["last third", "gain"] == -1
    assert summary.loc["the planner has more spaces", "differ"] == 1
    assert summary.loc["the planner has more spaces", "gain"] == 1


NAMES = ("up", "spaces", "hosted", "waste", "cards_up")
