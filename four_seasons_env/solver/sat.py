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

One formula covers many *nodes* (`node_values`), which may differ in the cards that are dealt, in
those of them that lie in the waste, and in those that are up. Each question is a list of
assumptions about these, so what Glucose has learned from one node serves the next. A card that has
left the waste has no event: its ``real`` is false, and the tableau is not checked for it. If a node
cannot win, the answer names the assumptions that suffice (a `Nogood`).

Glucose, from python-sat (the extra ``solver``), searches for an assignment.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.moves import WASTE, Move
from four_seasons_env.rules import Rules
from four_seasons_env.solver.frame import cards_at
from four_seasons_env.solver.protocol import ANY_NUMBER, LOST, SEARCHING, UNDECIDED, Root

Literals = NDArray[np.int32]
TRUE = 1
"""The number of a variable that is true; -1 is false."""
SPAN = 6
"""Cards dealt by which the nodes of one formula differ."""
_CHUNK = 10_000  # clauses that are made a list at a time
_ASKED_CONFLICTS = 3_000  # of a question about a node; without an answer it is taken to be alive
_SLICE_CONFLICTS = 1_000  # some tenths of a second
_MOST_CONFLICTS = 30_000  # deals that it proves lost take 6,000 at most


@cache
def is_available() -> bool:
    """Whether python-sat is installed."""
    return importlib.util.find_spec("pysat") is not None


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


class Formula:
    """The formula of the nodes with so many cards dealt, or up to ``span`` more.

    Args:
        deck: cards (4 * place + suit) in dealing order.
        waiting: positions of the cards dealt that may lie in a waste.
        dealt: cards dealt.
        frame: a FRAME record.
        in_parts: conditions named by `fits` and `waits` hold only where these are assumed.
    """

    fits: Literals
    """[i]: when i leaves the waste, the tableau fits into the piles. With ``in_parts`` only."""
    waits: Literals
    """[x]: card x goes up after the one before it in its suit. Likewise."""

    def __init__(
        self,
        deck: NDArray[np.int64],
        waiting: Iterable[int],
        dealt: int,
        rules: Rules,
        frame: Any,
        span: int = SPAN,
        in_parts: bool = False,
    ) -> None:
        self.positions = np.array([*waiting, *range(dealt, len(deck))], np.int64)
        """Positions in the deck of the cards that may leave the waste."""
        self.passing = deck[self.positions]
        """These cards."""
        self.may_wait = sum(1 << int(position) for position in self.positions)
        """Bit set of the positions that may lie in the waste of a node."""
        self.dealt = range(dealt, min(dealt + span, len(deck)) + 1)
        self.clauses = Clauses()
        self.up = self.clauses.new(4 * rules.ranks, len(self.passing))
        """[x, i]: card x is up just before i leaves the waste."""
        self.direct = self.clauses.new(len(self.passing))
        """[i]: it goes straight up."""
        self._ranks, self._piles = rules.ranks, rules.piles
        self._gone = (1 << len(deck)) - 1 & ~self.may_wait
        self._first = int((self.positions < dealt).sum())
        self._asked = self._first + len(self.dealt) - 1
        self._set_nodes()
        self._set_order()
        if in_parts:
            self.fits = self.clauses.new(len(self.passing))
            self.waits = self.clauses.new(4 * rules.ranks)
        self._set_foundations(in_parts)
        self._overflow = -self.fits if in_parts else -self.real
        self._limit_tableau(frame)
        self._solver: Any = None
        self._facts = self._name_facts()

    def _set_nodes(self) -> None:
        """The variables of nodes, and which events take place."""
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

    def _set_order(self) -> None:
        """Which card leaves the waste before which; cards that have left it come first."""
        count = len(self.positions)
        clauses = self.clauses
        stays = clauses.new(count, count)  # [i, j], i < j: i is in the waste when j is dealt
        i, j = np.triu_indices(count, 1)
        self.before = np.full((count, count), -TRUE, np.int32)
        """[i, k]: card i leaves the waste before card k does."""
        self.before[i, j] = -stays[i, j]
        self.before[j, i] = stays[i, j]
        clauses.add(-stays[i, j], self.real[i])
        clauses.add(-self._past[j], -self.real[i], stays[i, j])
        i, j, k = _rising_triples(count)
        coming = k >= self._first
        i, j, k = i[coming], j[coming], k[coming]
        clauses.add(-stays[i, k], stays[i, j])
        clauses.add(-stays[i, j], -stays[j, k], stays[i, k])

    def _set_foundations(self, in_parts: bool) -> None:
        """Which cards are up when."""
        clauses, passing, up, before = self.clauses, self.passing, self.up, self.before
        any_way = [-self.waits] if in_parts else []
        clauses.add(*(free[4:, None] for free in any_way), -up[4:], up[:-4])
        clauses.add(-self._up[4:], self._up[:-4])
        clauses.add(-self._up[:, None], up)
        clauses.add(-self.real[None, :, None], -before, -up[:, :, None], up[:, None, :])
        clauses.add(-self.real, -up[passing], before)
        ready = np.where(passing < 4, TRUE, up[passing - 4, np.arange(len(passing))])
        clauses.add(*(free[passing] for free in any_way), -self.direct, ready)
        clauses.add(-self.real[:, None], -self.direct[:, None], -before, up[passing])

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

    def assumptions(self, waste: int, up: int, dealt: int) -> list[int]:
        """The literals that hold for a node; the arguments are those of `ask`."""
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
        self._solver = self._solver or load(self.clauses)
        self._solver.conf_budget(_ASKED_CONFLICTS)
        answer = self._solver.solve_limited(self.assumptions(waste, up, dealt))
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
        if self._solver:
            self._solver.delete()


def load(clauses: Clauses, with_proof: bool = False) -> Any:
    """Glucose, with these clauses."""
    from pysat.solvers import Glucose4

    solver = Glucose4(with_proof=with_proof)
    for block in clauses.blocks:
        for start in range(0, len(block), _CHUNK):
            solver.append_formula(block[start : start + _CHUNK].tolist())
    return solver


def formula_of(root: Root, in_parts: bool = False) -> Formula:
    """The formula of one position, from which no card can come back."""
    record, rules, frame = root.record, root.rules, root.frames[0]
    deck, dealt = record["deck"][: record["deck_size"]], int(record["dealt"])
    waste = set(cards_at(record, WASTE))
    waiting = [position for position in range(dealt) if int(deck[position]) in waste]
    cards = frame["place"][deck].astype(np.int64)
    formula = Formula(cards, waiting, dealt, rules, frame, 0, in_parts)
    up = sum(1 << 4 * p + s for s in range(4) for p in range(int(record["level"][s])))
    holds = formula.assumptions(sum(1 << position for position in waiting), up, dealt)
    formula.clauses.add(np.array(holds, np.int32))
    return formula


class FormulaSearch:
    """One search for an assignment of the formula of a position. It makes no positions.

    Args:
        with_proof: keep the proof, for `proof`.
    """

    positions = 0

    def __init__(self, root: Root, with_proof: bool = False) -> None:
        self._status = UNDECIDED
        self.conflicts = 0
        if is_available() and root.frames[0]["one_way"]:
            self._status = SEARCHING
            self.clauses = formula_of(root).clauses
            self._solver = load(self.clauses, with_proof)

    def go_on(self, positions: int = ANY_NUMBER) -> int:
        """Continue the search (`protocol.Search`)."""
        if self._status == SEARCHING:
            self._solver.conf_budget(_SLICE_CONFLICTS)
            answer = self._solver.solve_limited()
            self.conflicts = self._solver.accum_stats()["conflicts"]
            if answer is not None or self.conflicts >= _MOST_CONFLICTS:
                self._status = LOST if answer is False else UNDECIDED
        return self._status

    def moves(self) -> list[Move]:
        """None: a formula wins no game."""
        return []

    def proof(self) -> list[str]:
        """The proof that no assignment satisfies the clauses: lines in the DRUP format."""
        lines: list[str] = self._solver.get_proof()
        return lines


def _rising_triples(count: int) -> tuple[NDArray[np.int64], ...]:
    """All i < j < k below a count."""
    i, j, k = np.indices((count, count, count)).reshape(3, -1)
    rising = (i < j) & (j < k)
    return i[rising], j[rising], k[rising]
