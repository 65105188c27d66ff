"""Drawings of positions: as text, SVG or pixels.

- `svg`: `draw_svg`, the only drawing; `layout` and `cards` are its parts.
- `picture`: the drawing as pixels, and as SVG and PNG files.
- `text`: the text of `print(game)`.

A drawing shows only what the player may see. For the stock, this is its size and a card that lies
face up.
"""

from __future__ import annotations

from typing import Any

from four_seasons_env.rendering.layout import Position
from four_seasons_env.rendering.svg import draw_svg
from four_seasons_env.rendering.text import draw

__all__ = ["draw", "draw_as", "draw_svg"]


def draw_as(render_mode: str, position: Position) -> Any:
    """A position as text (`ansi`) or as an RGB array (`rgb_array`).

    Raises:
        ImportError: if pygame-ce is not installed, with the command that installs it.
    """
    if render_mode == "ansi":
        return draw(position)
    from four_seasons_env.rendering.picture import paint

    return paint(position)
