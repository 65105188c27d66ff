"""Drawings of positions: as text, SVG or pixels.

- `svg`: `draw_svg`, the only drawing; `layout` and `cards` are its parts.
- `picture`: the drawing as pixels, and as SVG and PNG files.
- `text`: the text of `print(game)`.

A drawing shows only what the player may see. For the stock, this is its size and a card that lies
face up.
"""

from four_seasons_env.rendering.svg import draw_svg
from four_seasons_env.rendering.text import draw

__all__ = ["draw", "draw_svg"]
