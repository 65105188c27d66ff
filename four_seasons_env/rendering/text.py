"""A position drawn as text: the cross between its four corners, or the rows of Simplicity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from four_seasons_env.rendering.layout import Place, grid

if TYPE_CHECKING:
    from four_seasons_env.game import Game

_WASTE_SHOWN = 12


def _cell(game: Game, place: Place) -> str:
    """One place of the table: the top card, or what an empty place waits for."""
    if isinstance(place, int):
        pile = game.tableau[place]
        if place == game.rules.reserve_pile:
            return f"({pile[-1] if pile else '--'})"
        return f" {pile[-1]} " if pile else " -- "
    built = game.foundations[place]
    return f"[{built[-1]}]" if built else f"[ {place}]"


def draw(game: Game) -> str:
    """A position as several lines of text, without a line break at the end.

    Foundations are in brackets, a reserve in parentheses, ``--`` is a space. Below the table: the
    piles of more than one card (bottom first), the stock's size, the card that lies face up on it,
    and the end of the waste.
    """
    lines = [headline(game), ""]
    lines += [
        "   " + "  ".join(_cell(game, place) for place in row) for row in grid(game.rules.piles)
    ]
    lines.append("")
    tableau = game.tableau
    lines += [
        f"   T{number}: {' '.join(pile)}" for number, pile in enumerate(tableau) if len(pile) > 1
    ]
    stock = f"   stock: {game.stock_size}"
    if game.redeals_left:
        stock += f", redeals left: {game.redeals_left}"
    if game.face_up:
        stock += f", face up: {game.face_up}"
    waste = game.waste
    hidden = len(waste) - _WASTE_SHOWN
    shown = " ".join(waste[-_WASTE_SHOWN:]) or "empty"
    lines.append(stock)
    lines.append(f"   waste: {f'({hidden} more) ' if hidden > 0 else ''}{shown}")
    return "\n".join(lines)


def headline(game: Game) -> str:
    """A position in one line: its rules, deal, cards up and moves."""
    return (
        f"{game.rules.name}, "
        + (f"deal {game.deal}" if game.deal >= 0 else "custom deck")
        + f": {game.cards_up} of {game.rules.cards} cards up, "
        + f"{game.moves_played} moves"
        + (", won" if game.is_won else ", over" if game.is_over else "")
    )
