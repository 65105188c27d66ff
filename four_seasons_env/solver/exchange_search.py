"""Search by nodes in the game with exchanges (`exchanges`), which is made harder step by step.

What fails a search by nodes that leaves nothing out is mostly the number of arrangements. With
exchanges there are far fewer of them, and few lost deals can be won so. Where one is, a card that
changed places on the line that wins is set apart: it keeps its place from then on. So the search
ends with a proof of loss, or with a line without exchanges, which wins the game itself.

Each search starts anew, but what its oracle has learned of nodes holds for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.rules import Rules
from four_seasons_env.solver.beam import SEARCHING, WON, OutOfMemory
from four_seasons_env.solver.exchanges import EXCHANGE, exchanged, make_classes, play_code
from four_seasons_env.solver.nodes import NodeSearch
from four_seasons_env.solver.oracle import Oracle
from four_seasons_env.solver.planning import Puzzle


class ExchangeSearch:
    """One such search, in spells: each begins with the cards apart that the last one ended with.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        puzzle: of the position.
        oracle: of the game.
    """

    def __init__(
        self, record: Any, rules: Rules, frames: NDArray[np.void], puzzle: Puzzle, oracle: Oracle
    ) -> None:
        self._record, self._rules, self._frames = record, rules, frames
        self._puzzle, self._oracle = puzzle, oracle
        self._apart: set[int] = set()
        self._search: NodeSearch | None = None
        self._moves: list[Move] = []
        self.positions = 0
        """Positions made by a move so far."""

    @property
    def apart(self) -> frozenset[int]:
        """Cards that keep their places."""
        return frozenset(self._apart)

    def go_on(self, positions: int, memory: int) -> int:
        """Continue the spell a little, or begin one, and make so many positions at most.

        Args:
            memory: bytes that a new spell may take, more or less.

        Returns:
            WON, OVER if the game is lost, or SEARCHING.

        Raises:
            OutOfMemory: where there was no room for all positions.
        """
        search = self._search or self._begin(memory)
        before = search.positions
        status = search.go_on(positions)
        self.positions += search.positions - before
        if not search.is_complete:
            raise OutOfMemory
        if status == WON:
            card = self._first_exchanged(search.codes())
            self.end_spell()
            if card is not None:
                self._apart.add(card)
                return SEARCHING
            moves = all_moves(self._rules)
            self._moves = [moves[code] for code in search.codes()]
        return status

    def _begin(self, memory: int) -> NodeSearch:
        classes = make_classes(self._rules, self._record, self._apart)
        puzzle = self._puzzle._replace(classes=classes)
        self._search = NodeSearch(
            self._record, self._rules, self._frames, puzzle, self._oracle, None, memory
        )
        return self._search

    def end_spell(self) -> None:
        """Give back the memory; what has been learned of nodes and cards remains."""
        self._search = None

    def _first_exchanged(self, codes: list[int]) -> int | None:
        """The first card of a line that an exchange has brought to the top of a pile."""
        games = np.array([self._record], kernel.GAME)
        rule = kernel.compile_rules(self._rules)[0]
        for code in codes:
            if code >= EXCHANGE:
                return int(exchanged(games[0], rule, code)[0])
            play_code(games[0], rule, code)
        return None

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""
        return self._moves
