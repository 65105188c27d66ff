"""Drawings of positions: as text, SVG, pixels, or in a window.

- `svg`: `draw_svg`, the only drawing; `layout`, `cards`, `glyphs` and `themes` are its parts.
- `picture`: the drawing as pixels, and as SVG and PNG files.
- `window`: the window of `render_mode="human"`.
- `text`: the text of `print(game)`.

A drawing shows only what the player may see: of the stock, its size and a card that lies face up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from four_seasons_env.rendering.svg import draw_svg
from four_seasons_env.rendering.text import draw

if TYPE_CHECKING:
    from four_seasons_env.game import Game

__all__ = ["HUMAN", "RENDER_MODES", "draw", "draw_as", "draw_svg", "prepare_rendering"]

RENDER_MODES = (None, "ansi", "rgb_array")
"""The render modes of all environments."""
HUMAN = "human"
"""A render mode of single environments: a window."""


def prepare_rendering(render_mode: str | None) -> None:
    """Load the modules that a render mode needs.

    Raises:
        ImportError: if they are not installed, with the command that installs them.
    """
    if render_mode in ("rgb_array", HUMAN):
        import four_seasons_env.rendering.picture  # noqa: F401


def draw_as(render_mode: str, position: Game) -> Any:
    """A position as text (`ansi`) or as an RGB array (`rgb_array`)."""
    if render_mode == "ansi":
        return draw(position)
    from four_seasons_env.rendering.picture import paint

    return paint(position)
