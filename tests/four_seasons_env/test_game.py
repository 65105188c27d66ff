import pickle
import random

import pytest
from hypothesis import given

import four_seasons_env
from four_seasons_env import agents
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from tests.helpers import board, later, positions, restocked, small, stock_codes


@given(positions())
def test_pickles_restore_games(game):
    back = pickle.loads(pickle.dumps(game))
    assert back == game
    assert board(back) == board(game)
    assert back.legal_moves() == game.legal_moves()


def test_properties_are_copies():
    game = Game(deal=17)
    before = game.copy()
    game.tableau[0].append("AC")
    game.waste.append("AC")
    game.foundations["C"].append("AC")
    game.stock.clear()
    game.action_mask()[:] = 1
    game.legal_moves().clear()
    assert game == before == Game(deal=17)


def test_games_show_deal_and_progress():
    game = Game(deal=17)
    assert repr(game) == "<Game 'four-seasons' deal 17: 1 of 52 cards up after 0 moves>"
    assert str(game).splitlines()[0] == "four-seasons, deal 17: 1 of 52 cards up, 0 moves"


@pytest.mark.parametrize("rules", ["four-seasons", "florentine", "czarina-1898"])
def test_keys_are_equal_where_positions_are(rules):
    """By what a player knows, in whatever order of moves."""
    start, rng = Game(small(rules, ranks=4, piles=3), deal=5), random.Random(0)
    keys: dict[str, set[int]] = {}
    for _ in range(150):
        game = start.copy()
        while not game.is_over and rng.random() < 0.95:
            game.play(rng.choice(game.legal_moves()))
        hidden = sorted(game.unseen) or game.stock
        known = repr((game.tableau, game.waste, game.foundations, hidden, game.redeals_left))
        keys.setdefault(known, set()).add(game.key())
    assert {len(each) for each in keys.values()} == {1}
    assert 20 < len(set.union(*keys.values())) == len(keys) < 150


def test_the_key_holds_the_order_of_a_turned_waste():
    game = later(Game(Rules(redeals=1), deal=17), [*46 * ["deal"], "redeal"])
    assert restocked(game, stock_codes(game)[::-1]).key() != game.key()


def test_games_are_equal_by_rules_and_position():
    assert Game() == Game(deal=0) != Game("solitaire-till-dawn", deal=0)


@pytest.mark.parametrize("package", [four_seasons_env, agents])
def test_packages_list_what_they_load_later(package):
    assert set(package.__all__) <= set(dir(package))
