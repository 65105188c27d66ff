import dataclasses

import pytest
from hypothesis import given

from four_seasons_env.files import file_name
from four_seasons_env.rules import ALIASES, RULES, Rules, get_rules
from tests.helpers import rule_sets


def test_names_aliases_and_rules_are_found():
    assert get_rules("czarina") is RULES["czarina"]
    assert {get_rules(alias).name for alias in ALIASES} == {"four-seasons"}
    mine = Rules(ranks=6)
    assert get_rules(mine) is mine


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("czarina(piles=4,runs=True)", "czarina(piles=4,runs=True)"),
        (" corner-card ( piles = 4, wrap='linear' ) ", "four-seasons(piles=4,wrap=linear)"),
        (
            "small-4x3-cells(piles=2)(worrying_back=true)",
            "small-4x3-cells(piles=2)(worrying_back=True)",
        ),
    ],
)
def test_changed_rules_are_read(text, name):
    assert get_rules(text).name == name
    assert get_rules(name) == get_rules(text)
    assert set(file_name(name)) & set("()=,/ ") == set()


@given(rule_sets())
def test_rules_are_values(rules):
    twin = dataclasses.replace(rules, about="another source")
    assert twin == rules
    assert hash(twin) == hash(rules)
