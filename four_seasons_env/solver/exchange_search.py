"""Search by nodes in the game with exchanges (`exchanges`), which is made harder step by step.

What fails a search by nodes that leaves nothing out is mostly the number of arrangements. With
exchanges there are far fewer of them, and few lost deals can be won so. Where one is, cards
that changed places on the line that wins are set apart: they keep their places from then on, and
the search is made again. So it ends with a proof of loss, or with a line without exchanges, which
wins the game itself. What the oracle has learned of nodes holds for all of these searches.

With a width it is a beam and proves no more, but what it keeps is on its way to a line of the
easier game that is known to win; it wins deals that other beams do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.rules import Rules
from four_seasons_env.solver.beam import OVER, SEARCHING, WON
from four_seasons_env.solver.components import BYTES
from four_seasons_env.solver.exchanges import EXCHANGE, exchanged, make_classes, play_code
from four_seasons_env.solver.nodes import NodeSearch
from four_seasons_env.solver.oracle import Oracle
from four_seasons_env.solver.planning import Puzzle


class ExchangeSearch:
    """One such search, in spells: each begins with the cards apart that the last one ended with.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        puzzle: of the position; its weights and discounts make the order of nodes.
        oracle: of the game.
        width: nodes that a layer starts with at most. None: all.
    """

    def __init__(
        self,
        record: Any,
        rules: Rules,
        frames: NDArray[np.void],
        puzzle: Puzzle,
        oracle: Oracle,
        width: int | None,
    ) -> None:
        self._record, self._rules, self._frames = record, rules, frames
        self._puzzle, self._oracle, self._width = puzzle, oracle, width
        self._search: NodeSearch | None = None
        self._moves: list[Move] = []
        self.apart: set[int] = set()
        """Cards that keep their places."""
        self.positions = 0
        """Positions made by a move so far."""
        self.is_complete = True
        """Whether nothing has been left out."""

    def go_on(self, positions: int, memory: int = BYTES) -> int:
        """Continue the spell a little, or begin one, and make so many positions at most.

        Args:
            memory: bytes that a new spell may take, more or less.

        Returns:
            WON, OVER at the end of a search that has not won, or SEARCHING. One without a width is
            over as soon as it has no room for all.
        """
        search = self._search or self._begin(memory)
        before = search.positions
        status = search.go_on(positions)
        self.positions += search.positions - before
        self.is_complete = search.is_complete
        if status == WON:
            cards = self._exchanged(search.codes())
            self.end_spell()
            if cards:
                self.apart.update(cards if self._width else cards[:1])
                return SEARCHING
            moves = all_moves(self._rules)
            self._moves = [moves[code] for code in search.codes()]
        elif not self._width and not self.is_complete:
            return OVER
        return status

    def _begin(self, memory: int) -> NodeSearch:
        classes = make_classes(self._rules, self._record, self.apart)
        self._search = NodeSearch(
            self._record,
            self._rules,
            self._frames,
            self._puzzle._replace(classes=classes),
            self._oracle,
            self._width,
            memory,
        )
        return self._search

    def end_spell(self) -> None:
        """Give back the memory; what has been learned of nodes and cards remains."""
        self._search = None

    def _exchanged(self, codes: list[int]) -> list[int]:
        """The cards that exchanges on a line have brought to the top of a pile."""
        games = np.array([self._record], kernel.GAME)
        rule = kernel.compile_rules(self._rules)[0]
        cards = []
        for code in codes:
            if code >= EXCHANGE:
                cards.append(int(exchanged(games[0], rule, code)[0]))
            play_code(games[0], rule, code)
        return cards

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""
        return self._moves
