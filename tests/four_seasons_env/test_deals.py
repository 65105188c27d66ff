import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from four_seasons_env.engine import deals
from four_seasons_env.engine.deals import (
    CARD_TEXTS,
    TEST,
    VALIDATION,
    DeckError,
    card_code,
    check_deal,
    deck_text,
    parse_deals,
    parse_deck,
)
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from tests.helpers import ROOT, cards_in_order, numbered_deck, splitmix64, training_deals

DOCUMENT = ROOT / "docs" / "reference" / "data.md"
documented = pytest.mark.skipif(not DOCUMENT.exists(), reason="docs/reference/data.md is missing")


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


@documented
def test_documented_decks():
    rows = re.findall(r"^\| (\d+) \| ((?:[A2-9TJQK][CSHD] ?){52}) *\|$", DOCUMENT.read_text(), re.M)
    assert len(rows) >= 3
    for deal, deck in rows:
        assert dealt_deck(int(deal)) == numbered_deck(int(deal)) == deck.split()


@documented
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


@pytest.mark.parametrize("deal", [-1, 2**63, 1.5, "17", None, [17]])
def test_bad_deal_numbers(deal):
    with pytest.raises(ValueError, match="deal must be"):
        check_deal(deal)
    if deal is not None:
        with pytest.raises(ValueError, match="deal must be"):
            Game(deal=deal)


NO_NUMBERS = ["", "-5", "5-", "a-b", "1.5"]


@pytest.mark.parametrize(
    ("text", "meant"),
    [("17", range(17, 18)), ("0-9999", range(10_000)), ("1,000-1_001", range(1000, 1002))],
)
def test_ranges_of_deals(text, meant):
    assert parse_deals(text) == meant


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, f"^deals must be given as '0-9999' or '17', not '{text}'$")
            for text in NO_NUMBERS
        ),
        ("9-3", "the deals '9-3' run backwards: write '3-9'"),
        ("0-9223372036854775808", r"^deal must be 0 to 2\^63 - 1"),
    ],
)
def test_bad_ranges_of_deals(text, message):
    with pytest.raises(ValueError, match=message):
        parse_deals(text)


# --- cards and decks as text -------------------------------------------------------------------


def test_codes_rise_by_rank_then_suit():
    assert [CARD_TEXTS[code] for code in range(52)] == cards_in_order()
    assert [card_code(text) for text in cards_in_order()] == list(range(52))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("6h", "6H"), ("10d", "TD"), ("T♥\ufe0f", "TH"), ("10♡", "TH"), ("H10", "TH")),
        *(("♥6", "6H"), ("1H", "AH"), ("s1", "AS"), ("🂱", "AH"), ("🃞", "KC"), ("🂭", "QS")),
    ],
)
def test_cards_are_read_as_people_write_them(written, meant):
    assert CARD_TEXTS[card_code(written)] == meant


@pytest.mark.parametrize("text", ["", "H", "11H", "1", "6X", "6HH", "🂬"])
def test_unknown_card_is_named(text):
    with pytest.raises(DeckError, match=f"unknown card {text!r}"):
        card_code(text)


@given(st.permutations(range(52)))
def test_a_deck_is_read_back_as_written(codes):
    text = deck_text(codes)
    assert parse_deck(text) == codes
    assert parse_deck(text.split()) == codes
    assert parse_deck(text.replace(" ", ",\n")) == codes
    signs = [chr(ord("🃑🂡🂱🃁"[code & 3]) + (code >> 2) + (code >= 44)) for code in codes]
    assert parse_deck("".join(signs)) == codes


FULL = cards_in_order()


@pytest.mark.parametrize(
    ("deck", "ranks", "complaint"),
    [
        (FULL[:-1], 13, "missing: KD"),
        ([*FULL[:-1], "AC"], 13, "repeated: AC; missing: KD"),
        ([*FULL, "7H"], 13, "repeated: 7H"),
        ([*FULL[:-1], "ZZ"], 13, "unknown card 'ZZ'"),
        ([*cards_in_order(4), "5C"], 4, "above the highest rank 4: 5C"),
        ([], 4, "missing: AC AS AH AD"),
    ],
)
def test_what_is_wrong_with_a_deck_is_told(deck, ranks, complaint):
    for form in (deck, " ".join(deck)):
        with pytest.raises(DeckError, match=complaint):
            parse_deck(form, ranks)
