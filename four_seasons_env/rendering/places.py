"""Names of places in drawings and on pages: "T0", "W" (the waste), "F:H", "stock"."""

from __future__ import annotations

from four_seasons_env.engine.deals import SUITS
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move
from four_seasons_env.rendering.position import Position


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
