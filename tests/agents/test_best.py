"""`best`: the strongest agent within a time for each move, by stored measurements."""

import json

import pytest

import four_seasons_env.agents.best
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.best import make_best, read_prices
from four_seasons_env.agents.scripted.heuristic import HeuristicAgent
from four_seasons_env.agents.search.rollout import RolloutAgent
from four_seasons_env.engine.deals import TEST, VALIDATION
from four_seasons_env.experiments.studies.ladder import AGENTS
from four_seasons_env.rules import RULES

DEFAULT = RULES["four-seasons"]


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
    assert {each["agent"] for each in kept["agents"]} <= set(AGENTS)
    for rules in RULES.values():
        make_agent("best", rules)
    assert make_agent("best@milliseconds=0.05").mask == "distinct"
