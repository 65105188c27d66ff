"""Can the relaxed game be won from a node? Answers are remembered, so most cost next to nothing.

Cheap ways to answer are tried first: the table of known nodes; the nogoods, each of which rules out
many nodes; a short depth-first search that ends at any node known to win; the formula
(`node_formula`). Each line that wins makes all nodes on it known.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import bit_set
from four_seasons_env.engine.jit import jit
from four_seasons_env.rules import Rules
from four_seasons_env.solver import sat
from four_seasons_env.solver.hash_table import find
from four_seasons_env.solver.node_formula import Event, NodeFormula, Nogood
from four_seasons_env.solver.node_values import Puzzle, score_node
from four_seasons_env.solver.relaxation import (
    MOST_RELAXED_MOVES,
    RELAXED,
    ZERO,
    play_safe_cards,
    relaxed_key,
    relaxed_moves,
)

UNKNOWN, ALIVE, DEAD = range(3)
_STEPS = 300  # nodes that the short search expands
_SEEN = 2**13  # room for the nodes that it meets

STEP = np.dtype(
    [
        ("waste", "u8"),  # bit set of positions in the deck
        ("tableau", "u8"),  # bit set of cards
        ("up", "u8"),  # bit set of cards
        ("key", "u8"),
        ("score", "f8"),
        ("dealt", "i8"),
        ("parent", "i8"),
    ]
)


@jit
def known(keys, states, key):
    """The state of a node, UNKNOWN if it is not in the table."""
    at = find(keys, key)
    return np.int64(states[at]) if keys[at] == key else UNKNOWN


@jit
def learn(keys, states, key, state):
    """Set the state of a node; returns whether it is new to the table."""
    at = find(keys, key)
    is_new = keys[at] == ZERO
    keys[at] = key
    states[at] = state
    return is_new


@jit
def _rehash(keys, states, more_keys, more_states):
    for at in range(len(keys)):
        if keys[at] != ZERO:
            learn(more_keys, more_states, keys[at], states[at])


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


@jit
def _enter(steps, count, child, table, seen, puzzle, frame):
    """Note the node ``child`` as a step unless it is known; returns its state and the count."""
    waste, tableau, up, dealt, parent = child
    if frame.safe:
        waste, tableau, up = play_safe_cards(waste, tableau, up, puzzle.deck, frame)
    if up == frame.cards:
        return ALIVE, count
    key = relaxed_key(waste, up, dealt, puzzle.first)
    state = known(table[0], table[1], key)
    if state != UNKNOWN:
        return state, count
    at = find(seen, key)
    if seen[at] == key:
        return UNKNOWN, count
    seen[at] = key
    score, worst = score_node(
        waste, tableau, bit_set(puzzle.deck, dealt, puzzle.size), up, puzzle, frame
    )
    if worst > puzzle.piles:
        return DEAD, count
    step = steps[count]
    step.waste, step.tableau, step.up = waste, tableau, up
    step.key, step.score, step.dealt, step.parent = key, score, dealt, parent
    return UNKNOWN, count + 1


@jit
def probe(start, steps, stack, seen, table, puzzle, frame):
    """Search from a node, depth first and the best first, and remember what is found.

    Args:
        start: waste, tableau, up, dealt.
        steps: STEP, with room for `_STEPS` times `MOST_RELAXED_MOVES`.
        stack: int64, likewise.
        seen: uint64, for the keys met.
        table: keys and states of the nodes known, with room for all steps.

    Returns:
        ALIVE, DEAD or UNKNOWN, and how many nodes are new to the table.
    """
    seen[:] = ZERO
    new = 0
    waste, tableau, up, dealt = start
    state, count = _enter(steps, 0, (waste, tableau, up, dealt, -1), table, seen, puzzle, frame)
    if state != UNKNOWN:
        return state, new
    waiting = count
    stack[0] = 0
    after = np.empty(MOST_RELAXED_MOVES, RELAXED)
    for _ in range(_STEPS):
        if waiting == 0:
            for i in range(count):
                new += learn(table[0], table[1], steps[i].key, DEAD)
            return DEAD, new
        waiting -= 1
        here = stack[waiting]
        step = steps[here]
        node = step.waste, step.tableau, step.up, step.dealt
        first, won = count, False
        for i in range(relaxed_moves(node, puzzle.deck, puzzle.size, puzzle.piles, frame, after)):
            each = after[i]
            child = each.waste, each.tableau, each.up, each.dealt, here
            state, count = _enter(steps, count, child, table, seen, puzzle, frame)
            won |= state == ALIVE
        if won:
            while here >= 0:
                new += learn(table[0], table[1], steps[here].key, ALIVE)
                here = steps[here].parent
            return ALIVE, new
        for i in range(first, count):  # the best on top
            at = waiting
            while at > waiting - (i - first) and steps[stack[at - 1]].score > steps[i].score:
                stack[at] = stack[at - 1]
                at -= 1
            stack[at] = i
            waiting += 1
    return UNKNOWN, new


@jit
def _learn_wins(nodes, keys, states):
    """Note which of some NODE records have lines that win; how many are new to the table."""
    new = 0
    for node in nodes:
        if node.value > 0:
            new += learn(keys, states, node.key, ALIVE)
    return new


class Oracle:
    """What is known of the nodes of one game.

    Args:
        frames: the FRAME array of a game in which no card can come back.
    """

    def __init__(self, puzzle: Puzzle, rules: Rules, frames: NDArray[np.void]) -> None:
        self._puzzle, self._rules, self._frame = puzzle, rules, frames[0]
        self._deck = puzzle.deck[: puzzle.size].astype(np.int64)
        self._deck_bits = [1 << int(card) for card in self._deck]
        self.table = np.zeros(2**16, np.uint64), np.zeros(2**16, np.uint8)
        """Keys and states of the nodes known."""
        self._known = 0
        self._nogoods = np.zeros((64, len(Nogood._fields)), np.uint64)
        self._count = 0
        room = _STEPS * MOST_RELAXED_MOVES + 1
        self._steps, self._stack = np.zeros(room, STEP), np.zeros(room, np.int64)
        self._seen = np.zeros(_SEEN, np.uint64)
        self._formula: NodeFormula | None = None

    def is_alive(self, node: Any, wastes: NDArray[np.uint64] | None = None) -> bool:
        """Whether the relaxed game can be won from a NODE record; also where that is not known.

        Args:
            wastes: bit sets of positions: the wastes of nodes with as many cards dealt that may be
                asked about as well. None: only what is known already counts.
        """
        waste, up, dealt = node["waste"], node["up"], int(node["dealt"])
        state = known(*self.table, node["key"])
        if state == UNKNOWN and is_ruled_out(self._nogoods, self._count, waste, up, dealt):
            state = self._learn(node["key"], DEAD)
        if state == UNKNOWN and wastes is not None:
            self._make_room(len(self._steps))
            start = waste, node["tableau"], up, dealt
            state, new = probe(
                start, self._steps, self._stack, self._seen, self.table, self._puzzle, self._frame
            )
            self._known += new
        if state == UNKNOWN and wastes is not None and sat.is_available():
            state = self._ask_formula(node, wastes)
        return bool(state != DEAD)

    def _learn(self, key: Any, state: int) -> int:
        self._known += bool(learn(*self.table, np.uint64(key), state))
        return state

    def learn_wins(self, nodes: NDArray[np.void]) -> None:
        """Note which NODE records have lines that win (`node_values.set_values`)."""
        self._make_room(len(nodes))
        self._known += _learn_wins(nodes, *self.table)

    def _make_room(self, count: int) -> None:
        """Keep the table at most half full when so many nodes are added."""
        keys, states = self.table
        while 2 * (self._known + count) > len(keys):
            larger = np.zeros(2 * len(keys), np.uint64), np.zeros(2 * len(keys), np.uint8)
            _rehash(keys, states, *larger)
            keys, states = self.table = larger

    def _ask_formula(self, node: Any, wastes: NDArray[np.uint64]) -> int:
        waste, up, dealt = (int(node[name]) for name in ("waste", "up", "dealt"))
        formula = self._formula
        if not formula or dealt not in formula.dealt or waste & ~formula.may_wait:
            may_wait = waste | int(np.bitwise_or.reduce(wastes))
            if formula:
                formula.close()
            waiting = [position for position in range(dealt) if may_wait >> position & 1]
            formula = NodeFormula(self._deck, waiting, dealt, self._rules, self._frame)
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
            key = relaxed_key(np.uint64(sets[0]), np.uint64(sets[2]), dealt, self._puzzle.first)
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
