import pytest
from hypothesis import given
from hypothesis import strategies as st

from four_seasons_env.engine.cards import DeckError, card_code, card_text, deck_text, parse_deck
from tests.helpers import cards_in_order


def test_codes_rise_by_rank_then_suit():
    assert [card_text(code) for code in range(52)] == cards_in_order()
    assert [card_code(text) for text in cards_in_order()] == list(range(52))


@pytest.mark.parametrize(
    ("written", "meant"), [("6h", "6H"), ("10d", "TD"), ("T♥\ufe0f", "TH"), ("10♡", "TH")]
)
def test_cards_are_read_as_people_write_them(written, meant):
    assert card_text(card_code(written)) == meant


@pytest.mark.parametrize("text", ["", "H", "1H", "6X", "6HH"])
def test_unknown_card_is_named(text):
    with pytest.raises(DeckError, match=f"unknown card {text!r}"):
        card_code(text)


@given(st.permutations(range(52)))
def test_a_deck_is_read_back_as_written(codes):
    text = deck_text(codes)
    assert parse_deck(text) == codes
    assert parse_deck(text.split()) == codes
    assert parse_deck(text.replace(" ", ",\n")) == codes


FULL = cards_in_order()


@pytest.mark.parametrize(
    ("deck", "ranks", "complaint"),
    [
        (FULL[:-1], 13, "missing: KD"),
        ([*FULL[:-1], "AC"], 13, "twice there: AC; missing: KD"),
        ([*FULL, "7H"], 13, "twice there: 7H"),
        ([*FULL[:-1], "ZZ"], 13, "unknown card 'ZZ'"),
        ([*cards_in_order(4), "5C"], 4, "above the highest rank 4: 5C"),
        ([], 4, "missing: AC AS AH AD"),
    ],
)
def test_what_is_wrong_with_a_deck_is_told(deck, ranks, complaint):
    for form in (deck, " ".join(deck)):
        with pytest.raises(DeckError, match=complaint):
            parse_deck(form, ranks)
