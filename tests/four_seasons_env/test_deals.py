import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from four_seasons_env.engine import deals
from four_seasons_env.engine.deals import (
    CARD_TEXTS,
    TEST,
    VALIDATION,
    card_code,
    deck_text,
    parse_deals,
    parse_deck,
)
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from tests.helpers import ROOT, cards_in_order, numbered_deck, splitmix64, training_deals

DOCUMENT = ROOT / "docs" / "reference" / "data.md"


def dealt_deck(deal: int, ranks: int = 13) -> list[str]:
    """The deck that the engine plays as deal n, read off an opening of one pile."""
    game = Game(Rules(ranks=ranks, piles=1, base_from="aces"), deal=deal)
    return game.tableau[0] + game.stock


def test_splitmix64_matches_the_published_one():
    """The first numbers from seed 1234567, as in Vigna's C code and its many ports."""
    numbers = splitmix64(1234567)
    assert [next(numbers) for _ in range(3)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


@given(st.integers(0, 2**63 - 1), st.integers(4, 13))
def test_any_deal_is_its_definition(deal, ranks):
    assert dealt_deck(deal, ranks) == numbered_deck(deal, ranks)


def test_documented_decks():
    rows = re.findall(r"^\| (\d+) \| ((?:[A2-9TJQK][CSHD] ?){52}) *\|$", DOCUMENT.read_text(), re.M)
    assert len(rows) >= 3
    for deal, deck in rows:
        assert dealt_deck(int(deal)) == numbered_deck(int(deal)) == deck.split()


def test_documented_deck_of_six_ranks():
    found = re.search(r"six ranks, deal 17 is\s+((?:[A2-6][CSHD] ?){24})", DOCUMENT.read_text())
    assert found
    assert dealt_deck(17, 6) == found[1].split()


def test_the_splits_share_no_deal():
    assert (min(TEST), max(TEST)) == (0, 9_999)
    assert (min(VALIDATION), max(VALIDATION)) == (10_000, 19_999)
    assert len(set(TEST) | set(VALIDATION)) == len(TEST) + len(VALIDATION)
    assert max(*TEST, *VALIDATION) < deals.TRAIN_FROM


@pytest.mark.parametrize("seed", [0, 2**64 - 1])
def test_training_deals_follow_the_seed(seed):
    env = FourSeasonsEnv("czarina")
    played = [env.reset(seed=seed)[1]["deal"]] + [env.reset()[1]["deal"] for _ in range(50)]
    assert played == training_deals(seed, 51)
    assert min(played) >= deals.TRAIN_FROM


@pytest.mark.parametrize(
    ("text", "meant"),
    [("17", range(17, 18)), ("0-9999", range(10_000)), ("1,000-1_001", range(1000, 1002))],
)
def test_ranges_of_deals(text, meant):
    assert parse_deals(text) == meant


# --- cards and decks as text -------------------------------------------------------------------


def test_codes_rise_by_rank_then_suit():
    assert [CARD_TEXTS[code] for code in range(52)] == cards_in_order()
    assert [card_code(text) for text in cards_in_order()] == list(range(52))


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
