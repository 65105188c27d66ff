"""The relaxed game as a formula: if no assignment satisfies it, a position is lost.

The relaxed game (`relaxation`) is decided by the order of its events: one card after another leaves
the waste or goes up. The formula needs no times, only which event comes before which (a precedence
encoding):

- ``before[i, k]``: card i leaves the waste before card k does. The waste is a stack: for i below k
  this says that i has left by the time k is dealt.
- ``up[x, i]``: card x is up just before i leaves the waste.
- ``direct[i]``: i goes from the waste straight to its foundation.

At each event the tableau holds the cards that have left the waste and are not up. The card that
moves hosts no card then, and the sum of excesses of `relaxation.piles_needed` must not exceed the
piles. Counts and sums are in unary, as in a totalizer (Bailleux and Boufkhad 2003): variable k of a
number says that it is more than k.

Every clause holds in every relaxed win, so a formula that cannot be satisfied proves a loss. It
does not cover games in which cards can come back: redeals that are left, worrying back (FRAME field
``one_way``). docs/explanation/solver.md has the argument (step 6).

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
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, UNLIMITED, Root

Literals = NDArray[np.int32]
TRUE = 1
"""The number of a variable that is true; -1 is false."""
_CHUNK = 10_000  # clauses that the solver takes at a time: some hundredths of a second
_SLICE_CONFLICTS = 500  # at a time: a tenth of a second
_MAX_SLICES = 60  # all losses of full games that were proved needed 8 at most


@cache
def is_available() -> bool:
    """Whether python-sat is installed."""
    return importlib.util.find_spec("pysat") is not None


class Clauses:
    """Clauses under construction.

    A literal is the number of a variable, negative for its negation, as in DIMACS files.
    """

    def __init__(self) -> None:
        self.variables = TRUE
        self.blocks: list[Literals] = [np.array([[TRUE]], np.int32)]
        """Each block: clauses of one length, int array (count, length)."""

    def new(self, *shape: int) -> Literals:
        """An array of new variables."""
        count = int(np.prod(shape))
        numbers = np.arange(self.variables + 1, self.variables + 1 + count, dtype=np.int32)
        self.variables += count
        return numbers.reshape(shape)

    def add(self, *literals: Literals | int) -> None:
        """Add a clause for each element of these arrays, broadcast; skip clauses that are true.

        ``add(-both, one)`` reads: if both, then one.
        """
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
        # 1. The cards that leave the waste, which number the events.
        record, rules, frame = root.record, root.rules, root.frames[0]
        deck, dealt = record["deck"][: record["deck_size"]], int(record["dealt"])
        waste = cards_in(record, WASTE)
        self.passing = frame["place"][[*waste, *deck[dealt:]]].astype(np.int64)
        """Cards (4 * place + suit) that leave the waste, in dealing order."""
        # 2. Variables; cards that are up already are true.
        self.clauses = Clauses()
        self.up = self.clauses.new(4 * rules.ranks, len(self.passing))
        """[x, i]: card x is up just before i leaves the waste."""
        for suit, level in enumerate(record["level"]):
            self.up[suit : 4 * int(level) : 4] = TRUE
        self.direct = self.clauses.new(len(self.passing))
        """[i]: it goes straight up."""
        # 3. Clauses.
        self._ranks, self._piles = rules.ranks, rules.piles
        self._order_waste(len(waste))
        self._build_foundations()
        self._limit_tableau(frame)

    def _order_waste(self, waste: int) -> None:
        """Clauses: the waste is a stack, whose first cards lie in it already.

        Args:
            waste: how many of the cards are in the waste.
        """
        count = len(self.passing)
        clauses = self.clauses
        stays = clauses.new(count, count)  # [i, j], i < j: i is in the waste when j is dealt
        stays[:waste, :waste] = TRUE
        i, j = np.triu_indices(count, 1)
        self.before = np.full((count, count), -TRUE, np.int32)
        """[i, k]: card i leaves the waste before card k does."""
        self.before[i, j] = -stays[i, j]
        self.before[j, i] = stays[i, j]  # j lies on i, and leaves first
        i, j, k = np.array([*combinations(range(count), 3)], np.int64).reshape(-1, 3).T
        # A card leaves once, and after all cards that lie on it.
        clauses.add(-stays[i, k], stays[i, j])
        clauses.add(-stays[i, j], -stays[j, k], stays[i, k])

    def _build_foundations(self) -> None:
        """Clauses: which cards are up at which event."""
        clauses, passing, up, before = self.clauses, self.passing, self.up, self.before
        # A card goes up after the card before it in its suit.
        clauses.add(-up[4:], up[:-4])
        # Cards that are up stay up, and have left the waste.
        clauses.add(-before, -up[:, :, None], up[:, None, :])
        clauses.add(-up[passing], before)
        # A card goes straight up only if its predecessor is up, and is then up at later events.
        ready = np.where(passing < 4, TRUE, up[passing - 4, np.arange(len(passing))])
        clauses.add(-self.direct, ready)
        clauses.add(-self.direct[:, None], -before, up[passing])

    def _limit_tableau(self, frame: Any) -> None:
        """Clauses: at every event, the tableau has at most one packed run per pile.

        All arrays are of literals [card, event].
        """
        # 1. A card lies in the tableau if it has left the waste and is not up.
        clauses, moved, events = self.clauses, self.passing, np.arange(len(self.passing))
        left = np.full(self.up.shape, TRUE, np.int32)
        left[moved] = self.before
        hosts = clauses.new(*left.shape)
        clauses.add(-hosts, left)
        clauses.add(-hosts, -self.up)
        clauses.add(hosts, -left, self.up)
        # 2. The card that moves joins the tableau, or goes straight up. It hosts no card yet.
        cards = hosts.copy()
        cards[moved, events] = -self.direct
        hosts[moved, events] = -TRUE
        # 3. Count them for each place and, where packing alternates colours, for each colour. Only
        # the count with the moving card differs between hosts and cards.
        size = 2 if frame["by_colour"] else 4
        classes = 4 // size
        shape = (self._ranks, classes, size, len(moved))
        hosts_from = self._counted(hosts.reshape(shape))
        count_from = hosts_from.copy()
        at = (moved // 4, moved % 4 // size, slice(None), events)
        with_moved = cards.reshape(shape)[at]
        count_from[at] = self._counted(with_moved.T[None, None])[0, 0].T
        # 4. Add up the excesses.
        total = np.full((self._piles + 2, len(moved)), -TRUE, np.int32)  # [n]: n excesses or more
        total[0] = TRUE
        for place in range(self._ranks):
            packs = int(frame["packs"]) >> 4 * place & 1
            for kind in range(classes):
                host = hosts_from[(place + 1) % self._ranks, (kind + 1) % classes]
                excess = self._excess(count_from[place, kind], host if packs else None)
                total = self._sum(total, excess)

    def _counted(self, literals: Literals) -> Literals:
        """Unary counts along axis 2: entry k says whether more than k of the n literals hold."""
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
        """A unary number: entry k says whether cards exceed hosts by more than k; None: no hosts.

        ``cards`` and ``hosts`` are unary counts with events along axis 1.
        """
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
        limit = len(total) - 1  # one more than the piles
        larger = np.full_like(total, TRUE)
        larger[1:limit] = clauses.new(*total[1:limit].shape)
        larger[limit] = -TRUE
        # One direction is enough: exact sums satisfy it, and no sum can be counted too low.
        for n in range(limit):
            clauses.add(-total[n], larger[n])
            for k in range(len(excess)):
                clauses.add(-total[n], -excess[k], larger[min(n + k + 1, limit)])
        return larger


class FormulaSearch:
    """One search for an assignment of the formula of a position: it only proves losses.

    It examines no positions.
    """

    positions = 0

    def __init__(self, root: Root) -> None:
        self._steps = self._search(root)

    def advance(self, positions: int = UNLIMITED) -> int:
        """Continue the search (`solving.Method`)."""
        return next(self._steps)

    def _search(self, root: Root) -> Iterator[int]:
        """Yield the status after each slice of work."""
        if is_available() and root.frames[0]["one_way"]:
            from pysat.solvers import Minisat22

            # MiniSat checks its budget after each conflict. Glucose does so at restarts only, which
            # may be seconds apart.
            solver = Minisat22()
            for clauses in Formula(root).clauses.chunks():
                solver.append_formula(clauses)
                yield SEARCHING
            for _ in range(_MAX_SLICES):
                solver.conf_budget(_SLICE_CONFLICTS)
                # With this argument python-sat leaves Ctrl-C to Python, which handles it after the
                # slice.
                satisfiable = solver.solve_limited(expect_interrupt=True)
                if satisfiable is not None:
                    yield UNDECIDED if satisfiable else LOST
                yield SEARCHING
        yield UNDECIDED
