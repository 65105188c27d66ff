import numpy as np
import pytest

from four_seasons_env.agents.judge import Judge, can_judge
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from four_seasons_env.solver import solve


@pytest.fixture(scope="module")
def judge() -> Judge:
    return Judge(RULES["four-seasons"])


def test_there_are_networks_for_some_rules():
    assert can_judge(RULES["four-seasons"])
    assert not can_judge(RULES["simplicity"])
    with pytest.raises(FileNotFoundError):
        Judge(RULES["simplicity"])


def test_chance_is_that_of_the_best_legal_move(judge):
    game = Game(deal=17)
    for _ in range(20):
        values = judge.values(game)
        legal = {move.number for move in game.legal_moves(distinct=True)}
        assert set(values) <= legal
        assert all(0 <= value <= 1 for value in values.values())
        assert judge.chance(game) == max(values.values())
        game.play(max(values, key=lambda move: values[move]))


@pytest.mark.slow
def test_good_positions_are_worth_more(judge):
    """A mean over positions: those on the way to a win beat those after random moves."""
    rng = np.random.default_rng(0)
    good, poor = [], []
    for deal in range(2**32, 2**32 + 8):
        solution = solve(Game(deal=deal), seconds=5)
        if solution.status != "won":
            continue
        won, drifting = Game(deal=deal), Game(deal=deal)
        for move in solution.moves[: len(solution.moves) // 2]:
            won.play(move)
        while drifting.stock_size > won.stock_size and not drifting.is_over:
            drifting.play(rng.choice(drifting.legal_moves()).number)
        good.append(judge.chance(won))
        poor.append(judge.chance(drifting))
    assert len(good) >= 5
    assert np.mean(good) > np.mean(poor) + 0.2


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
