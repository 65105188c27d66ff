"""One card as SVG, face up or face down, and the colours and signs of a drawing.

A card's top left corner is the origin. Suits, ranks and numbers are paths, which need no font.
"""

from __future__ import annotations

from four_seasons_env.rendering.layout import CARD

# --- colours, in CSS notation: the page of `four-seasons play` has others in its CSS

TABLE = "#e3ece4"
LINE = "#8fa698"
"""Places without a card."""
LABEL = "#52645a"
"""Text next to cards, and in places without a card."""
PAPER = "#ffffff"
EDGE = "#9aa5a0"
BACK = "#3d5a80"
PATTERN = "#8fa9c8"
"""The pattern on the back."""
MARK = "#d98200"
"""The last move."""
ARROW = "#2f6fb0"
"""Legal moves."""
INK = {"C": "#1b1f24", "S": "#1b1f24", "H": "#c1222b", "D": "#c1222b"}
"""Colours of the suits."""

# --- cards

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


_WHOLE = {"x": ".5", "y": ".5", "width": CARD[0] - 1, "height": CARD[1] - 1, "rx": _ROUND}
"""The shape of a card."""


def face(card: str, seen: float | None = None) -> str:
    """A card face up.

    Args:
        card: its text, such as "6H".
        seen: height of the strip that the card above leaves; None for a card that is not covered.
    """
    paper = shape("rect", "paper", **_WHOLE, fill=PAPER, stroke=EDGE)
    corner = _index(card, 1 if seen is None else min(1, seen / _STRIP))
    if seen is not None:
        return paper + corner
    colour, classes = INK[card[1]], f"ink suit-{card[1]}"
    middle, crown = CARD[0] / 2, _CROWNS.get(card[0])
    if not crown:
        sign = suit(card[1], middle, 84, size=58, colour=colour, classes=classes)
        return paper + corner + sign
    place = f"translate({number(middle)} 62)"
    head = shape("path", classes, d=crown, fill=colour, transform=place)
    sign = suit(card[1], middle, 98, size=46, colour=colour, classes=classes)
    return paper + corner + head + sign


def _index(card: str, size: float) -> str:
    """Rank and suit in the corner; size 1 for a card that is not covered."""
    colour, classes = INK[card[1]], f"ink suit-{card[1]}"
    height = _INDEX * size
    x, y = 9 * size + 1, 7.5 * size
    beside = x + text_width(card[0]) * height / 20 + 14 * size
    rank = write(card[0], x, y, height=height, colour=colour, classes=f"stroke {classes}")
    sign = suit(card[1], beside, y + height / 2, size=0.86 * height, colour=colour, classes=classes)
    return rank + sign


def back(count: int) -> str:
    """A card face down, with the number of cards in the stock on it."""
    rhombs = "".join(
        f"M{x} {y - 8}L{x + 8} {y}L{x} {y + 8}L{x - 8} {y}Z"
        for row, y in enumerate(range(22, CARD[1] - 14, 16))
        for x in range(18 + 8 * (row % 2), CARD[0] - 10, 16)
    )
    lines = {"fill": "none", "stroke": PATTERN, "stroke_width": 1, "stroke_opacity": ".7"}
    return (
        shape("rect", "back", **_WHOLE, fill=BACK, stroke=EDGE)
        + shape("path", "pattern", d=rhombs, **lines)
        + shape("rect", "plate", x=22, y=48, width=56, height=44, rx=8, fill=BACK)
        + write_between(
            str(count), y=CARD[1] / 2 - 12, height=24, colour="#ffffff", classes="count"
        )
    )


def outline(classes: str, stroke: str) -> str:
    """The shape of a card without a face."""
    area = {"x": 1, "y": 1, "width": CARD[0] - 2, "height": CARD[1] - 2, "rx": _ROUND}
    line = {"fill": "none", "stroke": stroke, "stroke_width": 2, "stroke_opacity": ".7"}
    return shape("rect", classes, **area, **line)


# --- suits, ranks and numbers

_SUITS = {
    "C": "M0-10A4.6 4.6 0 0 1 3.6-2.5A4.6 4.6 0 1 1 .9 5C1 7.5 1.8 9 3.5 10H-3.5C-1.8 9-1 7.5-.9 5"
    "A4.6 4.6 0 1 1-3.6-2.5A4.6 4.6 0 0 1 0-10Z",
    "S": "M0-10C4-5 10-1.5 10 3.5C10 6.5 7.8 8 5.4 8C3.4 8 1.6 7 .8 5.2C1 7.5 1.8 9 3.5 10H-3.5"
    "C-1.8 9-1 7.5-.8 5.2C-1.6 7-3.4 8-5.4 8C-7.8 8-10 6.5-10 3.5C-10-1.5-4-5 0-10Z",
    "H": "M0 10C-4 5-10 1-10-4.5C-10-8-7.5-10-5-10C-2.5-10-.8-8.5 0-6.5C.8-8.5 2.5-10 5-10"
    "C7.5-10 10-8 10-4.5C10 1 4 5 0 10Z",
    "D": "M0-10C2-6 5-2.5 8 0C5 2.5 2 6 0 10C-2 6-5 2.5-8 0C-5-2.5-2-6 0-10Z",
}

_STROKES = {
    "A": (12, "M0 20L6 0L12 20M2.4 13H9.6"),
    "0": (11, "M5.5 0C-1.8 0-1.8 20 5.5 20C12.8 20 12.8 0 5.5 0Z"),
    "1": (5, "M0 4L5 0V20"),
    "2": (11, "M.5 5.5C.5-1.8 11-1.8 11 5C11 9.5 0 14 0 20H11"),
    "3": (11, "M.5 3.5C2-1.2 10.5-1.2 10.5 4.8C10.5 8.5 7 9.5 4.5 9.5C8 9.5 11 11 11 14.5"
          "C11 21.8 1 21.8 0 16.5"),
    "4": (12, "M9 20V0L0 14H12"),
    "5": (11, "M10 0H1.5L.8 9C4 6.5 11 7 11 13.5C11 21.8 1.5 21.8 0 17"),
    "6": (11, "M10 2.5C7-2 0-.5 0 12.5C0 22.5 11 22.5 11 13.5C11 6 1 6 0 13"),
    "7": (11, "M0 0H11L4.5 20"),
    "8": (11, "M5.5 9.2C-1.3 9.2-.8 0 5.5 0C11.8 0 12.3 9.2 5.5 9.2C-2 9.2-1.6 20 5.5 20"
          "C12.6 20 13 9.2 5.5 9.2Z"),
    "9": (11, "M1 17.5C4 22 11 20.5 11 7.5C11-2.5 0-2.5 0 6.5C0 14 10 14 11 7"),
    "J": (9, "M9 0V14C9 22 0 22 0 15"),
    "Q": (12, "M6 0C-2 0-2 20 6 20C14 20 14 0 6 0ZM7.5 14.5L12.5 21"),
    "K": (12, "M0 0V20M11.5 0L0 12M4.2 8L12 20"),
    "+": (9, "M4.5 6.5V15.5M0 11H9"),
}  # fmt: skip
_BETWEEN = 4.5
"""Two strokes of a number."""


def shape(name: str, classes: str, **attributes: object) -> str:
    """An SVG element without content; `stroke_width` is the attribute `stroke-width`."""
    pairs = (f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f'<{name} class="{classes}"{"".join(pairs)}/>'


def number(value: float) -> str:
    """A length as SVG text, with at most two decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def text_width(text: str) -> float:
    """The width of ranks or digits of a height of 20 units; "T" is a ten."""
    widths = [_STROKES[letter][0] for letter in text.replace("T", "10")]
    return sum(widths) + _BETWEEN * (len(widths) - 1)


def write(text: str, x: float, y: float, *, height: float, colour: str, classes: str) -> str:
    """Ranks or digits as SVG: their top left corner, and their height."""
    scale = height / 20
    parts, at = [], 0.0
    for letter in text.replace("T", "10"):
        width, path = _STROKES[letter]
        move = f' transform="translate({number(at)} 0)"' if at else ""
        parts.append(f'<path d="{path}"{move}/>')
        at += width + _BETWEEN
    return (
        f'<g class="{classes}" transform="translate({number(x)} {number(y)}) '
        f'scale({number(scale)})" fill="none" stroke="{colour}" stroke-width="3.2" '
        f'stroke-linecap="round" stroke-linejoin="round">{"".join(parts)}</g>'
    )


def write_between(
    text: str,
    *,
    left: float = 0,
    width: float = CARD[0],
    y: float,
    height: float,
    colour: str,
    classes: str,
) -> str:
    """`write` in the middle of a width that starts at the left; by default, that of a card."""
    x = left + (width - text_width(text) * height / 20) / 2
    return write(text, x, y, height=height, colour=colour, classes=classes)


def suit(name: str, x: float, y: float, *, size: float, colour: str, classes: str) -> str:
    """A suit's sign as SVG: its centre, and how high it is."""
    place = f"translate({number(x)} {number(y)}) scale({number(size / 20)})"
    return shape("path", classes, d=_SUITS[name], fill=colour, transform=place)
