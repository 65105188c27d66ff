"""Small games: their openings, the regret of agents, and what the command refuses."""

from collections import Counter
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from experiments.evaluation.ceiling import CEILING
from experiments.evaluation.openings import check_rules, game_of, opening_of, openings
from experiments.optimum import Optimum, optimum
from experiments.parallel.workers import Workers
from experiments.statistics.regret import BEST, regret_as_text, summarise_optimum, summarise_regret
from four_seasons_env.engine.cards import deck_text
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, SMALL
from four_seasons_env.solver import Known, fair_value


@pytest.mark.parametrize("name", SMALL)
def test_openings_are_all_there_are(name: str) -> None:
    rules = SMALL[name]
    check_rules(rules)
    every = openings(rules)
    assert sum(every.values()) == comb(rules.cards - 1, rules.piles)
    for opening in (min(every), max(every)):
        assert opening_of(game_of(opening, rules).record[0], rules) == opening
    for deal in range(TRAIN_FROM, TRAIN_FROM + 20):
        assert opening_of(Game(rules, deal).record[0], rules) in every
    some = openings(rules, 8)
    assert sum(some.values()) == 8
    assert set(some) <= set(every)
    assert openings(rules, 10**6) == every


def test_openings_come_as_often_as_they_stand_for() -> None:
    rules = SMALL["small-4x3"]
    deals = 3000
    met = Counter(opening_of(Game(rules, TRAIN_FROM + i).record[0], rules) for i in range(deals))
    every = openings(rules)
    expected = [deals * count / sum(every.values()) for count in every.values()]
    assert stats.chisquare([met[opening] for opening in every], expected).pvalue > 1e-4


@pytest.mark.parametrize("build", ["any_suit", "alternate_colour"])
def test_a_renamed_opening_is_worth_as_much(build: str) -> None:
    """What `opening_of` takes for the same is the same: late positions of renamed games."""
    rules = SMALL["small-4x3"].replace(build=build)
    for deal in range(TRAIN_FROM, TRAIN_FROM + 6):
        game, known = Game(rules, deal), Known()
        deck = [int(card) for card in game.record["deck"][0][: rules.cards]]
        base = deck[rules.piles]
        renamed = [
            4 * (((card >> 2) - (base >> 2)) % rules.ranks) + ((card ^ base) & 3) for card in deck
        ]
        other = Game(rules, deck=deck_text(renamed))
        assert opening_of(other.record[0], rules) == opening_of(game.record[0], rules)
        for each in (game, other):
            while each.stock_size > 5:
                each.play("deal")
        first = fair_value(game, known=known)
        second = fair_value(other, known=known)
        assert first.value is not None
        assert second.value == first.value
        assert second.nodes <= first.nodes


def test_rules_whose_openings_cannot_be_listed_are_refused() -> None:
    with pytest.raises(ValueError, match="wrap is 'linear', not 'unless_ace_base'"):
        check_rules(RULES["four-seasons"])
    with pytest.raises(ValueError, match="spaces is 'optional', not 'auto_stock'"):
        check_rules(SMALL["small-4x3"].replace(spaces="auto_stock"))


def test_regret_is_value_less_win() -> None:
    name = "small-4x3"
    rules, deals = SMALL[name], list(range(TRAIN_FROM, TRAIN_FROM + 50))
    every = openings(rules)
    worth = {opening: 0.5 + i / 1000 for i, opening in enumerate(every)}
    values = pd.DataFrame(
        {
            "rules": name,
            "cards": [" ".join(map(str, opening)) for opening in every],
            "alike": list(every.values()),
            "value": list(worth.values()),
        }
    )
    won = [deal % 2 == 0 for deal in deals]
    played = pd.DataFrame({"rules": name, "agent": "a", "deal": deals, "won": won})
    played = pd.concat([played, played.assign(agent="b", won=True)])
    solved = pd.DataFrame({"rules": name, "deal": deals, "status": "won"})
    found = summarise_regret(values, played, solved).set_index("agent")
    offered = [worth[opening_of(Game(rules, deal).record[0], rules)] for deal in deals]
    assert list(found.index) == ["a", "b", BEST, CEILING]
    assert found["win_rate"][BEST] == pytest.approx(np.mean(offered))
    assert found["regret"]["a"] == pytest.approx(np.mean(offered) - 0.5)
    assert found["regret"]["b"] == pytest.approx(np.mean(offered) - 1)
    assert (found["regret_low"] <= found["regret"]).all()
    assert (found["regret_high"] >= found["regret"]).all()
    assert found["regret_low"]["a"] < found["regret_high"]["a"]
    mean = np.average(list(worth.values()), weights=list(every.values()))
    for column in ("optimum", "low", "high"):
        assert found[column][BEST] == pytest.approx(mean)
    assert regret_as_text(found.reset_index())["rules"].tolist() == [name]


def test_drawn_openings_give_an_interval() -> None:
    rules = SMALL["small-4x3"]
    valued = pd.DataFrame({"alike": [3, 1], "value": [1.0, 0.5]})
    found = summarise_optimum(rules, valued)
    assert (found["openings"], found["valued"]) == (comb(15, 3), 4)
    assert 0 <= found["low"] < found["optimum"] == 0.875 < found["high"] == 1
    certain = summarise_optimum(rules, valued.assign(value=1.0))
    assert certain["low"] < certain["optimum"] == certain["high"] == 1


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"rules": ["czarina"]}, "'czarina' is no small game"),
        ({"rules": ["small-4x9"]}, "unknown rules 'small-4x9': did you mean 'small-4x"),
        ({"rules": []}, "at least one game"),
        ({"openings": 1}, "--openings is 2 or more, not 1"),
        ({"gigabytes": 0.0}, "--gigabytes is more than 0, not 0"),
        ({"steps": "few"}, "steps are a positive number"),
        ({"deals": "9-3"}, "9-3"),
        ({"workers": Workers(n_jobs=0)}, "--n-jobs is 1 or more"),
    ],
)
def test_what_it_refuses(flags: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=told):
        optimum(Optimum(tmp_path / "out", **flags))
    assert not (tmp_path / "out").exists()
