"""Can the relaxed game be won from a node? Answers are remembered, so most cost next to nothing.

Cheap ways to answer are tried first: the table of known nodes; the nogoods, each of which rules out
many nodes; a short search of the relaxed game that ends at any node known to win; the formula
(`sat`). Each line that wins makes all nodes on it known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit
from four_seasons_env.rules import Rules
from four_seasons_env.solver import sat
from four_seasons_env.solver.hash_table import doubled, find
from four_seasons_env.solver.node_values import Puzzle
from four_seasons_env.solver.protocol import Root
from four_seasons_env.solver.relaxation import ZERO, play_safe_cards, relaxed_key
from four_seasons_env.solver.relaxed_search import (
    ALIVE,
    DEAD,
    UNKNOWN,
    new_search_arrays,
    search_relaxed,
)
from four_seasons_env.solver.sat import Event, Formula, Nogood

_SEARCHED = 200  # nodes that the short search expands, about


@jit
def _learn(keys, states, key, state):
    """Set what is known of a node; returns whether it is new to the table."""
    at = find(keys, key)
    is_new = keys[at] == ZERO
    keys[at] = key
    states[at] = state
    return is_new


@jit
def _learn_wins(nodes, keys, states):
    """Note which of some NODE records have lines that win; how many are new to the table."""
    new = 0
    for node in nodes:
        if node.value > 0:
            new += _learn(keys, states, node.key, ALIVE)
    return new


@jit
def _learn_steps(steps, count, last, state, keys, states):
    """Note what a search has found of its first steps; how many are new to the table.

    Args:
        last: step of a line that wins, if the state is ALIVE.
    """
    new = 0
    if state == DEAD:
        for i in range(count):
            new += _learn(keys, states, steps[i].key, DEAD)
    while state == ALIVE and last >= 0:
        new += _learn(keys, states, steps[last].key, ALIVE)
        last = steps[last].parent
    return new


@jit
def is_ruled_out(nogoods, count, waste, up, dealt):
    """Whether one of the nogoods, rows of a uint64 array, holds for a node."""
    for i in range(count):
        nogood = nogoods[i]
        if (
            nogood[0] & ~waste == ZERO
            and nogood[1] & waste == ZERO
            and nogood[2] & ~up == ZERO
            and nogood[3] <= dealt <= nogood[4]
        ):
            return True
    return False


class Oracle:
    """What is known of the nodes of one game.

    Args:
        frames: the FRAME array of a game in which no card can come back.
    """

    def __init__(self, puzzle: Puzzle, rules: Rules, frames: NDArray[np.void]) -> None:
        self._puzzle, self._rules, self._frame = puzzle, rules, frames[0]
        self._deck = puzzle.deck.cards[: puzzle.deck.size].astype(np.int64)
        self._deck_bits = [1 << int(card) for card in self._deck]
        self._table = np.zeros(2**16, np.uint64), np.zeros(2**16, np.uint8)  # of the nodes known
        self._known = 0
        self._nogoods = np.zeros((64, len(Nogood._fields)), np.uint64)
        self._count = 0
        self._search = new_search_arrays(_SEARCHED)
        self._formula: Formula | None = None

    def is_alive(self, node: Any, wastes: NDArray[np.uint64] | None = None) -> bool:
        """Whether the relaxed game can be won from a NODE record; also where that is not known.

        Args:
            wastes: bit sets of positions: the wastes of nodes with as many cards dealt that may be
                asked about as well. None: only what is known already counts.
        """
        waste, up, dealt = node["waste"], node["up"], int(node["dealt"])
        at = find(self._table[0], node["key"])
        state = int(self._table[1][at]) if self._table[0][at] == node["key"] else UNKNOWN
        if state == UNKNOWN and is_ruled_out(self._nogoods, self._count, waste, up, dealt):
            state = self._learn(node["key"], DEAD)
        if state == UNKNOWN and wastes is not None:
            steps = self._search.steps
            self._make_room(len(steps))
            parts = self._puzzle.deck, self._puzzle.weights, self._frame
            start = waste, node["tableau"], up, dealt
            state, count, last = search_relaxed(start, self._search, *self._table, *parts)
            self._known += _learn_steps(steps, count, last, state, *self._table)
        if state == UNKNOWN and wastes is not None and sat.is_available():
            state = self._ask_formula(node, wastes)
        return bool(state != DEAD)

    def _learn(self, key: Any, state: int) -> int:
        self._known += bool(_learn(*self._table, np.uint64(key), state))
        return state

    def learn_wins(self, nodes: NDArray[np.void]) -> None:
        """Note which NODE records have lines that win (`node_values.set_values`)."""
        self._make_room(len(nodes))
        self._known += _learn_wins(nodes, *self._table)

    def _make_room(self, count: int) -> None:
        """Keep the table at most half full when so many nodes are added."""
        while 2 * (self._known + count) > len(self._table[0]):
            self._table = doubled(*self._table)

    def _ask_formula(self, node: Any, wastes: NDArray[np.uint64]) -> int:
        waste, up, dealt = (int(node[name]) for name in ("waste", "up", "dealt"))
        formula = self._formula
        if not formula or dealt not in formula.dealt or waste & ~formula.may_wait:
            may_wait = waste | int(np.bitwise_or.reduce(wastes))
            if formula:
                formula.close()
            waiting = [position for position in range(dealt) if may_wait >> position & 1]
            formula = Formula(self._deck, waiting, dealt, self._rules, self._frame)
            self._formula = formula
        answer = formula.ask(waste, up, dealt)
        if answer is None:
            return UNKNOWN
        if isinstance(answer, Nogood):
            if self._count == len(self._nogoods):
                self._nogoods = np.concatenate((self._nogoods, np.zeros_like(self._nogoods)))
            self._nogoods[self._count] = answer
            self._count += 1
            return self._learn(node["key"], DEAD)
        self._learn_line(waste, int(node["tableau"]), up, dealt, answer)
        return self._learn(node["key"], ALIVE)

    def _learn_line(
        self, waste: int, tableau: int, up: int, dealt: int, events: list[Event]
    ) -> None:
        """Note the nodes on a line of the relaxed game that wins."""

        def note() -> None:
            sets = np.uint64(waste), np.uint64(tableau), np.uint64(up)
            if self._frame["safe"]:
                sets = play_safe_cards(*sets, self._puzzle.deck, self._frame)
            key = relaxed_key(
                np.uint64(sets[0]), np.uint64(sets[2]), dealt, self._puzzle.deck.first
            )
            self._learn(key, ALIVE)

        for event in events:
            while dealt <= event.position:
                note()
                waste |= 1 << dealt
                dealt += 1
            note()
            going = sum(
                1 << 4 * place + suit for suit in range(4) for place in range(event.levels[suit])
            )
            while going & ~up:
                card = going & ~up & -(going & ~up)
                up, tableau = up | card, tableau & ~card
                note()
            waste ^= 1 << event.position
            card = self._deck_bits[event.position]
            if event.is_direct:
                up |= card
            else:
                tableau |= card
            note()


def oracle_of(root: Root, puzzle: Puzzle) -> Oracle:
    """The oracle of a position, which all searches from it share."""
    if root.oracle is None:
        root.oracle = Oracle(puzzle, root.rules, root.frames)
    return root.oracle
