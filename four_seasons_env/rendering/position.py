"""The properties of a game that drawings read. All are public; the order of the stock is not one.

`four_seasons_env.game.Game` is such a position. Drawings do not import it, because it imports them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from four_seasons_env.engine.moves import Move
from four_seasons_env.rules import Rules


class Position(Protocol):
    """A position as a player sees it; `Game` documents each property."""

    rules: Rules

    @property
    def tableau(self) -> list[list[str]]: ...  # noqa: D102

    @property
    def waste(self) -> list[str]: ...  # noqa: D102

    @property
    def foundations(self) -> dict[str, list[str]]: ...  # noqa: D102

    @property
    def bases(self) -> dict[str, str]: ...  # noqa: D102

    @property
    def stock_size(self) -> int: ...  # noqa: D102

    @property
    def face_up(self) -> str | None: ...  # noqa: D102

    @property
    def redeals_left(self) -> int: ...  # noqa: D102

    @property
    def deal(self) -> int: ...  # noqa: D102

    @property
    def moves_played(self) -> int: ...  # noqa: D102

    @property
    def cards_up(self) -> int: ...  # noqa: D102

    @property
    def is_won(self) -> bool: ...  # noqa: D102

    @property
    def is_over(self) -> bool: ...  # noqa: D102

    def legal_moves(self, distinct: bool = False) -> Sequence[Move]: ...  # noqa: D102


def headline(position: Position) -> str:
    """A position in one line: its rules, deal, cards up and moves."""
    return (
        f"{position.rules.name}, "
        + (f"deal {position.deal}" if position.deal >= 0 else "custom deck")
        + f": {position.cards_up} of {position.rules.cards} cards up, "
        + f"{position.moves_played} moves"
        + (", won" if position.is_won else ", over" if position.is_over else "")
    )
