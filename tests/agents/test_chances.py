from types import SimpleNamespace

import numpy as np
import pytest

from four_seasons_env.agents.planner import chances
from four_seasons_env.agents.planner.chances import Judge, can_judge
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from four_seasons_env.solver import fair_value, solve


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(RULES["four-seasons"])


def test_some_rules_have_chances():
    assert can_judge(RULES["four-seasons"])
    assert not can_judge(RULES["simplicity"])
    assert not can_judge(RULES["corners-hoffmann"])  # its network is far off


def test_chance_is_that_of_the_best_legal_move(judge):
    game = Game(deal=17)
    assert 0.75 < judge.chance(game) < 0.87  # of 250 games from there, 80% were won
    for _ in range(20):
        values = judge.values(game)
        legal = {move.number for move in game.legal_moves(distinct=True)}
        assert set(values) <= legal
        assert all(0 <= value <= 1 for value in values.values())
        assert judge.chance(game) == max(values.values())
        game.play(max(values, key=lambda move: values[move]))


def test_moves_are_worth_their_best_successor(judge):
    rng, game = np.random.default_rng(0), Game(deal=2**32)
    compared = 0
    for _ in range(15):
        for number, value in judge.values(game).items():
            after = game.after(number)
            if after.stock_size == game.stock_size:
                assert value == pytest.approx(judge.chance(after), abs=0.01)
                compared += 1
        game.play(rng.choice(game.legal_moves()).number)
    assert compared > 30


def test_late_positions_are_judged_exactly(judge):
    """With two hidden cards by fair values, with fewer by the solver."""
    exact = []
    for deal in (17, 20000, 20001, 20002):
        game = Game(deal=deal)
        for move in solve(game, seconds=10).moves:
            if game.stock_size <= 1:
                assert judge.chance(game) == judge.values(game)[move.number] == 1.0
            elif game.stock_size == 2 and str(move) == "deal":
                exact.append(float(fair_value(game, move=move).low))
                assert judge.values(game)[move.number] == exact[-1]
            game.play(move)
        assert (judge.chance(game), judge.values(game)) == (1.0, {})
    assert exact


@pytest.mark.parametrize(
    ("answers", "chance"), [(("won", "unknown"), 1.0), (("unknown",) * 2, None)]
)
def test_cards_without_an_answer_are_left_out(monkeypatch, answers, chance):
    game, judge = Game(deal=17), Judge(RULES["four-seasons"])
    for move in solve(game, seconds=10).moves:
        if game.stock_size > 2:
            game.play(move)
    by_last_card = dict(zip(game.unseen, answers, strict=True))

    def answer(game, **limits):
        return SimpleNamespace(status=by_last_card[next(iter(game.unseen))])

    monkeypatch.setattr(chances, "solve", answer)
    assert judge.chance(game) == chance
    assert {*judge.values(game).values()} == {chance} - {None}


def test_a_judge_forgets(judge, monkeypatch):
    """It may serve for days."""
    monkeypatch.setattr(chances, "_MOST_KNOWN", 2)
    games, new = [Game(deal=deal) for deal in range(3)], Judge(RULES["four-seasons"])
    assert [new.values(game) for game in games] == [judge.values(game) for game in games]
    assert len(new._known) <= 2
