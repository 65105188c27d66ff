import dataclasses

import pytest
from hypothesis import given

from four_seasons_env.files import file_name
from four_seasons_env.registration import ENVS
from four_seasons_env.rules import ALIASES, RULES, Rules, UnknownRules, get_rules
from tests.helpers import rule_sets


def test_names_aliases_and_rules_are_found():
    assert get_rules("czarina") is RULES["czarina"]
    for alias in ("corner-card", "vanishing-cross", "cross-currents"):
        assert alias in ALIASES
        assert get_rules(alias) is RULES["four-seasons"]
    own = Rules(ranks=6)
    assert get_rules(own) is own
    assert set(ENVS.values()) <= set(RULES)


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(ValueError, match="unknown rules 'czarena': did you mean 'czarina'"):
        get_rules("czarena")
    with pytest.raises(ValueError, match="unknown rules 'xyzzy': known: four-seasons"):
        get_rules("xyzzy")
    with pytest.raises(TypeError, match="a name or a Rules, not 5"):
        get_rules(5)


def test_names_that_rules_do_not_have():
    for error in (KeyError, ValueError):
        with pytest.raises(error, match="unknown rules 'czarin': did you mean 'czarina'"):
            RULES["czarin"]
    with pytest.raises(UnknownRules, match=r"use get_rules\('corner-card'\)"):
        RULES["corner-card"]
    with pytest.raises(UnknownRules, match=r"use get_rules\('small-4x3-cells'\)"):
        RULES["small-4x3-cells"]
    with pytest.raises(
        UnknownRules, match="unknown rules 'small-4x9-cells': did you mean 'small-4x"
    ):
        RULES["small-4x9-cells"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"ranks": 3}, "ranks must be an integer from 4 to 13, not 3"),
        ({"piles": 0}, "piles must be an integer from 1 to 12, not 0"),
        ({"redeals": 3}, "from 0 to 2"),
        ({"first_waste": 2}, "from 0 to 1"),
        ({"base_from": "sixht"}, "unknown base_from 'sixht': did you mean 'sixth'"),
        ({"runs": 1}, "runs must be True or False, not 1"),
        ({"opening": "as_dealt"}, "as_dealt.* needs base_from='first'"),
        ({"base_from": "one_per_suit"}, "use build='none'"),
        ({"runs": True, "build": "none"}, "packs nothing"),
        ({"opening": "empty"}, "opening='empty' .* use base_from='first'"),
        ({"opening": "empty", "base_from": "first", "spaces": "auto_stock"}, "fills them at once"),
        ({"opening": "empty", "base_from": "first", "reserve": True}, "use opening='fixed'"),
        ({"reserve": True, "piles": 1}, "use piles=2 or more"),
        ({"reserve": True, "spaces": "auto_waste"}, "use spaces='optional'"),
        ({"limited_redeal": True}, "use redeals=1, not 0"),
        (
            {"limited_redeal": True, "redeals": 1, "spaces": "before_dealing"},
            "wants a space filled first",
        ),
        (
            {
                "ranks": 4,
                "piles": 12,
                "base_from": "one_per_suit",
                "build": "none",
                "first_waste": 1,
            },
            "the opening takes 17 cards, but 4 ranks make a deck of 16",
        ),
    ],
)
def test_wrong_rules(fields, reason):
    with pytest.raises(ValueError, match=reason):
        Rules(**fields)
    with pytest.raises(ValueError, match=reason):
        RULES["four-seasons"].replace(**fields)


def test_replace_tells_what_was_changed():
    variant = RULES["four-seasons"].replace(piles=2, ranks=6)
    assert (variant.piles, variant.ranks, variant.cards) == (2, 6, 24)
    assert variant.name == "four-seasons(piles=2,ranks=6)"
    assert variant.replace(name="mine").name == "mine"
    with pytest.raises(TypeError, match="unknown field 'pile': did you mean 'piles'"):
        variant.replace(pile=3)


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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("czarena(piles=4)", "unknown rules 'czarena': did you mean 'czarina'"),
        ("czarina(pile=4)", "unknown field 'pile' in .*: did you mean 'piles'"),
        ("czarina(name=mine)", "unknown field 'name'"),
        ("czarina(piles=four)", "piles must be an integer from 1 to 12, not 'four'"),
        ("czarina(runs=1)", "runs must be True or False, not 1"),
        ("czarina(wrap=nevr)", "did you mean 'never'"),
        ("czarina()", "write each field once"),
        ("czarina(piles=4", "write each field once"),
        ("czarina)", "write each field once"),
        ("czarina(piles=4,piles=4)", "write each field once"),
    ],
)
def test_wrong_changes_name_the_nearest(text, reason):
    with pytest.raises(ValueError, match=reason):
        get_rules(text)


@given(rule_sets())
def test_rules_are_values(rules):
    twin = Rules(**dataclasses.asdict(rules))
    assert twin == rules
    assert hash(twin) == hash(rules)
    assert dataclasses.replace(rules, about="another source") == rules
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.piles = 3
