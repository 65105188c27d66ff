"""A position drawn as text: the cross between its four corners, or the rows of Simplicity."""

from __future__ import annotations

from four_seasons_env.rendering.layout import Position, cards_at, grid

_WASTE_SHOWN = 12


def _cell(position: Position, place: str) -> str:
    """One place of the table: the top card, or what an empty place waits for."""
    cards = cards_at(position, place)
    if place.startswith("F:"):
        return f"[{cards[-1]}]" if cards else f"[ {place[2:]}]"
    top = cards[-1] if cards else "--"
    return f"({top})" if place == f"T{position.rules.reserve_pile}" else f" {top} "


def draw(position: Position) -> str:
    """A position as several lines of text, without a line break at the end.

    Foundations are in brackets, a reserve in parentheses, ``--`` is a space. Below the table: the
    piles of more than one card (bottom first), the stock's size, the card that lies face up on it,
    and the end of the waste.
    """
    lines = [headline(position), ""]
    lines += [
        "   " + "  ".join(_cell(position, place) for place in row)
        for row in grid(position.rules.piles)
    ]
    lines.append("")
    tableau = position.tableau
    lines += [
        f"   T{number}: {' '.join(pile)}" for number, pile in enumerate(tableau) if len(pile) > 1
    ]
    stock = f"   stock: {position.stock_size}"
    if position.redeals_left:
        stock += f", redeals left: {position.redeals_left}"
    if position.face_up:
        stock += f", face up: {position.face_up}"
    waste = position.waste
    hidden = len(waste) - _WASTE_SHOWN
    shown = " ".join(waste[-_WASTE_SHOWN:]) or "empty"
    lines.append(stock)
    lines.append(f"   waste: {f'({hidden} more) ' if hidden > 0 else ''}{shown}")
    return "\n".join(lines)


def headline(position: Position) -> str:
    """A position in one line: its rules, deal, cards up and moves."""
    return (
        f"{position.rules.name}, "
        + (f"deal {position.deal}" if position.deal >= 0 else "custom deck")
        + f": {position.cards_up} of {position.rules.cards} cards up, "
        + f"{position.moves_played} move{'s' * (position.moves_played != 1)}"
        + (", won" if position.is_won else ", over" if position.is_over else "")
    )
