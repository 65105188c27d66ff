import dataclasses
import importlib.util

import pytest
from hypothesis import given

from four_seasons_env import game
from four_seasons_env import rules as rules_module
from four_seasons_env.env import FourSeasonsEnv
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


def test_reloaded_modules_mean_the_same():
    """Their classes are new ones of the same name, as after `importlib.reload`."""
    twins = [importlib.util.module_from_spec(module.__spec__) for module in (rules_module, game)]
    for twin in twins:
        twin.__spec__.loader.exec_module(twin)
    assert twins[0].Rules is not Rules
    for found in (game.Game(twins[0].RULES["czarina"], deal=17), twins[1].Game("czarina", deal=17)):
        assert FourSeasonsEnv("czarina").reset(options={"game": found})[1]["deal"] == 17
        with pytest.raises(ValueError, match="'four-seasons', not 'czarina'"):
            FourSeasonsEnv().reset(options={"game": found})
