"""One card as SVG, face up or face down; its top left corner is the origin."""

from __future__ import annotations

from four_seasons_env.rendering import colours
from four_seasons_env.rendering.glyphs import number, suit, text_width, write
from four_seasons_env.rendering.layout import CARD

_ROUND = 9
_INDEX = 22.0
"""Height of the rank in the corner."""
_STRIP = 34.0
"""Height of the strip that a corner of full size needs."""

_CROWNS = {
    "K": "M-21 6L-24-9L-12-1L0-14L12-1L24-9L21 6ZM-21 9H21V13H-21Z",
    "Q": "M-20 6C-20 0-24-6-23-10C-18-9-15-5-12-1C-10-6-8-12 0-15C8-12 10-6 12-1C15-5 18-9 23-10"
    "C24-6 20 0 20 6Z",
    "J": "M-20 13V9H20V13ZM-19 6C-23-6-10-14 2-13C14-12 20-4 19 6Z"
    "M9-13C12-21 19-25 26-24C27-16 23-9 16-7Z",
}
"""The drawing above the suit of a court card: a crown, a diadem, a cap with a feather."""


def outline(classes: str, stroke: str) -> str:
    """The shape of a card without a face."""
    return (
        f'<rect class="{classes}" x="1" y="1" width="{CARD[0] - 2}" height="{CARD[1] - 2}" '
        f'rx="{_ROUND}" fill="none" stroke="{stroke}" stroke-width="2" stroke-opacity=".7"/>'
    )


def _paper() -> str:
    return (
        f'<rect class="paper" x=".5" y=".5" width="{CARD[0] - 1}" height="{CARD[1] - 1}" '
        f'rx="{_ROUND}" fill="{colours.PAPER}" stroke="{colours.EDGE}"/>'
    )


def _index(card: str, size: float) -> str:
    """Rank and suit in the corner; size 1 for a card that is not covered."""
    colour, classes = colours.SUIT[card[1]], f"ink suit-{card[1]}"
    height = _INDEX * size
    x, y = 9 * size + 1, 7.5 * size
    beside = x + text_width(card[0]) * height / 20 + 14 * size
    return write(card[0], x, y, height, colour, f"stroke {classes}") + suit(
        card[1], beside, y + height / 2, 0.86 * height, colour, classes
    )


def face(card: str, seen: float | None = None) -> str:
    """A card face up.

    Args:
        card: its text, such as "6H".
        seen: height of the strip that the card above leaves; None for a card that is not covered.
    """
    parts = [_paper(), _index(card, 1 if seen is None else min(1, seen / _STRIP))]
    if seen is None:
        colour, classes = colours.SUIT[card[1]], f"ink suit-{card[1]}"
        middle, crown = CARD[0] / 2, _CROWNS.get(card[0])
        if crown:
            parts.append(
                f'<path class="{classes}" d="{crown}" fill="{colour}" '
                f'transform="translate({number(middle)} 62)"/>'
            )
        parts.append(
            suit(card[1], middle, 98 if crown else 84, 46 if crown else 58, colour, classes)
        )
    return "".join(parts)


def back(count: int) -> str:
    """A card face down, with the number of cards in the stock on it."""
    rhombs = "".join(
        f"M{x} {y - 8}L{x + 8} {y}L{x} {y + 8}L{x - 8} {y}Z"
        for row, y in enumerate(range(22, CARD[1] - 14, 16))
        for x in range(18 + 8 * (row % 2), CARD[0] - 10, 16)
    )
    digits = str(count)
    x = (CARD[0] - text_width(digits) * 1.2) / 2
    return (
        f'<rect class="back" x=".5" y=".5" width="{CARD[0] - 1}" height="{CARD[1] - 1}" '
        f'rx="{_ROUND}" fill="{colours.BACK}" stroke="{colours.EDGE}"/>'
        f'<path class="pattern" d="{rhombs}" fill="none" stroke="{colours.PATTERN}" '
        'stroke-width="1" stroke-opacity=".7"/>'
        f'<rect class="plate" x="22" y="48" width="56" height="44" rx="8" fill="{colours.BACK}"/>'
        + write(digits, x, CARD[1] / 2 - 12, 24, "#ffffff", "count")
    )
