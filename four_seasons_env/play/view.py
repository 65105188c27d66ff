"""The view of a session that the page receives; it contains no card that has not been dealt."""

from __future__ import annotations

from typing import Any

from four_seasons_env.play import words
from four_seasons_env.play.session import Session
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rendering.position import cards_at, ends


def session_view(session: Session, unseen: bool = False, compact: bool = False) -> dict[str, Any]:
    """A session as JSON types.

    Args:
        session: the game.
        unseen: whether the drawing lists the cards that have not been seen, in no order.
        compact: whether the drawing leaves less room below small piles, for narrow screens.
    """
    game = session.game
    places = [f"T{i}" for i in range(game.rules.piles)] + [f"F:{s}" for s in game.foundations]
    return {
        "rules": game.rules.name,
        "deal": "deck" if game.deal < 0 else str(game.deal),  # JavaScript's numbers end at 2^53
        "svg": draw_svg(game, before=session.before, unseen=unseen, compact=compact),
        "legal": [
            dict(zip(("from", "to"), ends(game, move), strict=True))
            | {"move": move.text, "words": words.move_words(game, move)}
            for move in game.legal_moves()
        ],
        "places": {place: _place_words(session, place) for place in [*places, "W", "stock"]},
        "moves": [move.text for move in session.played],
        "can_redo": session.can_redo,
        "cards_up": game.cards_up,
        "cards": game.rules.cards,
        "won": game.is_won,
        "over": game.is_over,
        "unsaved": session.unsaved,
        "seconds": round(session.seconds, 1),
    }


def _place_words(session: Session, place: str) -> str:
    """The description of a place for screen readers."""
    game = session.game
    name = words.place_words(game, place)
    if place == "stock":
        face_up = f", {words.card_words(game.face_up)} face up" if game.face_up else ""
        return f"{name}, {game.stock_size} cards{face_up}"
    cards = cards_at(game, place)
    if not cards:
        base = f", starts with {words.rank_words(game.bases[place[2:]])}" if ":" in place else ""
        return f"{name}, empty{base}"
    below = f", {len(cards)} cards" if len(cards) > 1 else ""
    return f"{name}, {words.card_words(cards[-1])}{below}"
