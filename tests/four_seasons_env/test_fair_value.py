"""Fair values: against brute force, and when the search must stop."""

import pytest

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, SMALL, Rules
from four_seasons_env.solver import fair_value, solve
from tests.helpers import mostly_slow, small
from tests.reference.fair_differential import compare, positions

# --- small games ----------------------------------------------------------------------------------


@pytest.mark.parametrize("row", mostly_slow(RULES))
def test_values_agree_with_brute_force(row: str) -> None:
    rules = small(row, ranks=4, piles=2 if RULES[row].reserve else 1)
    assert len(compare(rules, range(TRAIN_FROM, TRAIN_FROM + 4), hidden=3, most=500)) >= 4


def test_values_agree_where_suits_are_chains() -> None:
    values = []
    for ranks, piles in ((4, 1), (4, 2), (5, 2)):
        rules = SMALL["small-4x1-cells"].replace(ranks=ranks, piles=piles)
        values += compare(rules, range(TRAIN_FROM, TRAIN_FROM + 12), hidden=4, most=500)
    assert len(values) >= 60
    assert len([value for value in values if 0 < value < 1]) >= 2


# --- when it must stop ----------------------------------------------------------------------------


def test_small_budgets_give_bounds() -> None:
    rules = small("four-seasons", ranks=4, piles=1)
    strict = 0
    for deal in range(TRAIN_FROM, TRAIN_FROM + 12):
        for game in positions(rules, deal, 5):
            exact = fair_value(game)
            for most in (1, 30, 300, 3_000):
                found = fair_value(game, max_positions=most)
                assert 0 <= found.low <= exact.low == exact.high <= found.high <= 1
                strict += found.value is None
            assert exact.value is not None
    assert strict > 10


def test_a_full_table_gives_bounds() -> None:
    """Without a limit, finding a place in it would be endless."""
    found = fair_value(Game(small("four-seasons", ranks=4, piles=1), TRAIN_FROM), memory=1)
    assert 0 <= found.low < found.high <= 1


def test_seconds_are_a_limit() -> None:
    game = Game(deal=TRAIN_FROM)
    while game.stock_size > 12:
        game.play("deal")
    assert 1 < fair_value(game, seconds=1).seconds < 2


def test_no_move_is_worth_more_than_the_position() -> None:
    rules = small("four-seasons", ranks=4, piles=2)
    for deal in range(TRAIN_FROM, TRAIN_FROM + 5):
        for game in positions(rules, deal, 4):
            exact = fair_value(game)
            worth = [fair_value(game, move=move).low for move in game.legal_moves()]
            assert max(worth, default=0.0) == pytest.approx(exact.low)
            assert all(each.low <= exact.low for each in exact.decisions)


def test_a_known_stock_is_no_chance() -> None:
    rules = Rules(ranks=4, piles=1, redeals=1, name="one redeal")
    for deal in range(TRAIN_FROM, TRAIN_FROM + 10):
        game = Game(rules, deal=deal)
        while game.stock_size:
            game.play("deal")
        game.play("redeal")
        solution = solve(game, seconds=10)
        found = fair_value(game)
        assert found.value == (solution.status == "won")
        if found.best:
            for move in found.best[0].moves:
                game.play(move)
            assert game.is_won
