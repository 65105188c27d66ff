"""`Position`, what a drawing reads of a game, and the names of its places.

Drawings and pages name places "T0", "W" (the waste), "F:H" and "stock".
"""

# ruff: noqa: D102

from __future__ import annotations

from typing import Protocol

from four_seasons_env.engine.deals import SUITS
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move
from four_seasons_env.rules import Rules


class Position(Protocol):
    """The public part of a game: what the player may see, and which moves are legal.

    `four_seasons_env.Game` documents each part.
    """

    @property
    def rules(self) -> Rules: ...
    @property
    def deal(self) -> int: ...
    @property
    def tableau(self) -> list[list[str]]: ...
    @property
    def waste(self) -> list[str]: ...
    @property
    def foundations(self) -> dict[str, list[str]]: ...
    @property
    def bases(self) -> dict[str, str]: ...
    @property
    def stock_size(self) -> int: ...
    @property
    def face_up(self) -> str | None: ...
    @property
    def redeals_left(self) -> int: ...
    @property
    def cards_up(self) -> int: ...
    @property
    def moves_played(self) -> int: ...
    @property
    def is_won(self) -> bool: ...
    @property
    def is_over(self) -> bool: ...

    def legal_moves(self, distinct: bool) -> list[Move]: ...


def cards_at(position: Position, place: str) -> list[str]:
    """The cards of a place, bottom first; of the stock, only a card that lies face up on it."""
    if place == "stock":
        return [position.face_up] if position.face_up else []
    if place == "W":
        return position.waste
    if place.startswith("T"):
        return position.tableau[int(place[1:])]
    return position.foundations[place[2:]] if place.startswith("F:") else []


def ends(position: Position, move: Move) -> tuple[str, str]:
    """The places that a legal move goes from and to."""
    if move.turns:
        return ("W", "stock") if move.target == STOCK else ("stock", "W")
    if FOUNDATION <= move.source < STOCK:
        return f"F:{SUITS[move.source - FOUNDATION]}", f"T{move.target}"
    source = {WASTE: "W", STOCK: "stock"}.get(move.source, f"T{move.source}")
    if move.target != FOUNDATION:
        return source, f"T{move.target}"
    return source, f"F:{cards_at(position, source)[-1][1]}"
