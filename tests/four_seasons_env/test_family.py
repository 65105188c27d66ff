"""The rows that the books have and programs have not, by examples written out by hand."""

import re

import pytest

from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.rendering import draw_svg
from tests.helpers import deck_with, observe, small, texts

LIMITED = small("czarina-1898", ranks=4, piles=1)


# --- a limited redeal -----------------------------------------------------------------------------


def second_round(start: str) -> Game:
    """A small game just after its redeal: T0 and base come first, then the cards of the waste."""
    game = Game(LIMITED, deck=deck_with(start, ranks=4))
    while game.stock_size:
        game.play("deal")
    game.play("redeal")
    return game


def test_a_limited_redeal_offers_two_cards():
    game = second_round("3C 2H 4S 2C 3H 2S 3S AD")
    assert (game.waste, game.face_up, game.redeals_left) == (["4S"], "2C", 0)
    assert texts(game.legal_moves()) == {"S>F", "S>T0"}
    with pytest.raises(IllegalMove, match="is turned automatically"):
        game.play("deal")
    with pytest.raises(IllegalMove, match="4S"):
        game.play("W>F")


def test_what_lies_face_up_is_seen():
    game = second_round("3C 2H 4S 2C 3H 2S 3S AD")
    assert "face up: 2C" in str(game)
    assert re.search(r'class="card" data-card="2C" data-at="stock"', draw_svg(game))
    slots = observe(game, "tops")[-(4 + 4) :]  # relative rank, suit
    assert slots.tolist() == [1, 0, 0, 0, 1, 0, 0, 0]
    game.play("S>F")
    assert observe(game, "tops")[-8:].tolist() == [0, 1, 0, 0, 0, 0, 1, 0]
    before = Game(LIMITED, deal=3)
    assert before.face_up is None
    assert not observe(before, "tops")[-8:].any()


# --- a reserve ------------------------------------------------------------------------------------

FLORENTINE = "5H 9C 4D 8S 8D 2C 7C QD JS"


def test_the_reserve_is_not_packed():
    game = Game("florentine", deck=deck_with(FLORENTINE))
    assert game.tableau == [["9C"], ["4D"], ["8S"], ["8D"], ["2C"]]
    assert texts(game.legal_moves()) == {"deal", "T3>T0"}
    game.play("deal")
    assert texts(game.legal_moves()) == {"deal", "T3>T0", "W>T3"}
    reasons = {"W>T2": "filled from the stock alone", "T2>T0": "goes to its foundation or to a"}
    for move, reason in reasons.items():
        with pytest.raises(IllegalMove, match=reason):
            game.play(move)


def test_spaces_take_reserve_or_waste_cards():
    game = Game("florentine", deck=deck_with(FLORENTINE))
    game.play("T3>T0")
    assert texts(game.legal_moves()) == {"deal", "T2>T3"}
    with pytest.raises(IllegalMove, match="a space is filled with the waste's card or the reserve"):
        game.play("T1>T3")
    game.play("deal")
    assert texts(game.legal_moves()) == {"deal", "T2>T3", "W>T3", "W>T0"}
    game.play("T2>T3")
    assert game.tableau == [["9C", "8D"], ["4D"], ["QD"], ["8S"], ["2C"]]  # from the stock
    assert (game.waste, game.stock[0]) == (["7C"], "JS")
