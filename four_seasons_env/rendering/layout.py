"""Where the places of a rule set lie on the table, for whoever draws it."""

from __future__ import annotations

from four_seasons_env.engine.cards import SUITS

Place = int | str
"""A pile by its number, or a foundation by its suit."""

_CROSS: tuple[tuple[Place, ...], ...] = (("C", 0, "S"), (1, 2, 3), ("H", 4, "D"))
_WIDEST = 6


def grid(piles: int) -> list[list[Place]]:
    """The rows of places: the cross with its four corners, or foundations above rows of piles."""
    if piles == 5:
        return [list(row) for row in _CROSS]
    rows: list[list[Place]] = [list(SUITS)]
    return rows + [
        list(range(first, min(first + _WIDEST, piles))) for first in range(0, piles, _WIDEST)
    ]
