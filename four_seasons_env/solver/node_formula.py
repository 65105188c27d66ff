"""The formula of the relaxed game for many nodes at once, asked about one after the other.

A *node* is a position without the arrangement of its tableau (`node_values`). The formula is that
of `sat`, with variables for what nodes differ in: which cards are dealt, which of these lie in the
waste, and which cards are up. A question is a list of assumptions about these variables, so what
Glucose has learned from one node serves the next. A card that has left the waste has no event: its
``real`` is false, and the tableau is not checked for it.

If a node cannot win, the answer names the assumptions that suffice (a `Nogood`). No node for which
they hold can win either.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.rules import Rules
from four_seasons_env.solver.sat import TRUE, EventClauses, Literals, load, rising_triples

SPAN = 6
"""Cards dealt by which the nodes of one formula differ."""
_CONFLICTS = 3_000  # of one question; without an answer a node is taken to be alive


class Nogood(NamedTuple):
    """A node for which all of this holds cannot be won. Bit sets, as in `node_values.NODE`."""

    in_waste: int  # positions in the deck
    not_in_waste: int
    up: int  # cards
    least_dealt: int
    most_dealt: int


class Event(NamedTuple):
    """A card leaves the waste, in a line of the relaxed game that wins."""

    position: int  # in the deck
    levels: NDArray[np.int64]  # cards up of each suit just before it leaves
    is_direct: bool  # it goes straight up


class NodeFormula(EventClauses):
    """The formula of the nodes with so many cards dealt, or up to `SPAN` more.

    Args:
        deck: cards (4 * place + suit) in dealing order.
        waiting: positions of the cards dealt that may lie in a waste.
        dealt: cards dealt.
        frame: a FRAME record.
    """

    def __init__(
        self, deck: NDArray[np.int64], waiting: Iterable[int], dealt: int, rules: Rules, frame: Any
    ) -> None:
        self.positions = np.array([*waiting, *range(dealt, len(deck))], np.int64)
        super().__init__(rules, deck[self.positions])
        self.may_wait = sum(1 << int(position) for position in self.positions)
        """Bit set of the positions that may lie in the waste of a node."""
        self._gone = (1 << len(deck)) - 1 & ~self.may_wait
        self.dealt = range(dealt, min(dealt + SPAN, len(deck)) + 1)
        self._first = int((self.positions < dealt).sum())
        self._asked = self._first + len(self.dealt) - 1
        self._overflow = -self._nodes()
        self._order()
        self._foundations()
        self._limit_tableau(frame)
        self._solver = load(self.clauses)
        self._facts = self._name_facts()

    def _nodes(self) -> Literals:
        """The variables of nodes; returns which events take place."""
        clauses, first, asked = self.clauses, self._first, self._asked
        self._up = clauses.new(4 * self._ranks)
        self._in_waste = clauses.new(asked)
        count = len(self.positions)
        self._past = np.full(count, -TRUE, np.int32)
        self._past[:first] = TRUE
        self._past[first:asked] = clauses.new(asked - first)
        self.real = np.full(count, TRUE, np.int32)
        self.real[:first] = self._in_waste[:first]
        self.real[first:asked] = clauses.new(asked - first)
        real, past, waits = (x[first:asked] for x in (self.real, self._past, self._in_waste))
        clauses.add(-waits, past)
        clauses.add(-real, -past, waits)
        clauses.add(real, past)
        clauses.add(real, -waits)
        return self.real

    def _order(self) -> None:
        """Which card leaves the waste before which; cards that have left it come first."""
        count = len(self.positions)
        clauses = self.clauses
        stays = clauses.new(count, count)  # [i, j], i < j: i is in the waste when j is dealt
        self._set_before(stays)
        i, j = np.triu_indices(count, 1)
        clauses.add(-stays[i, j], self.real[i])
        clauses.add(-self._past[j], -self.real[i], stays[i, j])
        i, j, k = rising_triples(count)
        coming = k >= self._first
        i, j, k = i[coming], j[coming], k[coming]
        clauses.add(-stays[i, k], stays[i, j])
        clauses.add(-stays[i, j], -stays[j, k], stays[i, k])

    def _foundations(self) -> None:
        """Which cards are up when."""
        clauses, passing, before = self.clauses, self.passing, self.before
        count = len(passing)
        self.up = up = clauses.new(4 * self._ranks, count)
        self.direct = clauses.new(count)
        clauses.add(-up[4:], up[:-4])
        clauses.add(-self._up[4:], self._up[:-4])
        clauses.add(-self._up[:, None], up)
        clauses.add(-self.real[None, :, None], -before, -up[:, :, None], up[:, None, :])
        clauses.add(-self.real, -up[passing], before)
        ready = np.where(passing < 4, TRUE, up[passing - 4, np.arange(count)])
        clauses.add(-self.direct, ready)
        clauses.add(-self.real[:, None], -self.direct[:, None], -before, up[passing])

    def _name_facts(self) -> dict[int, tuple[str, int]]:
        """What each variable of a node says, and of which position or card."""
        facts: dict[int, tuple[str, int]] = {}
        for i in range(self._asked):
            facts[int(self._in_waste[i])] = "in_waste", int(self.positions[i])
        for i in range(self._first, self._asked):
            facts[int(self._past[i])] = "past", int(self.positions[i])
        for card, literal in enumerate(self._up.tolist()):
            facts[literal] = "up", card
        return facts

    def _assumptions(self, waste: int, up: int, dealt: int) -> list[int]:
        literals: list[int] = []
        for i in range(self._asked):
            position = int(self.positions[i])
            if i >= self._first:
                literals.append(int(self._past[i]) * (1 if position < dealt else -1))
            if position < dealt:
                literals.append(int(self._in_waste[i]) * (1 if waste >> position & 1 else -1))
        for suit in range(4):
            level = (up & 0x1111111111111 << suit).bit_count()
            if level:
                literals.append(int(self._up[4 * (level - 1) + suit]))
        return literals

    def ask(self, waste: int, up: int, dealt: int) -> list[Event] | Nogood | None:
        """Whether the relaxed game can be won from a node: the line that does, or why not.

        Args:
            waste: bit set of positions in the deck.
            up: bit set of cards.
            dealt: cards dealt.

        Returns:
            The events of a line that wins; a Nogood; None if the question has taken too long.
        """
        self._solver.conf_budget(_CONFLICTS)
        answer = self._solver.solve_limited(self._assumptions(waste, up, dealt))
        if answer is None:
            return None
        return self._line() if answer else self._nogood()

    def _line(self) -> list[Event]:
        model = np.array(self._solver.get_model())
        true = np.zeros(self.clauses.variables + 1, bool)
        true[np.abs(model)] = model > 0

        def holds(literals: Literals) -> NDArray[np.bool_]:
            return np.where(literals > 0, true[np.abs(literals)], ~true[np.abs(literals)])

        real = np.flatnonzero(holds(self.real))
        earlier = holds(self.before[np.ix_(real, real)]).sum(0)
        levels = holds(self.up).reshape(self._ranks, 4, -1).sum(0)
        direct = holds(self.direct)
        return [
            Event(int(self.positions[i]), levels[:, i], bool(direct[i]))
            for i in real[np.argsort(earlier)]
        ]

    def _nogood(self) -> Nogood:
        in_waste, not_in_waste, up = 0, self._gone, 0
        least, most = self.dealt[0], self.dealt[-1]
        for literal in self._solver.get_core() or []:
            kind, number = self._facts[abs(literal)]
            if kind == "up":
                up |= 1 << number
            elif kind == "past" and literal > 0:
                least = max(least, number + 1)
            elif kind == "past":
                most = min(most, number)
            elif literal > 0:
                in_waste |= 1 << number
            else:
                not_in_waste |= 1 << number
        least = max(least, not_in_waste.bit_length())  # to have left the waste it must be dealt
        return Nogood(in_waste, not_in_waste, up, least, most)

    def close(self) -> None:
        """Free the memory of the SAT solver."""
        self._solver.delete()
