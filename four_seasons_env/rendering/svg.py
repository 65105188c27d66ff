"""A position drawn as SVG: the one drawing from which pictures, windows and pages come.

All shapes are paths with solid colours, without a font, so every viewer shows the same. Classes and
``data-`` attributes let a page restyle the drawing and move its cards: ``g.card`` has ``data-card``
("6H") and ``data-at``, a place as moves call it ("T0", "W", "F:H", "stock").
"""

from __future__ import annotations

import functools
import math
from html import escape

from four_seasons_env.arguments import check_positive, names_nearest
from four_seasons_env.engine.deals import RANKS, SUITS
from four_seasons_env.rendering.cards import (
    ARROW,
    LABEL,
    LINE,
    MARK,
    TABLE,
    back,
    face,
    number,
    outline,
    shape,
    suit,
    write_between,
)
from four_seasons_env.rendering.layout import (
    CARD,
    Layout,
    Position,
    ends,
    layout,
    placed,
)
from four_seasons_env.rendering.text import headline

_LIST_HEIGHT = 124
"""Height of the list of unseen cards."""

_REDEAL = "M14 3A14 14 0 1 1 4-13.4M4-22V-13H-5"


_label = functools.partial(write_between, colour=LABEL, classes="stroke label")
"""Ranks or digits on the table itself."""


class _Drawing:
    """One drawing as it is made."""

    def __init__(self, position: Position, table: Layout) -> None:
        self.position = position
        self.table = table
        self.parts: list[str] = []
        self.corners: dict[str, tuple[float, float]] = {**table.places}
        """Where each place's top card lies."""

    def at(self, corner: tuple[float, float], inner: str, more: str = "") -> None:
        """Add something at a corner of its own."""
        x, y = corner
        self.parts.append(f'<g{more} transform="translate({number(x)} {number(y)})">{inner}</g>')

    def empty(self, place: str, inner: str = "") -> None:
        """Add a place where cards can lie."""
        shape = outline("outline", LINE)
        self.at(self.table.places[place], shape + inner, f' class="place" data-at="{place}"')

    def spread(self, place: str, shown: list[str], step: float) -> None:
        """Add cards that lie on each other, each leaving a strip of the one below."""
        x, y = self.table.places[place]
        for i, card in enumerate(shown):
            seen = step if i < len(shown) - 1 else None
            self.corners[place] = (x, y + i * step)
            self.at(
                self.corners[place],
                face(card, seen),
                f' class="card" data-card="{card}" data-at="{place}"',
            )

    # --- the parts of a table

    def tableau(self) -> None:
        for i, pile in enumerate(self.position.tableau):
            place = f"T{i}"
            if i == self.position.rules.reserve_pile:
                # A frame distinguishes a reserve from the other piles.
                frame = _around("stroke line frame", LINE, distance=8, radius=15, width=2)
                self.at(self.table.places[place], frame)
            self.empty(place)
            self.spread(place, pile, self.table.pile_step(len(pile)))

    def foundations(self) -> None:
        ranks, bases = self.position.rules.ranks, self.position.bases
        for name, built in self.position.foundations.items():
            place = f"F:{name}"
            ghost = _label(bases[name][0], y=34, height=22)
            ghost += suit(name, CARD[0] / 2, 88, size=38, colour=LABEL, classes="label")
            self.empty(place, ghost)
            self.spread(place, built[-1:], 0)
            self._level(self.table.places[place], len(built), ranks)

    def _level(self, corner: tuple[int, int], level: int, ranks: int) -> None:
        """Add a foundation's level, as a bar for each rank."""
        width = CARD[0] / ranks
        bars = ""
        for i in range(ranks):
            classes, fill, opacity = ("level", MARK, 1) if i < level else ("line", LINE, 0.45)
            size = {"x": number(i * width), "y": 0, "width": number(width - 2), "height": 5}
            bars += shape("rect", classes, **size, rx=1, fill=fill, fill_opacity=opacity)
        self.at((corner[0] + 1, corner[1] + CARD[1] + 6), bars)

    def stock(self) -> None:
        position, corner = self.position, self.table.places["stock"]
        redeals = position.redeals_left
        arrow = ""
        if redeals:  # an arrow that turns back, above their number
            line = {"stroke_width": 4, "stroke_linecap": "round", "stroke_linejoin": "round"}
            place = f"translate({CARD[0] / 2:g} 62)"
            ink = {"fill": "none", "stroke": LABEL, **line, "transform": place}
            arrow = shape("path", "stroke label", d=_REDEAL, **ink)
            arrow += _label(str(redeals), y=96, height=20)
        self.empty("stock", arrow)
        if position.stock_size:
            inner = back(position.stock_size)
            self.at(corner, inner, ' class="stock" data-at="stock"')
        if position.face_up:
            self.spread("stock", [position.face_up], 0)
            # Below the card, where the count of the waste may be: it has none then.
            y = corner[1] + CARD[1] + 12
            self.parts.append(_label(str(position.stock_size), left=corner[0], y=y, height=15))

    def waste(self) -> None:
        waste, corner = self.position.waste, self.table.places["W"]
        shown, step = self.table.waste_step(len(waste))
        self.empty("W")
        if len(waste) > shown:
            more, classes = f"+{len(waste) - shown}", "stroke label more"
            y = corner[1] - 21
            self.parts.append(_label(more, left=corner[0], y=y, height=15, classes=classes))
        self.spread("W", waste[len(waste) - shown :], step)

    def unseen(self) -> None:
        """List the cards that have not been seen, a row a suit; those seen leave a gap."""
        ranks, unseen = self.position.rules.ranks, self.position.unseen
        left, top = 44, self.table.height
        step = (self.table.width - left - 24) / ranks
        for row, name in enumerate(SUITS):
            y = top + 8 + 28 * row
            self.parts.append(suit(name, 28, y + 8, size=16, colour=LABEL, classes="label"))
            for i, rank in enumerate(RANKS[:ranks]):
                if rank + name in unseen:
                    at = left + i * step
                    self.parts.append(_label(rank, left=at, width=step, y=y, height=16))

    # --- marks

    def moved(self, before: Position) -> None:
        """Ring the cards that lie elsewhere than before, and the places that they come from."""
        was, now = placed(before), placed(self.position)
        left = {was[card] for card, place in now.items() if card in was and was[card] != place}
        for place in sorted(left):
            self._ring(self.corners[place], MARK, width=2)
        # Cards are in the order in which they lie, so the last of each place is its top card.
        tops = {place: card for card, place in now.items()}
        for place, card in tops.items():
            if was.get(card) != place:
                self._ring(self.corners[place], MARK)

    def _ring(self, corner: tuple[float, float], colour: str, *, width: int = 5) -> None:
        self.at(corner, _around("mark", colour, distance=3, radius=12, width=width))

    def legal(self) -> None:
        """An arrow for each legal move, and a ring around the stock where it can be dealt."""
        for move in self.position.legal_moves(distinct=True):
            if move.turns:
                self._ring(self.table.places["stock"], ARROW)
            else:
                source, target = ends(self.position, move)
                self.parts.append(self._arrow(self.corners[source], self.corners[target]))

    def _arrow(self, source: tuple[float, float], target: tuple[float, float]) -> str:
        """A bent arrow from the middle of one card to that of another, short of both."""
        dx, dy = target[0] - source[0], target[1] - source[1]
        length = math.hypot(dx, dy) or 1.0
        ux, uy = dx / length, dy / length
        x0, y0 = source[0] + CARD[0] / 2 + 26 * ux, source[1] + CARD[1] / 2 + 26 * uy
        x1, y1 = target[0] + CARD[0] / 2 - 30 * ux, target[1] + CARD[1] / 2 - 30 * uy
        # A quadratic curve, bent to one side: arrows of opposite moves lie apart.
        bend = 0.12 * length
        mx, my = (x0 + x1) / 2 - bend * uy, (y0 + y1) / 2 + bend * ux
        # The head is two strokes from the tip, half a radian to both sides of the curve's end.
        tip = math.atan2(y1 - my, x1 - mx)
        head = "".join(
            f"M{number(x1)} {number(y1)}L{number(x1 - 15 * math.cos(tip + turn))} "
            f"{number(y1 - 15 * math.sin(tip + turn))}"
            for turn in (-0.5, 0.5)
        )
        shaft = f"M{number(x0)} {number(y0)}Q{number(mx)} {number(my)} {number(x1)} {number(y1)}"
        line = {"stroke_width": 5, "stroke_opacity": ".8", "stroke_linecap": "round"}
        return shape("path", "arrow", d=shaft + head, fill="none", stroke=ARROW, **line)


def _around(classes: str, stroke: str, *, distance: int, radius: int, width: int) -> str:
    """A line around a card, at a distance from it."""
    size = {"width": CARD[0] + 2 * distance, "height": CARD[1] + 2 * distance, "rx": radius}
    line = {"fill": "none", "stroke": stroke, "stroke_width": width}
    return shape("rect", classes, x=-distance, y=-distance, **size, **line)


@names_nearest
def draw_svg(
    position: Position,
    *,
    before: Position | None = None,
    legal: bool = False,
    unseen: bool = False,
    compact: bool = False,
    width: int | None = None,
) -> str:
    """A position as SVG text.

    Piles are fanned; of a long waste the last cards are spread and the others counted; the stock
    has its count on its back. An empty foundation shows its base, the bar below each its level.
    Each element is a line of the text, and drawings of one game share most of their lines.

    Args:
        position: the position, such as a `Game`.
        before: the position before the last move, which is marked then: the cards that moved are
            ringed, and thin rings are where they came from.
        legal: mark the legal moves, except moves that only rename spaces.
        unseen: list below the table the cards that have not been seen.
        compact: leave less room below small piles; the height then follows the piles.
        width: in pixels; by default one pixel a unit. The height follows.

    Raises:
        ValueError: for a width that is not positive.
        TypeError: for an unknown argument, with the nearest one.
    """
    if width is not None:
        check_positive("width", width)
    drawing = _Drawing(position, layout([len(pile) for pile in position.tableau], compact))
    units = drawing.table.width, drawing.table.height + (_LIST_HEIGHT if unseen else 0)
    pixels = units if width is None else (width, round(width * units[1] / units[0]))
    drawing.foundations()
    drawing.tableau()
    drawing.stock()
    drawing.waste()
    if unseen:
        drawing.unseen()
    # What lies over the cards is drawn after them.
    if legal:
        drawing.legal()
    if before is not None:
        drawing.moved(before)
    title = escape(headline(position))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {units[0]} {units[1]}" '
        f'width="{pixels[0]}" height="{pixels[1]}" role="img" aria-label="{title}">',
        f"<title>{title}</title>",
        shape("rect", "table", width=units[0], height=units[1], fill=TABLE),
        *drawing.parts,
        "</svg>",
    ]
    return "\n".join(lines)
