import pickle
import re

import gymnasium as gym
import numpy as np
import pandas as pd
import pytest
from gymnasium.envs.registration import EnvSpec
from hypothesis import given
from hypothesis import strategies as st

from four_seasons_env.engine import deals
from four_seasons_env.engine.deals import (
    CARD_TEXTS,
    TEST,
    VALIDATION,
    card_code,
    deals_in_words,
    deck_text,
    parse_deals,
    parse_deck,
)
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.registration import NEXT_DEAL, TEXT
from four_seasons_env.rules import Rules
from tests.helpers import ROOT, numbered_deck, training_deals

DOCUMENT = ROOT / "docs" / "reference" / "deals.md"


def dealt_deck(deal: int, ranks: int = 13) -> list[str]:
    """The deck that the engine plays as deal n, read off an opening of one pile."""
    game = Game(Rules(ranks=ranks, piles=1, base_from="aces"), deal=deal)
    return game.tableau[0] + game.stock


@given(st.integers(0, 2**63 - 1), st.integers(4, 13))
def test_any_deal_is_its_definition(deal, ranks):
    assert dealt_deck(deal, ranks) == numbered_deck(deal, ranks)


def test_documented_decks():
    rows = re.findall(r"^\| (\d+) \| ((?:[A2-9TJQK][CSHD] ?){52}) *\|$", DOCUMENT.read_text(), re.M)
    assert len(rows) >= 3
    for deal, deck in rows:
        assert dealt_deck(int(deal)) == deck.split()
    found = re.search(r"six ranks, deal 17 is\s+((?:[A2-6][CSHD] ?){24})", DOCUMENT.read_text())
    assert found and dealt_deck(17, 6) == found[1].split()


def test_the_splits_share_no_deal():
    assert (min(TEST), max(TEST)) == (0, 9_999)
    assert (min(VALIDATION), max(VALIDATION)) == (10_000, 19_999)
    assert max(*TEST, *VALIDATION) < deals.TRAIN_FROM


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_training_deals_follow_the_seed(seed):
    env = FourSeasonsEnv("czarina")
    played = [env.reset(seed=seed)[1]["deal"]] + [env.reset()[1]["deal"] for _ in range(50)]
    assert played == training_deals(seed, 51)
    assert min(played) >= deals.TRAIN_FROM


CHOSEN = (deals.TRAIN_FROM + 5, 10_007, 2**63 - 1, 10_007)


@pytest.mark.parametrize("env_id", ["FourSeasons-v0", NEXT_DEAL, TEXT])
@pytest.mark.parametrize(
    "chosen",
    [
        *(CHOSEN, np.array(CHOSEN), pd.Series(CHOSEN), range(10_000, 20_000, 7)),
        *(range(2**63 - 1, 0, -3), range(10_000, 2**63), range(17, 18, 2**70)),
    ],
)
def test_episodes_draw_from_chosen_deals(env_id, chosen):
    """A range is never expanded: those here would take years."""
    env = gym.make(env_id, deals=chosen, allow_test_deals=True)
    again = gym.make(EnvSpec.from_json(env.spec.to_json()))
    is_range = isinstance(chosen, range)  # `len` counts up to 2^63 - 1
    count = (chosen[-1] - chosen[0]) // chosen.step + 1 if is_range else len(chosen)
    expected = [chosen[(deal - deals.TRAIN_FROM) % count] for deal in training_deals(11, 9)]
    for each in (env, again, pickle.loads(pickle.dumps(env))):
        played = [each.reset(seed=11)[1]["deal"]] + [each.reset()[1]["deal"] for _ in range(8)]
        assert played == expected
    assert env.reset(options={"deal": 17})[1]["deal"] == 17


def test_chosen_deals_can_be_replaced():
    env = gym.make("FourSeasons-v0", deals=[3], allow_test_deals=True)
    assert env.reset(seed=11)[1]["deal"] == 3
    env.unwrapped.set_deals(range(10_001, 10_002))
    assert env.reset()[1]["deal"] == 10_001
    env.unwrapped.set_deals(None)
    assert env.reset()[1]["deal"] == training_deals(11, 3)[2]


@pytest.mark.parametrize(
    ("text", "meant"),
    [("17", range(17, 18)), ("test", range(10_000)), ("1,000-1_001", range(1000, 1002))],
)
def test_ranges_of_deals(text, meant):
    assert parse_deals(text) == meant


def test_a_range_names_its_split():
    ranges = ("test", "10000-10999", "9999-10000", "20000")
    assert [deals_in_words(parse_deals(each)) for each in ranges] == [
        "test deals 0-9,999",
        "validation deals 10,000-10,999",
        "deals 9,999-10,000",
        "deals 20,000-20,000",
    ]


# --- cards and decks as text -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [("6h", "6H"), ("10d", "TD"), ("T♥\ufe0f", "TH"), ("10♥", "TH"), ("1H", "AH")],
)
def test_cards_are_read_as_people_write_them(written, meant):
    assert CARD_TEXTS[card_code(written)] == meant


@given(st.permutations(range(52)))
def test_a_deck_is_read_back_as_written(codes):
    text = deck_text(codes)
    assert parse_deck(text) == codes
    assert parse_deck(text.split()) == codes
    assert parse_deck(text.replace(" ", ",\n")) == codes
