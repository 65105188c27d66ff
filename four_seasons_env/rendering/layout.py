"""The layout of a game on the table, and what its places hold.

Drawings and pages name places "T0", "W" (the waste), "F:H" and "stock". Lengths are in units of the
drawing, in which a card is 100 wide and 140 high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from four_seasons_env.engine.deals import SUITS
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move
from four_seasons_env.rules import Rules

CARD = (100, 140)
_GAP, _MARGIN = 20, 24
_FAN = 112
"""Room below a pile's first card for the others."""
_BELOW = 12
"""Room below a foundation for its level."""
_STEP, _LEAST_STEP = 28.0, 21.0
"""The visible height of a covered card: its maximum, and its minimum in the waste."""
_COMPACT_CARDS = 2
"""The cards of a pile for which a compact table always has room."""
_COMPACT_WASTE = 9
"""The cards of the waste for which a compact table always has room: the height of the cross."""

_CROSS = (("F:C", "T0", "F:S"), ("T1", "T2", "T3"), ("F:H", "T4", "F:D"))
_WIDEST = 6


class Position(Protocol):
    """What a drawing shows of a position, as a `four_seasons_env.Game` has it.

    A game draws itself by this package, so its class cannot be imported here.
    """

    @property
    def rules(self) -> Rules:
        """The rule set."""

    @property
    def deal(self) -> int:
        """The deal's number; -1 for a custom deck."""

    @property
    def tableau(self) -> list[list[str]]:
        """The piles, bottom first."""

    @property
    def waste(self) -> list[str]:
        """The waste, bottom first."""

    @property
    def foundations(self) -> dict[str, list[str]]:
        """The foundations by suit, base card first."""

    @property
    def bases(self) -> dict[str, str]:
        """The base card of each suit."""

    @property
    def stock_size(self) -> int:
        """Cards left in the stock."""

    @property
    def face_up(self) -> str | None:
        """The card that lies face up on the stock, if any."""

    @property
    def redeals_left(self) -> int:
        """How often the waste may still be turned over."""

    @property
    def unseen(self) -> set[str]:
        """The cards that the player has not seen."""

    @property
    def moves_played(self) -> int:
        """Moves since the opening."""

    @property
    def cards_up(self) -> int:
        """Cards on the foundations."""

    @property
    def is_won(self) -> bool:
        """Whether all cards are up."""

    @property
    def is_over(self) -> bool:
        """Whether it is won, or only moves that rename spaces are left."""

    def after(self, move: Move) -> Position:
        """The position after a legal move."""

    def legal_moves(self, distinct: bool = False) -> list[Move]:
        """The legal moves; without those that only rename spaces, if ``distinct``."""


def cards_at(position: Position, place: str) -> list[str]:
    """The cards of a place, bottom first; of the stock, only a card that lies face up on it."""
    if place == "stock":
        return [position.face_up] if position.face_up else []
    if place == "W":
        cards = position.waste
    elif place.startswith("T"):
        cards = position.tableau[int(place[1:])]
    else:
        cards = position.foundations[place[2:]] if place.startswith("F:") else []
    return cards


def places(position: Position) -> list[str]:
    """The places of a table, in the order in which they are read."""
    piles = [f"T{i}" for i in range(position.rules.piles)]
    return [*piles, *(f"F:{suit}" for suit in SUITS), "W", "stock"]


def placed(position: Position) -> dict[str, str]:
    """The place of each card that can be seen."""
    return {card: place for place in places(position) for card in cards_at(position, place)}


def ends(position: Position, move: Move) -> tuple[str, str]:
    """The places that a legal move goes from and to."""
    # A redeal goes from the waste to the stock, a deal the other way.
    if move.turns:
        return ("W", "stock") if move.target == STOCK else ("stock", "W")
    if FOUNDATION <= move.source < STOCK:
        return f"F:{SUITS[move.source - FOUNDATION]}", f"T{move.target}"
    # A card that goes up is on its suit's foundation afterwards.
    source = {WASTE: "W", STOCK: "stock"}.get(move.source, f"T{move.source}")
    if move.target != FOUNDATION:
        return source, f"T{move.target}"
    return source, f"F:{cards_at(position, source)[-1][1]}"


def moved_cards(position: Position, move: Move) -> list[str]:
    """The cards that a legal move takes from its place, bottom first; none if it turns cards."""
    if move.turns:
        return []
    source, target = ends(position, move)
    count = 1
    if position.rules.runs and source[0] == target[0] == "T":
        count = len(position.after(move).tableau[move.target]) - len(position.tableau[move.target])
    return cards_at(position, source)[-count:]


def grid(piles: int) -> list[Sequence[str]]:
    """The rows of places: the cross with its four corners, or foundations above rows of piles."""
    if piles == 5:
        return list(_CROSS)
    names = [f"T{i}" for i in range(piles)]
    rows = [names[first : first + _WIDEST] for first in range(0, piles, _WIDEST)]
    return [[f"F:{suit}" for suit in SUITS], *rows]


@dataclass(frozen=True)
class Layout:
    """The places of a table, each by its top left corner."""

    width: int
    height: int
    places: dict[str, tuple[int, int]]

    def pile_step(self, cards: int) -> float:
        """How far apart the cards of a pile lie."""
        return min(_STEP, _FAN / max(cards - 1, 1))

    def waste_step(self, cards: int) -> tuple[int, float]:
        """How many cards of the waste are spread, and how far apart they lie."""
        room = self.height - _MARGIN - CARD[1] - self.places["W"][1]
        shown = min(cards, 1 + int(room / _LEAST_STEP))
        return shown, min(_STEP, room / max(shown - 1, 1))


def layout(sizes: Sequence[int], compact: bool = False) -> Layout:
    """The table: rows of places to the left; stock, and below it the waste, to the right.

    Args:
        sizes: number of cards of each pile.
        compact: no more room below a row than its largest pile needs, instead of enough for any;
            but enough below the waste.
    """
    # 1. The rows, from top to bottom, each as high as its cards need.
    rows = grid(len(sizes))
    places = {}
    y = _MARGIN
    for row in rows:
        for column, place in enumerate(row):
            places[place] = (_MARGIN + column * (CARD[0] + _GAP), y)
        piles = [sizes[int(place[1:])] for place in row if place.startswith("T")]
        room = _FAN if piles else _BELOW
        if piles and compact:
            room = min(_FAN, round(_STEP * (max(*piles, _COMPACT_CARDS) - 1)))
        y += CARD[1] + room + _GAP
    height = y - _GAP + _MARGIN
    # 2. To the right of the widest row, the stock, and the waste below it.
    right = 2 * _MARGIN + max(map(len, rows)) * (CARD[0] + _GAP) - _GAP + 12
    below = _MARGIN + CARD[1] + 2 * _GAP
    places |= {"stock": (right, _MARGIN), "W": (right, below)}
    if compact:
        height = max(height, below + CARD[1] + round(_STEP) * (_COMPACT_WASTE - 1) + _MARGIN)
    return Layout(
        width=right + CARD[0] + _MARGIN,
        height=height,
        places=places,
    )
