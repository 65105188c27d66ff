"""Small games: their openings, the regret of agents, and what the command refuses."""

from collections import Counter
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from four_seasons_env.agents.registry import make_agent
from four_seasons_env.engine.cards import deck_text
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.matches.ceiling import CEILING
from four_seasons_env.experiments.matches.exact_values import regret_of
from four_seasons_env.experiments.matches.openings import (
    check_rules,
    deals_with,
    game_of,
    opening_of,
    openings,
)
from four_seasons_env.experiments.optimum import Optimum, optimum
from four_seasons_env.experiments.statistics.regret import (
    BEST,
    regret_as_text,
    summarise_optimum,
    summarise_regret,
)
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
    some = openings(rules, 6)
    assert sum(some.values()) == 6
    assert set(some) <= set(every)
    assert openings(rules, len(every)) == every


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


def _played_on(game: Game, agent: str, hidden: int = 0) -> tuple[list[str], Game]:
    """A scripted agent's moves from a position to its end, or to so few hidden cards; the last."""
    player, moves, game = make_agent(agent, game.rules), [], game.copy()
    while not game.is_over and (game.stock_size > hidden or hidden == 0):
        mask = game.action_mask(distinct=True)
        number = int(player.act(game.record.copy(), mask[None], np.random.default_rng(0))[0])
        moves.append(all_moves(game.rules)[number].text)
        game.play(moves[-1])
    return moves, game


@pytest.mark.parametrize("name", ["small-4x1-cells", "small-4x2-cells"])
def test_over_all_orders_regret_is_value_less_wins(name: str) -> None:
    """Of one who does not look at the stock; what luck there was adds up to nothing."""
    known, costs = Known(), []
    for deal in range(TRAIN_FROM, TRAIN_FROM + 6):
        _, game = _played_on(Game(SMALL[name], deal), "greedy", 3)
        value = fair_value(game, known=known).value
        assert value is not None
        record = game.record[0].copy()
        at = slice(int(record["dealt"]), int(record["deck_size"]))
        regrets, wins = [], []
        for order in permutations(record["deck"][at].tolist()):
            record["deck"][at] = order
            start = Game.from_record(record, game.rules)
            moves, end = _played_on(start, "random")  # what it draws is the same each time
            regret, costly = regret_of(start, moves, known=known, gigabytes=1)
            assert regret >= 0
            assert (regret > 0) == (costly > 0)
            regrets.append(regret)
            wins.append(end.is_won)
        assert np.mean(regrets) == pytest.approx(value - np.mean(wins))
        costs += regrets
    assert max(costs) > 0


def test_giving_up_costs_what_could_be_won() -> None:
    game, known = Game(SMALL["small-4x3"], TRAIN_FROM), Known()
    while game.stock_size > 3:
        game.play("deal")
    value = fair_value(game, known=known).value
    assert value
    assert regret_of(game, (), known=known, gigabytes=1) == (value, 1)
    with pytest.raises(MemoryError, match=r"allow more \(--gigabytes\)"):
        regret_of(Game(SMALL["small-4x3"], TRAIN_FROM), (), known=Known(), gigabytes=1e-3)


def test_the_summary_has_regret_optimum_and_ceiling() -> None:
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
            "nodes": 10,
            "seconds": 0.5,
        }
    )
    won = [deal % 2 == 0 for deal in deals]
    played = pd.DataFrame({"rules": name, "agent": "a", "deal": deals, "won": won})
    played = pd.concat([played, played.assign(agent="b", won=True)])
    played = played.assign(regret=[0.1, 0.3] * 25 + [0.0] * 50, winnable=True)
    found = summarise_regret(values, played, {"a": "chance", "b": "search"})
    text = [table.set_index("agent") for table in regret_as_text(found)]
    found = found.set_index("agent")
    offered = [worth[opening_of(Game(rules, deal).record[0], rules)] for deal in deals]
    assert list(found.index) == ["a", "b", BEST, CEILING]
    assert found["win_rate"].tolist() == pytest.approx([0.5, 1, np.mean(offered), 1])
    assert found["regret"].tolist() == pytest.approx([0.2, 0, 0, np.mean(offered) - 1])
    assert 0 < found["regret_low"]["a"] < 0.2 < found["regret_high"]["a"] < 0.25
    assert found["regret_low"]["b"] == 0 < found["regret_high"]["b"] < 0.08
    assert (found["positions"] == 10).all()
    mean = np.average(list(worth.values()), weights=list(every.values()))
    for column in ("optimum", "low", "high"):
        assert found[column][BEST] == pytest.approx(mean)
    assert text[0]["method"].tolist() == ["chance", "search", "-", "-"]
    assert text[0][name]["a"] == "50.0"
    assert text[1][name]["a"].startswith("20.00 [")
    assert list(text[1].index) == ["a", "b"]


def test_deals_are_chosen_by_their_openings() -> None:
    rules = SMALL["small-4x3"]
    drawn = openings(rules, 12)
    deals = deals_with(drawn, rules, range(TRAIN_FROM, TRAIN_FROM + 400), 9)
    assert len(deals) == 9
    assert list(deals) == sorted(deals)
    assert all(opening_of(Game(rules, deal).record[0], rules) in drawn for deal in deals)
    assert deals_with(drawn, rules, deals[:2], 9) == deals[:2]


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
        ({"rules": ["czarina"]}, "unknown small game 'czarina'"),
        ({"rules": ["small-4x9"]}, "unknown rules 'small-4x9': did you mean 'small-4x"),
        ({"rules": []}, "at least one rule set"),
        ({"openings": 1}, "--openings must be 2 or more, not 1"),
        ({"gigabytes": 0.0}, "--gigabytes must be more than 0, not 0"),
        ({"games": 1}, "--games must be 2 or more, not 1"),
        ({"core_minutes": 0.0}, "--core-minutes must be a number of minutes above 0, not 0"),
        ({"agents": ["heuristik"]}, "did you mean 'heuristic'"),
        ({"agents": ["planner:nowhere"]}, "nowhere"),
    ],
)
def test_what_it_refuses(flags: dict[str, Any], told: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=told):
        optimum(Optimum(tmp_path / "out", **flags))
    assert not (tmp_path / "out").exists()
