"""Search node by node: each with all arrangements of its tableau, and only nodes that may yet win.

A *node* is a position without the arrangement of its tableau (`node_values`). Nodes with equally
many cards dealt make a layer. Within a layer they are expanded in the order of their cards up and
in the tableau. So a node is complete when its turn comes, with all arrangements in which it can be
reached, and is expanded once. Nodes from which the relaxed game cannot be won are dropped
(`oracle`).

Where the player fills spaces, a card is dealt only right after another card was dealt or left the
waste: any other move can be made after the deal just as well. The same holds for moves within the
tableau. So of the arrangements that can be reached from one another by such moves, the next layer
needs only one.

With a width, only that many nodes go on to the next layer: those on the most lines that win the
relaxed game (`node_values.set_values`), then those with the best scores. A search that has left
nothing out and has not won proves the loss.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.solver.components import (
    Positions,
    enter,
    new_arrays,
    play_on,
    take_order,
)
from four_seasons_env.solver.features import WEIGHTS
from four_seasons_env.solver.lines import moves_to_last
from four_seasons_env.solver.node_values import (
    DEAD,
    EVERY,
    NONE,
    ORDERS,
    forget,
    make_puzzle,
    set_values,
)
from four_seasons_env.solver.oracle import oracle_of
from four_seasons_env.solver.protocol import ANY_NUMBER, LOST, SEARCHING, UNDECIDED, WON, Root

LEAST_MEMORY = 2**28
"""Bytes without which no search by nodes begins."""
_MOST_MEMORY = 2**29  # bytes of a search of some width
_VALUE_WIDTH = 3_000
_VALUE_FROM = 50  # nodes of a layer: fewer are not worth a valuation
_ARRANGEMENTS = 50  # of a node, once a layer of a search of some width is crowded:
_CROWD = 1_000  # with so many positions for each node of the width; later with any
_STEP = 20  # nodes that are expanded between two looks at the clock


class NodeSearch:
    """One such search. It is undecided at once where there are no nodes (`make_puzzle`).

    Args:
        width: nodes that a layer starts with, at most. None: all.
        weights: of the features of `score_node`.
        classes: uint8 (53,), [card] -> its class: cards of one class may change places
            (`exchanges`). None: no card may.
    """

    def __init__(
        self,
        root: Root,
        width: int | None,
        weights: NDArray[np.float64] = WEIGHTS,
        classes: NDArray[np.uint8] | None = None,
    ) -> None:
        self._width = width
        self._all_moves = all_moves(root.rules)
        self.positions = 0
        """Positions made by a move so far."""
        puzzle = make_puzzle(root, weights) if root.memory >= LEAST_MEMORY else None
        self._is_possible = puzzle is not None
        if puzzle is None:
            return
        memory = 5 * root.memory // 8
        self._oracle = oracle_of(root, puzzle)
        self._puzzle = puzzle if classes is None else puzzle._replace(classes=classes)
        self._arrays, self._nodes = new_arrays(root, min(memory, _MOST_MEMORY) if width else memory)
        # What the search looks up.
        self._frozen = kernel.compile_rules(root.rules), root.frames, self._puzzle
        self._arrays.state["arrangements"] = _ARRANGEMENTS
        self._arrays.state["crowd"] = _CROWD * width if width else 2**40
        self._numbers = np.empty(len(self._nodes.all), np.int64)
        self._wastes = np.empty(0, np.uint64)
        self._chosen = np.zeros(1, np.int64)  # of the later positions, those to start with
        self._has_values = False  # the nodes have values
        self._steps = self._search()

    def go_on(self, positions: int = ANY_NUMBER) -> int:
        """Continue the search (`protocol.Search`) with some nodes."""
        if not self._is_possible:
            return UNDECIDED
        state = self._arrays.state[0]
        state["last"] = self.positions + positions
        status = next(self._steps)
        self.positions = int(state["positions"])
        # Without a width, the search is to prove something. It ends when it no longer can.
        if status == SEARCHING and state["left_out"] and not self._width:
            return UNDECIDED
        return status

    def _search(self) -> Iterator[int]:
        """Yield the status between steps."""
        state = self._arrays.state[0]
        layer = 0
        while len(self._chosen):
            self._start_layer(layer)
            yield SEARCHING
            for order in range(ORDERS):
                count = take_order(order, self._arrays, self._numbers)
                numbers = self._numbers[:count].copy()
                for start in range(0, count, _STEP):
                    some = numbers[start : start + _STEP]
                    for number in some:
                        self._is_alive(number)
                    play_on(some, self._arrays, self._nodes, *self._frozen)
                    if state["status"] == WON:
                        yield WON
                    yield SEARCHING
            yield from self._choose()
            layer += 1
        yield UNDECIDED if state["left_out"] else LOST

    def _start_layer(self, layer: int) -> None:
        arrays, nodes, state = self._arrays, self._nodes, self._arrays.state[0]
        is_due = layer % EVERY == 0
        if is_due or not self._has_values or self._width is None:
            forget(nodes)
        state["waiting"] = state["later"] = 0
        state["free"] = NONE
        if state["left_out"]:
            state["crowd"] = 0
        if layer == 0 or 4 * state["keys"] > len(arrays.keys):  # no position comes again
            arrays.keys.fill(0)
            state["keys"] = 0
        for array in (arrays.heads, arrays.orders):
            array.fill(NONE)
        positions = Positions._make(array[self._chosen] for array in arrays.later)
        enter(positions, arrays, nodes, *self._frozen)
        self._wastes = nodes.all["waste"][np.unique(arrays.waiting.nodes[: state["waiting"]])]
        if is_due:
            self._has_values = len(self._wastes) >= _VALUE_FROM
            if self._has_values:
                set_values(nodes, self._puzzle, self._frozen[1][0], _VALUE_WIDTH)
                self._oracle.learn_wins(nodes.all[: nodes.used[0]])

    def _is_alive(self, number: int) -> bool:
        """Whether a node may yet win; one that cannot is marked.

        The expensive checks are made only where the search is to become a proof.
        """
        node = self._nodes.all[number]
        wastes = None if self._width else self._wastes
        if node["value"] == 0 and not self._oracle.is_alive(node, wastes):
            node["value"] = DEAD
        return bool(node["value"] != DEAD)

    def _choose(self) -> Iterator[int]:
        """Choose the positions that the next layer starts with: all those of the best nodes."""
        state = self._arrays.state[0]
        of = self._arrays.later.nodes[: state["later"]]
        numbers = np.unique(of)
        value, score = (self._nodes.all[field][numbers] for field in ("value", "score"))
        kept: list[int] = []
        for i, number in enumerate(numbers[np.lexsort((-score, -value))].tolist()):
            if len(kept) == self._width:
                state["left_out"] = True
                break
            if self._is_alive(number):
                kept.append(number)
            if i % _STEP == 0:
                yield SEARCHING
        self._chosen = np.flatnonzero(np.isin(of, kept))

    def codes(self) -> list[int]:
        """The codes of the moves that win, once it is won (`exchanges`)."""
        return moves_to_last(self._arrays.lines[: int(self._arrays.state["lines"][0])])

    def moves(self) -> list[Move]:
        """The moves that win, once it is won without exchanges."""
        return [self._all_moves[code] for code in self.codes()]
