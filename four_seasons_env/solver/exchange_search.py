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

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import Move
from four_seasons_env.solver.beam import OVER, SEARCHING, WON
from four_seasons_env.solver.components import BYTES
from four_seasons_env.solver.exchanges import EXCHANGE, exchanged, make_classes, play_code
from four_seasons_env.solver.nodes import NodeSearch, Root


class ExchangeSearch:
    """One such search, in spells: each begins with the cards apart that the last one ended with.

    Args:
        root: where it starts.
        width: nodes that a layer starts with, at most. None: all.
    """

    def __init__(self, root: Root, width: int | None) -> None:
        self._root, self._width = root, width
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
            self._moves = search.moves()
        elif not self._width and not self.is_complete:
            return OVER
        return status

    def _begin(self, memory: int) -> NodeSearch:
        root = self._root
        classes = make_classes(root.rules, root.record, self.apart)
        easier = root._replace(puzzle=root.puzzle._replace(classes=classes))
        self._search = NodeSearch(easier, self._width, memory)
        return self._search

    def end_spell(self) -> None:
        """Give back the memory; what has been learned of nodes and cards remains."""
        self._search = None

    def _exchanged(self, codes: list[int]) -> list[int]:
        """The cards that exchanges on a line have brought to the top of a pile."""
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
