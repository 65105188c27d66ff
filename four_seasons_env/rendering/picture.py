"""Positions as pixels: the SVG drawing, rasterised by pygame-ce (the extra `render`)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import names_nearest
from four_seasons_env.extras import missing_extra
from four_seasons_env.files import expanded
from four_seasons_env.rendering.layout import Position
from four_seasons_env.rendering.svg import draw_svg

try:
    import pygame
except ModuleNotFoundError as error:
    raise missing_extra("a picture", error) from error

_FRAME, _LAST = 140, 3000
"""Milliseconds of a picture, and of the last picture."""
_COLOURS = 24
"""Colours of an animation; more make a larger file."""


@names_nearest
def paint(
    position: Position,
    *,
    before: Position | None = None,
    legal: bool = False,
    unseen: bool = False,
    compact: bool = False,
    width: int | None = None,
) -> NDArray[np.uint8]:
    """A position as RGB, uint8 of shape (height, width, 3).

    Args:
        position: the position, such as a `Game`.
        before: mark the move from this position, as `draw_svg` does.
        legal: mark the legal moves.
        unseen: list the cards that have not been seen.
        compact: leave less room below small piles.
        width: in pixels; by default one pixel a unit. The height follows.
    """
    svg = draw_svg(
        position, before=before, legal=legal, unseen=unseen, compact=compact, width=width
    )
    surface = pygame.image.load(io.BytesIO(svg.encode()), "drawing.svg")
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8)
    return pixels.reshape(surface.get_height(), surface.get_width(), 3).copy()


def save_animation(positions: Sequence[Position], path: str | Path, **marks: Any) -> None:
    """Write a game as a GIF: a picture per move, one for several cards put up in a row.

    Args:
        positions: positions of the game, first to last.
        path: file of the GIF.
        **marks: arguments of `draw_svg`.

    Raises:
        ValueError: for another suffix than .gif.
    """
    from PIL import Image

    path = expanded(path)
    if path.suffix != ".gif":
        raise ValueError(f"an animation's suffix must be .gif, not {path.suffix!r}")
    # Leave out positions from which a card goes up: a row of such moves is one picture.
    shown = [
        game
        for game, after in zip(positions, [*positions[1:], None], strict=True)
        if after is None or after.cards_up == game.cards_up
    ]
    # One palette for all pictures, of one in the middle: there piles and foundations have cards.
    pictures = [Image.fromarray(paint(game, **marks)) for game in shown]
    palette = pictures[len(pictures) // 2].quantize(_COLOURS)
    frames = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    path.parent.mkdir(parents=True, exist_ok=True)
    times = [_FRAME] * (len(frames) - 1) + [_LAST]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=times, loop=0)
