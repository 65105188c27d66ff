"""Detect that a deterministic player cycles and would never end the game."""

from __future__ import annotations

from four_seasons_env.engine.jit import jit


@jit
def goes_round(g, saved, since):
    """Whether a game repeats a position; call this after each move, from the first.

    Brent's cycle detection: one earlier position is saved, and replaced after 1, 2, 4 ... moves. A
    cycle of n moves is found after 3n moves at most.

    Args:
        saved: GAME (1,), the earlier position.
        since: int64 (2,), moves since it was saved, and until it is replaced; zeros at first.
    """
    progress = g.cards_up != saved[0].cards_up or g.dealt != saved[0].dealt
    if since[1] and not progress and _same(g, saved[0]):
        return True
    since[0] += 1
    if progress:
        since[1] = 0
    if since[0] >= since[1]:
        saved[0] = g
        since[0] = 0
        since[1] = 2 * since[1] + 1
    return False


@jit
def _same(g, other):
    """Whether two positions with equal counts of cards dealt and up have the same piles."""
    for place in range(13):
        if g.top[place] != other.top[place] or g.height[place] != other.height[place]:
            return False
    if g.redeals != other.redeals:
        return False
    same = True
    for card in range(52):
        same &= g.below[card] == other.below[card]
    return same
