"""The differential against the slow model, cut short: the first that a mutant of the engine meets.

What it finds, the default test finds too: both play the same games.
"""

import pytest

from four_seasons_env.rules import RULES, Rules
from tests.reference import differential

MOVES = 100


@pytest.mark.parametrize("rules", RULES.values(), ids=lambda rules: rules.name)
def test_first_moves_agree(rules: Rules) -> None:
    moves, _, _ = differential.compare(rules, MOVES, seed=1)
    assert moves >= MOVES
