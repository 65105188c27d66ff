"""Search by nodes in the easier game with exchanges (`exchanges`), made harder step by step.

A search by nodes that leaves nothing out mostly fails because there are too many arrangements. With
exchanges there are far fewer, and few lost deals can be won in the easier game. Where one can, the
cards that changed places on the winning line are set apart: they keep their places from then on,
and the search starts again. So it ends with a proof of loss, or with a line without exchanges,
which wins the game itself. What the oracle has learned about nodes holds for all of these searches.

With a width the search is a beam and proves nothing. But the nodes that it keeps lie on the way to
a line that wins the easier game, so it wins deals that other beams do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import Move
from four_seasons_env.solver.exchanges import EXCHANGE, exchanged, make_classes, play_code
from four_seasons_env.solver.features import WEIGHTS
from four_seasons_env.solver.nodes import NodeSearch
from four_seasons_env.solver.protocol import ANY_NUMBER, SEARCHING, WON, Root


class ExchangeSearch:
    """One such search.

    Args:
        width: nodes that a layer starts with, at most. None: all; such a search starts with the
            cards apart that the last one from the same root ended with.
        weights: as for `NodeSearch`.
    """

    def __init__(
        self,
        root: Root,
        width: int | None,
        weights: NDArray[np.float64] = WEIGHTS,
    ) -> None:
        self._root, self._width, self._weights = root, width, weights
        self._search: NodeSearch | None = None
        self._moves: list[Move] = []
        self.apart: set[int] = set() if width else root.apart
        """Cards that keep their places."""
        self.positions = 0
        """Positions made by a move so far."""

    def go_on(self, positions: int = ANY_NUMBER) -> int:
        """Continue the search (`protocol.Search`)."""
        if self._search is None:
            classes = make_classes(self._root.rules, self._root.record, self.apart)
            self._search = NodeSearch(self._root, self._width, self._weights, classes)
        search = self._search
        before = search.positions
        status = search.go_on(positions)
        self.positions += search.positions - before
        if status == WON:
            cards = self._exchanged(search.codes())
            if cards:
                self.apart.update(cards if self._width else cards[:1])
                self._search = None
                return SEARCHING
            self._moves = search.moves()
        return status

    def _exchanged(self, codes: list[int]) -> list[int]:
        """The cards that exchanges on a line have moved to the top of a pile."""
        games = np.array([self._root.record], kernel.GAME)
        rule = kernel.compile_rules(self._root.rules)[0]
        cards = []
        for code in codes:
            if code >= EXCHANGE:
                cards.append(int(exchanged(games[0], rule, code)[0]))
            play_code(games[0], rule, code)
        return cards

    def moves(self) -> list[Move]:
        """The moves that win, once it is won."""
        return self._moves
