"""A position as pixels: the SVG drawing, rasterised by pygame-ce (the extra `render`)."""

from __future__ import annotations

import functools
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.rendering.layout import CARD
from four_seasons_env.rendering.position import Position
from four_seasons_env.rendering.svg import draw_parts, draw_svg

try:
    import pygame
except ImportError as error:
    raise ImportError(
        "pictures need pygame-ce: pip install 'four-seasons-env[render]', or use render_mode='ansi'"
    ) from error


_MARGIN = 14
"""How many pixels a part may reach beyond the card at its corner."""

_CORNER = re.compile(r' transform="translate\(([-\d.]+) ([-\d.]+)\)')
_PLACE = re.compile(r' data-at="[^"]*"')


def paint(position: Position, **how: Any) -> NDArray[np.uint8]:
    """A position as RGB, uint8 of shape (height, width, 3).

    A picture without `legal` and `width` takes a few milliseconds, because its parts are drawn once
    and then copied. Others are drawn as a whole, which takes about 30 milliseconds.

    Args:
        position: the position, such as a `Game`.
        **how: arguments of `draw_svg`, such as the width in pixels.
    """
    if how.get("legal") or how.get("width") is not None:
        surface = _rasterised(draw_svg(position, **how))
    else:
        start, parts = draw_parts(position, **how)
        surface = _table(start).copy()
        for part in parts:
            corner = _CORNER.search(part)
            assert corner is not None
            x, y = float(corner[1]), float(corner[2])
            left, top = math.floor(x) - _MARGIN, math.floor(y) - _MARGIN
            moved = f"{part[: corner.start(1)]}{x % 1} {y % 1}{part[corner.end(2) :]}"
            sprite, at = _sprite(_PLACE.sub("", moved))
            surface.blit(sprite, (left + at[0], top + at[1]))
    pixels = np.frombuffer(pygame.image.tobytes(surface, "RGB"), np.uint8)
    return pixels.reshape(surface.get_height(), surface.get_width(), 3).copy()


def _rasterised(svg: str) -> pygame.Surface:
    return pygame.image.load(io.BytesIO(svg.encode()), "drawing.svg")


@functools.lru_cache(maxsize=8)
def _table(start: str) -> pygame.Surface:
    return _rasterised(f"{start}</svg>")


@functools.lru_cache(maxsize=512)
def _sprite(part: str) -> tuple[pygame.Surface, tuple[int, int]]:
    """A part of a drawing, cut to its size, and where that begins.

    Args:
        part: as SVG, with its corner less than a pixel from (0, 0).
    """
    width, height = CARD[0] + 2 * _MARGIN, CARD[1] + 2 * _MARGIN
    drawn = _rasterised(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {width} {height}">{part}</svg>'
    )
    used = drawn.get_bounding_rect()
    return drawn.subsurface(used).copy(), used.topleft


def save_picture(position: Position, path: Path, **how: Any) -> None:
    """Write a position as an SVG or PNG file, by the path's suffix.

    Args:
        position: the position, such as a `Game`.
        path: of the file.
        **how: arguments of `draw_svg`.

    Raises:
        ValueError: for another suffix.
    """
    if path.suffix == ".svg":
        path.write_text(draw_svg(position, **how), encoding="utf-8")
    elif path.suffix == ".png":
        picture = paint(position, **how).transpose(1, 0, 2)
        pygame.image.save(pygame.surfarray.make_surface(picture), path)
    else:
        raise ValueError(f"pictures are written as .svg or .png, not {path.suffix!r}")
