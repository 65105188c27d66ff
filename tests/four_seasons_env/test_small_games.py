"""Small games: their ids and optima."""

import gymnasium as gym
import numpy as np
import pytest

import four_seasons_env
from four_seasons_env.game import Game
from four_seasons_env.optima import small_games
from four_seasons_env.rules import RULES, SMALL, get_rules
from four_seasons_env.solver import Known, fair_value


def test_each_has_ids_and_an_optimum() -> None:
    games = four_seasons_env.small_games()
    assert [game.name for game in games] == list(SMALL)
    for game in games:
        assert game.rules is get_rules(game.name) is SMALL[game.name]
        assert 0 < game.low == game.optimum == game.high < 1  # exact, as data.md says
        assert game.valued == game.openings
        assert gym.spec(game.env_id).kwargs == {"rules": game.name}
        assert gym.spec(game.next_deal_id).kwargs == {"rules": game.name}
        assert str(game.rules.ranks) in game.env_id
    assert set(SMALL).isdisjoint(RULES)


@pytest.mark.slow
def test_the_optimum_is_the_mean_of_deals() -> None:
    (game,) = [each for each in small_games() if each.name == "small-4x4-cells"]
    known = Known()
    values = [
        fair_value(Game(game.rules, deal), max_positions=2**62, memory=2**33, known=known).value
        for deal in range(40)
    ]
    assert None not in values
    spread = np.std(values) / np.sqrt(len(values))
    assert abs(np.mean(values) - game.optimum) < 4 * spread
