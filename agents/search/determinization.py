"""Worlds: what the hidden part of the stock may look like, drawn without a glance at it.

A search that imagines the unseen cards in another order first forgets the true one (`forget`): two
positions that look the same to the player are then the same to the byte, so all that follows from
one random state is too.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import reshuffle_unseen, stock_cards, stock_is_known

_ONE = np.uint64(1)


@jit
def forget(g, rule):
    """Put the cards of the stock that the player has not seen in the order of the cards."""
    if stock_is_known(g, rule):
        return
    unseen = stock_cards(g)
    at = np.int64(g.dealt)
    for card in range(NO_CARD):
        if (unseen >> np.uint64(card)) & _ONE:
            g.deck[at] = card
            at += 1


@jit
def imagine(g, rule, seed, first):
    """Shuffle the unseen cards of a forgotten stock by a uint64 seed.

    Args:
        first: counts worlds; the card that is dealt next is each unseen one in turn, so that luck
            weighs less. -1: any.
    """
    left = np.int64(g.deck_size) - np.int64(g.dealt)
    if left <= 0 or stock_is_known(g, rule):
        return
    card = g.deck[g.dealt + first % left]
    reshuffle_unseen(g, rule, seed)
    if first >= 0:
        for i in range(g.dealt, g.deck_size):
            if g.deck[i] == card:
                g.deck[i] = g.deck[g.dealt]
                g.deck[g.dealt] = card
                return
