"""The relaxed game as a formula: if no assignment satisfies it, a deal is lost.

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

Glucose, from python-sat (the extra ``solver``), searches for an assignment.
"""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.moves import WASTE
from four_seasons_env.rules import Rules
from four_seasons_env.solver.frame import cards_at

Literals = NDArray[np.int32]
TRUE = 1
"""The number of a variable that is true; -1 is false."""
SEARCHING, SATISFIABLE, LOST = range(3)
_CHUNK = 10_000  # clauses that are made a list at a time


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


class EventClauses:
    """The conditions whenever a card leaves the waste: the common part of the formulas.

    Args:
        passing: cards (4 * place + suit) that may leave the waste, in the order of the deck.
    """

    def __init__(self, rules: Rules, passing: NDArray[np.int64]) -> None:
        count = len(passing)
        self.passing = passing
        self.clauses = Clauses()
        self.before = np.full((count, count), -TRUE, np.int32)
        """[i, k]: card i leaves the waste before card k does."""
        self.up: Literals
        """[x, i]: card x is up just before i leaves the waste; shape (cards, passing)."""
        self.direct: Literals
        """[i]: it goes straight up."""
        self._ranks, self._piles = rules.ranks, rules.piles
        self._overflow: Literals | int = -TRUE  # whether the piles may be too few at an event

    def _set_before(self, stays: Literals) -> None:
        """Set `before` from whether i is in the waste when j is dealt, i < j."""
        i, j = np.triu_indices(len(self.passing), 1)
        self.before[i, j] = -stays[i, j]
        self.before[j, i] = stays[i, j]

    def _limit_tableau(self, frame: Any) -> None:
        """At every event the tableau fits into the piles."""
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
        """At every event, the cards in the tableau make no more packed runs than there are piles.

        Args:
            lies: [card, event]: it lies in the tableau.
            joins: [event]: the card that moves, nobody's host, becomes one of the tableau.
        """
        moved, events = self.passing, np.arange(len(self.passing))
        hosts, cards = lies.copy(), lies.copy()
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
        """Of n literals along axis 2, in [k]: whether more than k hold."""
        size = literals.shape[2]
        some = self.clauses.new(*literals.shape)
        for subset in range(1, 1 << size):
            members = [n for n in range(size) if subset >> n & 1]
            chosen = [literals[:, :, n] for n in members]
            self.clauses.add(*(-literal for literal in chosen), some[:, :, len(members) - 1])
            self.clauses.add(*chosen, -some[:, :, size - len(members)])
        return some

    def _excess(self, cards: Literals, hosts: Literals | None) -> Literals:
        """In [k]: whether there are more than k cards more than hosts; None for no hosts."""
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
        after[most] = self._overflow
        for n in range(most):
            clauses.add(-total[n], after[n])
            for k in range(len(excess)):
                clauses.add(-total[n], -excess[k], after[min(n + k + 1, most)])
        return after


class RelaxedGame(EventClauses):
    """The formula of a position.

    Args:
        record: a GAME record from which no card can come back.
        frames: its FRAME array.
        in_parts: conditions named by `fits` and `waits` hold only where these are assumed.
    """

    fits: Literals
    """[i]: when i leaves the waste, the tableau fits into the piles. With ``in_parts`` only."""
    waits: Literals
    """[x]: card x goes up after the one before it in its suit. Likewise."""

    def __init__(
        self, record: Any, rules: Rules, frames: NDArray[np.void], in_parts: bool = False
    ) -> None:
        frame = frames[0]
        place = frame["place"].astype(int)
        waste = cards_at(record, WASTE)[::-1]
        stock = [int(card) for card in record["deck"][record["dealt"] : record["deck_size"]]]
        super().__init__(rules, np.array([place[card] for card in waste + stock], np.int64))
        tableau = [place[card] for pile in range(rules.piles) for card in cards_at(record, pile)]
        if in_parts:
            self.fits = self.clauses.new(len(self.passing))
            self.waits = self.clauses.new(4 * rules.ranks)
            self._overflow = -self.fits
        self._order(len(waste))
        self._foundations(set(tableau), in_parts)
        self._limit_tableau(frame)

    def _order(self, in_waste: int) -> None:
        """Which card leaves the waste before which."""
        count = len(self.passing)
        clauses = self.clauses
        stays = clauses.new(count, count)  # [i, j], i < j: i is in the waste when j is dealt
        stays[:in_waste, :in_waste] = TRUE
        self._set_before(stays)
        i, j, k = rising_triples(count)
        clauses.add(-stays[i, k], stays[i, j])
        clauses.add(-stays[i, j], -stays[j, k], stays[i, k])

    def _foundations(self, tableau: set[int], in_parts: bool) -> None:
        """Which cards are up when."""
        clauses, passing = self.clauses, self.passing
        cards, count = 4 * self._ranks, len(passing)
        any_way = [-self.waits] if in_parts else []
        self.up = clauses.new(cards, count)
        self.direct = clauses.new(count)
        is_up = np.ones(cards, bool)
        is_up[[*tableau, *passing]] = False
        self.up[is_up] = TRUE
        up, before = self.up, self.before
        clauses.add(*(free[4:, None] for free in any_way), -up[4:], up[:-4])
        clauses.add(-before, -up[:, :, None], up[:, None, :])
        clauses.add(-up[passing], before)
        ready = np.where(passing < 4, TRUE, up[passing - 4, np.arange(count)])
        clauses.add(*(free[passing] for free in any_way), -self.direct, ready)
        clauses.add(-self.direct[:, None], -before, up[passing])


def load(clauses: Clauses, with_proof: bool = False) -> Any:
    """Glucose, with these clauses."""
    from pysat.solvers import Glucose4

    solver = Glucose4(with_proof=with_proof)
    for block in clauses.blocks:
        for start in range(0, len(block), _CHUNK):
            solver.append_formula(block[start : start + _CHUNK].tolist())
    return solver


class FormulaProof:
    """One search for an assignment, which runs in slices.

    Args:
        record: a GAME record.
        frames: its FRAME array.
        with_proof: keep the proof, for `proof`.
    """

    def __init__(
        self, record: Any, rules: Rules, frames: NDArray[np.void], with_proof: bool = False
    ) -> None:
        self.status = SEARCHING if is_available() and frames[0]["one_way"] else SATISFIABLE
        self.conflicts = 0
        if self.status == SEARCHING:
            self.clauses = RelaxedGame(record, rules, frames).clauses
            self._solver = load(self.clauses, with_proof)

    def go_on(self, conflicts: int) -> None:
        """Search until there is an answer, or for about this many conflicts."""
        self._solver.conf_budget(conflicts)
        answer = self._solver.solve_limited()
        self.conflicts = self._solver.accum_stats()["conflicts"]
        if answer is not None:
            self.status = SATISFIABLE if answer else LOST

    def proof(self) -> list[str]:
        """The proof that no assignment satisfies the clauses: lines in the DRUP format."""
        lines: list[str] = self._solver.get_proof()
        return lines


def rising_triples(count: int) -> tuple[NDArray[np.int64], ...]:
    """All i < j < k below a count."""
    i, j, k = np.indices((count, count, count)).reshape(3, -1)
    rising = (i < j) & (j < k)
    return i[rising], j[rising], k[rising]
