"""The next-deal environment on the smallest games: the first that a mutant meets."""

import pytest

from four_seasons_env.rules import RULES, Rules
from tests.four_seasons_env import test_next_deal
from tests.helpers import small
from tests.reference import golden

GAMES = [
    small("four-seasons", ranks=4, piles=2),
    small("florentine", ranks=4, piles=3),
    small("corners-hoffmann", ranks=4, piles=2),
    small("kings-in-the-corner", ranks=4, piles=2),
]


@pytest.mark.parametrize("endings", ["search", "policy"])
@pytest.mark.parametrize("rules", GAMES, ids=lambda rules: rules.name)
def test_games_replay_move_for_move(rules: Rules, endings: str) -> None:
    test_next_deal.test_every_game_replays_move_for_move(rules, endings)


@pytest.mark.parametrize("row", ["four-seasons", "florentine", "simplicity", "corners-hoffmann"])
def test_features_keep_their_numbers(row: str) -> None:
    assert golden.features(RULES[row]) in golden.FEATURES.read_text()
