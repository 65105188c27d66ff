"""Frozen names, numbers and formats: see "Versions" in CONTRIBUTING.md.

Other tests check deal numbers (`test_deals.py`) and features of positions (`test_next_deal.py`).
"""

import re

import pytest

from four_seasons_env.experiments import comparison
from four_seasons_env.experiments.studies import census
from four_seasons_env.records import Record, parse_record
from four_seasons_env.rules import RULES, Rules
from tests.reference.golden import FROZEN, frozen, path_of, play

ROWS = list(RULES.values())
LINE = (
    '{"rules": "four-seasons", "deal": 17, "moves": ["deal", "T3>T0"], "times": [1.5, 2.25], '
    '"undone": 1, "player": "Ada", "result": "open"}'
)


@pytest.mark.parametrize("rules", ROWS, ids=lambda rules: rules.name)
def test_engine_plays_the_golden_game(rules: Rules) -> None:
    text = path_of(rules).read_text()
    (deal,) = re.findall(r"^.*, deal (\d+)$", text, re.M)
    _, lines = play(rules, int(deal))
    assert "\n".join(lines) + "\n" == text, (
        "the rules have changed, or `python -m tests.reference.golden`"
    )


@pytest.mark.parametrize("rules", ROWS, ids=lambda rules: rules.name)
def test_digests_of_rule_sets_are_unchanged(rules: Rules) -> None:
    lines = FROZEN.read_text().splitlines()
    assert frozen(rules) in lines, "what is frozen has changed: see CONTRIBUTING.md, Versions"
    assert len(lines) == len(ROWS)


def test_line_of_recorded_game() -> None:
    record = Record("four-seasons", ("deal", "T3>T0"), 17, None, (1.5, 2.25), "Ada", 1)
    assert record.to_json() == LINE
    assert parse_record(LINE) == record


def test_columns_of_results() -> None:
    game = "agent play rules train_seed deal won cards_up moves seconds"
    assert tuple(game.split()) == comparison.COLUMNS
    solved = "rules deal base status moves positions seconds allowed step"
    assert tuple(solved.split()) == census.COLUMNS
