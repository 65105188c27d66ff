"""A position drawn as a picture (needs pygame-ce, the extra `render`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.rendering.layout import Place, grid

if TYPE_CHECKING:
    from four_seasons_env.game import Game

try:
    import pygame
except ImportError as error:
    raise ImportError(
        "pictures need pygame-ce: pip install 'four-seasons-env[render]', or use render_mode='ansi'"
    ) from error

CARD = (60, 84)
GAP = 16
_TABLE, _PLACE, _BACK = (22, 92, 60), (38, 120, 82), (48, 72, 140)
_PAPER, _LINE, _CHALK = (250, 250, 245), (70, 70, 70), (225, 235, 228)
_INK = {"C": (25, 25, 25), "S": (25, 25, 25), "H": (190, 30, 40), "D": (190, 30, 40)}


def _write(surface: pygame.Surface, text: str, size: int, colour: Any, **where: Any) -> None:
    drawn = pygame.font.Font(None, size).render(text, True, colour)
    surface.blit(drawn, drawn.get_rect(**where))


def _suit(surface: pygame.Surface, suit: str, centre: tuple[int, int], size: int) -> None:
    """A suit's sign, so many pixels high; the fonts at hand lack them."""
    x, y = centre
    half, third, ink = size // 2, size // 3, _INK[suit]
    stem = [(x, y), (x - third // 2, y + half), (x + third // 2, y + half)]
    if suit == "D":
        sides = [(x, y - half), (x + third, y), (x, y + half), (x - third, y)]
        pygame.draw.polygon(surface, ink, sides)
    elif suit == "C":
        for dx, dy in ((0, -third), (-third, third // 3), (third, third // 3)):
            pygame.draw.circle(surface, ink, (x + dx, y + dy), third * 0.8)
        pygame.draw.polygon(surface, ink, stem)
    else:
        tip = 1 if suit == "H" else -1
        for dx in (-1, 1):
            spot = (x + dx * size // 4, y - tip * size // 8)
            pygame.draw.circle(surface, ink, spot, size * 0.27)
        wide = (x - half, y), (x + half, y), (x, y + tip * half)
        pygame.draw.polygon(surface, ink, wide)
        if suit == "S":
            pygame.draw.polygon(surface, ink, stem)


def _card(surface: pygame.Surface, text: str, box: pygame.Rect) -> None:
    """A card face up."""
    pygame.draw.rect(surface, _PAPER, box, border_radius=6)
    pygame.draw.rect(surface, _LINE, box, width=1, border_radius=6)
    rank = "10" if text[0] == "T" else text[0]
    _write(surface, rank, 28, _INK[text[1]], topleft=(box.left + 6, box.top + 6))
    _suit(surface, text[1], (box.centerx, box.centery + 12), 34)


def _empty(surface: pygame.Surface, box: pygame.Rect, place: Place) -> None:
    """A space, or a foundation without a card."""
    pygame.draw.rect(surface, _PLACE, box, width=2, border_radius=6)
    if isinstance(place, str):
        _suit(surface, place, box.center, 26)


def _count(surface: pygame.Surface, number: int, box: pygame.Rect) -> None:
    if number > 1:
        _write(surface, f"{number} cards", 18, _CHALK, midtop=(box.centerx, box.bottom + 1))


def paint(game: Game) -> NDArray[np.uint8]:
    """A position as an RGB picture, uint8 of shape (height, width, 3).

    The places lie as in `layout.grid`, stock and waste to the right; below a pile stands how many
    cards it has.
    """
    pygame.font.init()
    rows = grid(game.rules.piles)
    step = (CARD[0] + GAP, CARD[1] + GAP)
    columns = max(map(len, rows))
    size = (GAP + (columns + 1) * step[0] + GAP, GAP + max(len(rows), 2) * step[1])
    surface = pygame.Surface(size)
    surface.fill(_TABLE)

    def box(column: int, row: int) -> pygame.Rect:
        return pygame.Rect((GAP + column * step[0], GAP + row * step[1]), CARD)

    tableau, foundations = game.tableau, game.foundations
    for y, row in enumerate(rows):
        for x, place in enumerate(row):
            cards = tableau[place] if isinstance(place, int) else foundations[place]
            if cards:
                _card(surface, cards[-1], box(x, y))
                _count(surface, len(cards), box(x, y))
            else:
                _empty(surface, box(x, y), place)
    stock, waste = box(columns, 0).move(GAP, 0), box(columns, 1).move(GAP, 0)
    if game.stock_size:
        pygame.draw.rect(surface, _BACK, stock, border_radius=6)
        pygame.draw.rect(surface, _CHALK, stock.inflate(-8, -8), width=1, border_radius=4)
        _write(surface, str(game.stock_size), 28, _CHALK, center=stock.center)
    else:
        _empty(surface, stock, 0)
    if game.waste:
        _card(surface, game.waste[-1], waste)
        _count(surface, len(game.waste), waste)
    else:
        _empty(surface, waste, 0)
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).transpose(1, 0, 2))
