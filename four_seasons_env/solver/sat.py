"""The relaxed game as a formula: if no assignment satisfies it, a position is lost.

The relaxed game (`relaxation`) is decided by the order of its events: one card after another leaves
the waste or goes up. The formula needs no times, only which event comes before which:

- ``before[i, k]``: card i leaves the waste before card k does. The waste is a stack: for i below k
  this says that i has left by the time k is dealt.
- ``up[x, i]``: card x is up just before i leaves the waste.
- ``direct[i]``: i goes from the waste straight to its foundation.

At each event the tableau holds the cards that have left the waste and are not up. The card that
moves hosts no card then, and the sum of excesses of `relaxation.piles_needed` must not exceed the
piles. Every clause holds in every relaxed win, so a formula that cannot be satisfied proves a loss.
It does not cover games in which cards can come back: redeals that are left, worrying back (FRAME
field ``one_way``).

MiniSat, from python-sat (the extra ``solver``), searches for an assignment.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.moves import WASTE
from four_seasons_env.game import cards_in
from four_seasons_env.solver.analysis.root import (
    ANY_NUMBER,
    LOST,
    SEARCHING,
    UNDECIDED,
    Root,
)

Literals = NDArray[np.int32]
TRUE = 1
"""The number of a variable that is true; -1 is false."""
_CHUNK = 10_000  # clauses that the solver takes at a time: some hundredths of a second
_SLICE_CONFLICTS = 500  # at a time: a tenth of a second
_MOST_SLICES = 60  # losses of full games are proved by 8 at most


@cache
def is_available() -> bool:
    """Whether python-sat is installed."""
    return importlib.util.find_spec("pysat") is not None


class Clauses:
    """Clauses under construction: blocks of shape (count, length), literals as in DIMACS."""

    def __init__(self) -> None:
        self.variables = TRUE
        self.blocks: list[Literals] = [np.array([[TRUE]], np.int32)]

    def new(self, *shape: int) -> Literals:
        """An array of new variables."""
        count = int(np.prod(shape))
        numbers = np.arange(self.variables + 1, self.variables + 1 + count, dtype=np.int32)
        self.variables += count
        return numbers.reshape(shape)

    def add(self, *literals: Literals | int) -> None:
        """Add a clause for each element of these arrays, broadcast; skip clauses that are true."""
        block = np.stack(np.broadcast_arrays(*literals), axis=-1).reshape(-1, len(literals))
        self.blocks.append(block[(block != TRUE).all(axis=1)].astype(np.int32))

    def chunks(self) -> Iterator[list[list[int]]]:
        """The clauses, some at a time, as a solver takes them."""
        for block in self.blocks:
            for start in range(0, len(block), _CHUNK):
                yield block[start : start + _CHUNK].tolist()


class Formula:
    """The formula of a position from which no card can come back."""

    def __init__(self, root: Root) -> None:
        record, rules, frame = root.record, root.rules, root.frames[0]
        deck, dealt = record["deck"][: record["deck_size"]], int(record["dealt"])
        waste = cards_in(record, WASTE)
        self.passing = frame["place"][[*waste, *deck[dealt:]]].astype(np.int64)
        """Cards (4 * place + suit) that leave the waste, in dealing order."""
        self.clauses = Clauses()
        self.up = self.clauses.new(4 * rules.ranks, len(self.passing))
        """[x, i]: card x is up just before i leaves the waste."""
        for suit, level in enumerate(record["level"]):
            self.up[suit : 4 * int(level) : 4] = TRUE
        self.direct = self.clauses.new(len(self.passing))
        """[i]: it goes straight up."""
        self._ranks, self._piles = rules.ranks, rules.piles
        self._set_order(len(waste))
        self._set_foundations()
        self._limit_tableau(frame)

    def _set_order(self, waste: int) -> None:
        """Which card leaves the waste before which; the first cards lie in it already."""
        count = len(self.passing)
        clauses = self.clauses
        stays = clauses.new(count, count)  # [i, j], i < j: i is in the waste when j is dealt
        stays[:waste, :waste] = TRUE
        i, j = np.triu_indices(count, 1)
        self.before = np.full((count, count), -TRUE, np.int32)
        """[i, k]: card i leaves the waste before card k does."""
        self.before[i, j] = -stays[i, j]
        self.before[j, i] = stays[i, j]
        i, j, k = np.array([*combinations(range(count), 3)], np.int64).reshape(-1, 3).T
        # A card leaves once, and after all cards that lie on it.
        clauses.add(-stays[i, k], stays[i, j])
        clauses.add(-stays[i, j], -stays[j, k], stays[i, k])

    def _set_foundations(self) -> None:
        """Which cards are up when."""
        clauses, passing, up, before = self.clauses, self.passing, self.up, self.before
        clauses.add(-up[4:], up[:-4])
        # Cards that are up stay up, and have left the waste.
        clauses.add(-before, -up[:, :, None], up[:, None, :])
        clauses.add(-up[passing], before)
        ready = np.where(passing < 4, TRUE, up[passing - 4, np.arange(len(passing))])
        clauses.add(-self.direct, ready)
        clauses.add(-self.direct[:, None], -before, up[passing])

    def _limit_tableau(self, frame: Any) -> None:
        """Clauses: at every event the tableau fits into the piles."""
        left = np.full(self.up.shape, TRUE, np.int32)  # [card, event]
        left[self.passing] = self.before
        lies = self._both(left, -self.up)
        self._fits(lies, -self.direct, frame)

    def _both(self, one: Literals, other: Literals) -> Literals:
        """Literals that hold where both of these do."""
        both = self.clauses.new(*one.shape)
        self.clauses.add(-both, one)
        self.clauses.add(-both, other)
        self.clauses.add(both, -one, -other)
        return both

    def _fits(self, lies: Literals, joins: Literals, frame: Any) -> None:
        """Clauses: at every event, the tableau has at most one packed run per pile.

        Args:
            lies: [card, event]: it lies in the tableau.
            joins: [event]: the card that moves, nobody's host, becomes one of the tableau.
        """
        moved, events = self.passing, np.arange(len(self.passing))
        hosts, cards = lies.copy(), lies.copy()
        # No card lies yet on the card that moves.
        hosts[moved, events] = -TRUE
        cards[moved, events] = joins
        size = 2 if frame["by_colour"] else 4
        classes = 4 // size
        shape = (self._ranks, classes, size, len(moved))
        hosts_from = self._counted(hosts.reshape(shape))
        count_from = hosts_from.copy()
        at = (moved // 4, moved % 4 // size, slice(None), events)
        own = cards.reshape(shape)[at]
        count_from[at] = self._counted(own.T[None, None])[0, 0].T
        total = np.full((self._piles + 2, len(moved)), -TRUE, np.int32)  # [n]: n excesses or more
        total[0] = TRUE
        for place in range(self._ranks):
            packs = int(frame["packs"]) >> 4 * place & 1
            for kind in range(classes):
                host = hosts_from[(place + 1) % self._ranks, (kind + 1) % classes]
                excess = self._excess(count_from[place, kind], host if packs else None)
                total = self._sum(total, excess)

    def _counted(self, literals: Literals) -> Literals:
        """Literals for counts: [k] says whether more than k of n literals along axis 2 hold."""
        size = literals.shape[2]
        # Counts are exact, because `_excess` takes the hosts away from the cards.
        some = self.clauses.new(*literals.shape)
        for subset in range(1, 1 << size):
            members = [n for n in range(size) if subset >> n & 1]
            chosen = [literals[:, :, n] for n in members]
            self.clauses.add(*(-literal for literal in chosen), some[:, :, len(members) - 1])
            self.clauses.add(*chosen, -some[:, :, size - len(members)])
        return some

    def _excess(self, cards: Literals, hosts: Literals | None) -> Literals:
        """Literals: [k] says whether cards exceed hosts by more than k; None for no hosts."""
        if hosts is None:
            return cards
        size = len(cards)
        excess = self.clauses.new(*cards.shape)
        for more in range(size):
            for taken in range(size - more):
                self.clauses.add(-cards[more + taken], hosts[taken], excess[more])
        return excess

    def _sum(self, total: Literals, excess: Literals) -> Literals:
        """A sum with one summand added; it must not exceed the piles."""
        clauses = self.clauses
        most = len(total) - 1
        after = np.full_like(total, TRUE)
        after[1:most] = clauses.new(*total[1:most].shape)
        after[most] = -TRUE
        # One direction is enough: exact sums satisfy it, and no sum can be counted too low.
        for n in range(most):
            clauses.add(-total[n], after[n])
            for k in range(len(excess)):
                clauses.add(-total[n], -excess[k], after[min(n + k + 1, most)])
        return after


class FormulaSearch:
    """One search for an assignment of the formula of a position: it only proves losses.

    It makes no positions.
    """

    positions = 0

    def __init__(self, root: Root) -> None:
        self._steps = self._search(root)

    def go_on(self, positions: int = ANY_NUMBER) -> int:
        """Continue the search (`solving.Method`)."""
        return next(self._steps)

    def _search(self, root: Root) -> Iterator[int]:
        """Yield the status after each slice."""
        if is_available() and root.frames[0]["one_way"]:
            from pysat.solvers import Minisat22

            # MiniSat looks at its budget after each conflict. Glucose does so at restarts only,
            # which may be seconds apart.
            solver = Minisat22()
            for clauses in Formula(root).clauses.chunks():
                solver.append_formula(clauses)
                yield SEARCHING
            for _ in range(_MOST_SLICES):
                solver.conf_budget(_SLICE_CONFLICTS)
                # With this argument python-sat leaves Ctrl-C to Python, which sees it after the
                # slice.
                satisfiable = solver.solve_limited(expect_interrupt=True)
                if satisfiable is not None:
                    yield UNDECIDED if satisfiable else LOST
                yield SEARCHING
        yield UNDECIDED
