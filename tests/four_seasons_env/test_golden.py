"""The golden games: the engine still plays them so."""

import re

import pytest

from four_seasons_env.rules import RULES, Rules
from tests.reference.golden import path_of, play

ROWS = list(RULES.values())


@pytest.mark.parametrize("rules", ROWS, ids=lambda rules: rules.name)
def test_engine_plays_the_golden_game(rules: Rules) -> None:
    text = path_of(rules).read_text()
    deal = int(re.match(r".*, deal (\d+)\n", text).group(1))
    _, lines = play(rules, deal)
    assert "\n".join(lines) + "\n" == text, (
        "the rules have changed, or `python -m tests.reference.golden`"
    )
