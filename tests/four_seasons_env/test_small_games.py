"""Small games: their ids and optima."""

from itertools import combinations

import gymnasium as gym
import numpy as np
import pytest

import four_seasons_env
from four_seasons_env.engine.deals import deck_text
from four_seasons_env.game import Game
from four_seasons_env.optima import small_games
from four_seasons_env.rules import SMALL, get_rules
from four_seasons_env.solver import Known, fair_value


def test_each_has_ids_and_an_optimum() -> None:
    games = four_seasons_env.small_games()
    assert [game.name for game in games] == list(SMALL)
    for game in games:
        assert game.rules is get_rules(game.name) is SMALL[game.name]
        assert 0 < game.optimum < 1
        assert gym.spec(game.env_id).kwargs == {"rules": game.name}
        assert gym.spec(game.next_deal_id).kwargs == {"rules": game.name}


@pytest.mark.slow
def test_the_optimum_is_the_mean_over_openings() -> None:
    (game,) = [each for each in small_games() if each.name == "small-4x4-cells"]
    rules, known, values = game.rules, Known(), []
    # Card 0 is the base card; the order of the stock does not matter.
    for tableau in combinations(range(1, rules.cards), rules.piles):
        stock = [card for card in range(1, rules.cards) if card not in tableau]
        opening = Game(rules, deck=deck_text((*tableau, 0, *stock)))
        values.append(fair_value(opening, max_positions=2**62, memory=2**33, known=known).value)
    assert len(values) == game.openings
    assert np.mean(values) == pytest.approx(game.optimum, abs=1e-12)
