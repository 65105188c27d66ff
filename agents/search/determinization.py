"""Determinization: orders of the unseen cards, drawn without using their true order.

A search that samples orders of the unseen cards first sorts them (`engine.kernel.sort_unseen`), so
that positions that look the same to the player lead to the same result for the same random state.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import reshuffle_unseen, stock_is_known


@jit
def determinize(g, rule, seed, world):
    """Put the unseen cards in a random order.

    Args:
        g: a position after `sort_unseen`; changed in place.
        seed: uint64.
        world: number of the world. World k deals the k-th unseen card next (modulo their number),
            so that a sample covers the next card evenly. -1: any card may come next.
    """
    left = np.int64(g.deck_size) - np.int64(g.dealt)
    if left <= 0 or stock_is_known(g, rule):
        return
    card = g.deck[g.dealt + world % left]
    reshuffle_unseen(g, rule, seed)
    if world >= 0:  # exchange the card for the one that the shuffle put next
        for i in range(g.dealt, g.deck_size):
            if g.deck[i] == card:
                g.deck[i] = g.deck[g.dealt]
                g.deck[g.dealt] = card
                return
