"""The compiled replay says of any moves what playing them one by one says."""

import random

import pytest

from four_seasons_env.engine.moves import all_moves
from four_seasons_env.engine.replay import play_through
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from tests.helpers import biased_choice, mostly_slow


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_a_game_is_played_through(rules: str) -> None:
    for deal in range(5):
        rng, game, numbers = random.Random(deal), Game(rules, deal=deal), []
        while not game.is_over and len(numbers) < 300:
            move = biased_choice(game.legal_moves(), rng)
            game.play(move)
            numbers.append(int(move))
        again = Game(rules, deal=deal)
        assert play_through(again.record, again.rules, numbers) == (
            len(numbers),
            not game.is_over,
        )
        assert again == game


@pytest.mark.parametrize("rules", mostly_slow(RULES))
def test_a_replay_stops_at_an_illegal_move(rules: str) -> None:
    game, rng = Game(rules, deal=3), random.Random(3)
    numbers = []
    for _ in range(6):
        numbers.append(int(rng.choice(game.legal_moves())))
        game.play(numbers[-1])
    illegal = {int(move) for move in all_moves(game.rules)} - set(map(int, game.legal_moves()))
    for number in sorted(illegal):
        again = Game(rules, deal=3)
        assert play_through(again.record, again.rules, [*numbers, number, 0]) == (6, True)
        assert again == game
