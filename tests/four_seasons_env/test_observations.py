"""The encoders against their documented tables; digests in test_frozen.py have `places`."""

import numpy as np
from hypothesis import given

from four_seasons_env.game import Game
from tests.helpers import RANKS, SUITS, observe, positions


def one_hot(index: int | None, length: int) -> list[float]:
    return [float(i == index) for i in range(length)]


def tops_by_the_table(game: Game) -> list[float]:
    """The table of `tops` in the docstring of observations.py, in plain Python."""
    ranks, cards = game.rules.ranks, game.rules.cards
    slots = []
    for pile in [*game.tableau, game.waste]:
        card = pile[-1] if pile else None
        slots += one_hot(card and relative_rank(game, card), ranks)
        slots += one_hot(card and SUITS.index(card[1]), 4)
    for suit in SUITS:
        slots += one_hot(len(game.foundations[suit]), ranks + 1)
    slots += [len(pile) / cards for pile in game.tableau]
    slots += one_hot(RANKS.index(game.bases["C"][0]), ranks)
    slots += [game.stock_size / cards, len(game.waste) / cards, game.redeals_left / 2]
    if game.rules.limited_redeal:
        second_round = game.redeals_left == 0 and game.stock_size
        card = game.stock[0] if second_round else None
        slots += one_hot(card and relative_rank(game, card), ranks)
        slots += one_hot(card and SUITS.index(card[1]), 4)
    return slots


def relative_rank(game: Game, card: str) -> int:
    """Steps up from the base card of the card's suit."""
    return (RANKS.index(card[0]) - RANKS.index(game.bases[card[1]][0])) % game.rules.ranks


def cards_by_the_table(game: Game) -> list[float]:
    """The table of `cards`."""
    ranks, cards = game.rules.ranks, game.rules.cards
    stock_is_known = game.redeals_left < game.rules.redeals
    slots = tops_by_the_table(game)
    for suit in SUITS:
        base = RANKS.index(game.bases[suit][0])
        for step in range(ranks):
            card = RANKS[(base + step) % ranks] + suit
            piles = [pile for pile in [game.waste, *game.tableau] if card in pile]
            slots.append(float(card in game.stock))
            slots.append(float(card in game.foundations[suit]))
            slots += [float(card in pile) for pile in [game.waste, *game.tableau]]
            slots.append((len(piles[0]) - piles[0].index(card) - 1) / cards if piles else 0.0)
            known = stock_is_known and card in game.stock
            slots.append((game.stock.index(card) + 1) / cards if known else 0.0)
    return slots


@given(positions())
def test_each_slot_is_as_documented(game):
    np.testing.assert_allclose(observe(game, "tops"), tops_by_the_table(game), atol=1e-6)
    np.testing.assert_allclose(observe(game, "cards"), cards_by_the_table(game), atol=1e-6)
