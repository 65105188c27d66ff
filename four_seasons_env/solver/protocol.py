"""The protocol of all searches: where they start, how they run, and how they end."""

from __future__ import annotations

from typing import Any, Protocol

from four_seasons_env.engine.moves import Move
from four_seasons_env.rules import Rules
from four_seasons_env.solver.analysis.frame import make_frame

SEARCHING, WON, LOST, UNDECIDED = range(4)
"""The status of a search: `LOST` is a proof, `UNDECIDED` an end without an answer."""
ANY_NUMBER = 2**62
"""No limit of positions."""
STATUS_NAMES = ("unknown", "won", "lost", "unknown")


class Search(Protocol):
    """One search from one position."""

    @property
    def positions(self) -> int:
        """Positions made by a move so far."""

    def go_on(self, positions: int = ANY_NUMBER) -> int:
        """Continue for some hundredths of a second, and make at most `positions` positions.

        Returns:
            SEARCHING, WON, LOST or UNDECIDED. After any but the first the search is over.
        """

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""


class Root:
    """The position that searches start from, and what they share.

    Args:
        record: a GAME record.
        memory: bytes that a search may take.
    """

    def __init__(self, record: Any, rules: Rules, memory: int = 2**30) -> None:
        self.record, self.rules, self.memory = record, rules, memory
        self.frames = make_frame(record, rules)
