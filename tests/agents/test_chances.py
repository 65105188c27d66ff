import numpy as np
import pytest

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
    for _ in range(20):
        values = judge.values(game)
        legal = {move.number for move in game.legal_moves(distinct=True)}
        assert set(values) <= legal
        assert all(0 <= value <= 1 for value in values.values())
        assert judge.chance(game) == max(values.values())
        game.play(max(values, key=lambda move: values[move]))


def test_the_order_of_moves_changes_no_value(judge):
    """Both moves of this deal can still be played after the next card, so nothing is lost."""
    game = Game(deal=17)
    chance = judge.chance(game)
    assert 0.75 < chance < 0.87  # of 250 games in which the card was dealt at once, 80% were won
    for line in ([], ["T3>T0"], ["T4>T1"], ["T3>T0", "T4>T1"], ["T4>T1", "T3>T0"]):
        after = game.copy()
        for move in line:
            after.play(move)
        assert list(judge.values(after).values()) == pytest.approx(
            [chance] * len(after.legal_moves(distinct=True)), abs=1e-6
        )


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


def test_two_hidden_cards_are_judged_exactly(judge):
    found = set()
    for deal in (17, 20000, 20001, 20002):
        game = Game(deal=deal)
        for move in solve(game, seconds=10).moves:
            if game.stock_size == 2 and str(move) == "deal":
                found.add(exact := float(fair_value(game, move=move).low))
                assert judge.values(game)[move.number] == exact
            game.play(move)
    assert found == {1.0}


def test_the_solver_judges_open_positions(judge):
    game = Game(deal=17)
    moves = solve(game, seconds=30).moves
    known = 0
    for move in moves:
        if game.stock_size <= 1:
            known += 1
            assert judge.chance(game) == 1.0
            assert judge.values(game)[move.number] == 1.0
        game.play(move)
    assert known
    assert judge.chance(game) == 1.0
    assert judge.values(game) == {}
