"""Colours of a drawing: a light and a dark table, suits in two colours or in four."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from four_seasons_env.arguments import nearest


@dataclass(frozen=True)
class Theme:
    """Colours in CSS notation."""

    table: str
    line: str
    """Colour of places without a card, and of text next to cards."""
    paper: str
    edge: str
    back: str
    pattern: str
    """Colour of the pattern on the back."""
    mark: str
    """The last move."""
    arrow: str
    """Legal moves."""
    suits: dict[str, str]


_TWO = {"C": "#1b1f24", "S": "#1b1f24", "H": "#c1222b", "D": "#c1222b"}
FOUR_COLOURS = {"C": "#00785a", "S": "#1b1f24", "H": "#c44500", "D": "#0064a8"}
"""Green, black, vermilion and blue: also for colour-blind people (after Okabe and Ito)."""

THEMES = {
    "light": Theme(
        table="#e3ece4",
        line="#8fa698",
        paper="#ffffff",
        edge="#9aa5a0",
        back="#3d5a80",
        pattern="#8fa9c8",
        mark="#d98200",
        arrow="#2f6fb0",
        suits=_TWO,
    ),
    "dark": Theme(
        table="#14231c",
        line="#587566",
        paper="#efece4",
        edge="#0b1410",
        back="#3b5378",
        pattern="#7f98b8",
        mark="#ffb338",
        arrow="#6cb2ff",
        suits=_TWO,
    ),
}
"""The themes by name."""


def get_theme(name: str, four_colours: bool = False) -> Theme:
    """The theme of a name, its suits in two colours or in four.

    Raises:
        ValueError: for an unknown name.
    """
    if name not in THEMES:
        raise ValueError(f"unknown theme {name!r}: {nearest(name, THEMES)}")
    theme = THEMES[name]
    return dataclasses.replace(theme, suits=FOUR_COLOURS) if four_colours else theme
