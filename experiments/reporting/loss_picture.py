"""A lost deal as a picture: the deck in its order, with the cards that lock each other."""

from __future__ import annotations

from four_seasons_env.engine.cards import RANKS
from four_seasons_env.game import Game
from four_seasons_env.rendering.cards import face
from four_seasons_env.rendering.glyphs import number
from four_seasons_env.rendering.layout import CARD
from four_seasons_env.rendering.themes import get_theme
from four_seasons_env.solver.reasons import Reason

_ACROSS = 12
"""Cards of the stock in a row."""
_SCALE = 0.5
_STEP = 60
_ROW = 100
_MARGIN = 16
_FADED = 0.3


def loss_picture(game: Game, reason: Reason, theme: str = "light") -> str:
    """The opening's tableau, and below it the stock in the order in which it is dealt, as SVG.

    The moments are framed. An arrow leads from each to the card that has to go up before it. What
    the reason does not need is faded.

    Args:
        game: the opening.
        reason: why it is lost.
        theme: the colours.
    """
    colours = get_theme(theme)
    rows = [[pile[-1] for pile in game.tableau if pile]]
    rows += [game.stock[first : first + _ACROSS] for first in range(0, game.stock_size, _ACROSS)]
    at = {
        card: (_MARGIN + _STEP * column, _MARGIN + _ROW * row + (20 if row else 0))
        for row, cards in enumerate(rows)
        for column, card in enumerate(cards)
    }
    width = 2 * _MARGIN + _STEP * (_ACROSS - 1) + CARD[0] * _SCALE
    height = 2 * _MARGIN + _ROW * (len(rows) - 1) + CARD[1] * _SCALE + 20
    needed = {*reason.moments, *reason.waiting, *map(_before, reason.waiting)}
    parts = []
    for card, (x, y) in at.items():
        faded = "" if card in needed else f' opacity="{_FADED}"'
        frame = (
            f'<rect x="-4" y="-4" width="{CARD[0] + 8}" height="{CARD[1] + 8}" rx="12" '
            f'fill="none" stroke="{colours.mark}" stroke-width="9"/>'
        )
        parts.append(
            f'<g transform="translate({number(x)} {number(y)}) scale({_SCALE})"{faded}>'
            f"{face(card, colours)}{frame if card in reason.moments else ''}</g>"
        )
    for card in reason.moments:
        before = _before(card)
        if before in at and card in reason.waiting:
            parts.append(_arrow(at[card], at[before], colours.arrow))
    title = f"{game.rules.name}, deal {game.deal}: {' '.join(reason.moments)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {number(width)} {number(height)}" '
        f'width="{number(width)}" height="{number(height)}" role="img" aria-label="{title}">'
        f"<title>{title}</title><defs>"
        '<marker id="tip" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0L10 5L0 10Z" fill="{colours.arrow}"/></marker></defs>'
        f'<rect width="100%" height="100%" fill="{colours.table}"/>{"".join(parts)}</svg>\n'
    )


def _before(card: str) -> str:
    """The card that goes up before one in its suit; a base card waits for none."""
    return RANKS[RANKS.index(card[0]) - 1] + card[1]


def _arrow(start: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    """A curve from the middle of one card to the edge of another."""
    middle, foot = CARD[0] * _SCALE / 2, CARD[1] * _SCALE
    x, y = start[0] + middle, start[1] + foot - 8
    to_x, to_y = end[0] + middle, end[1] + (6 if end[1] > start[1] else foot - 4)
    bend = max(30.0, abs(to_y - y) / 2)
    return (
        f'<path d="M{number(x)} {number(y)}C{number(x)} {number(y + bend)} {number(to_x)} '
        f'{number(to_y - bend)} {number(to_x)} {number(to_y)}" fill="none" stroke="{colour}" '
        'stroke-width="2.5" stroke-opacity=".8" marker-end="url(#tip)"/>'
    )
