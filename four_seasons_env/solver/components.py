"""How a search by nodes expands the positions of a node (`nodes`), compiled.

A node's positions fall into *components*: arrangements of the tableau that can be reached from one
another by moves within it. A component is expanded once, from the first of its positions that is
met. Each position that follows from it waits at its own node, or in the next layer.

Where the player fills spaces, a move that takes a card out of the tableau, or moves one in, is
played only if the move before it, within the tableau, touched the same pile. Otherwise the two
moves could be swapped, and the result is in a component that is met without them.

All this holds for the game with exchanges, too (`exchanges`). There a position stands for all
positions that exchanges make of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.hashing import class_key
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.exchanges import MOST_CODES, list_moves, move_of, play_code
from four_seasons_env.solver.hash_table import find
from four_seasons_env.solver.lines import LINE, note_move
from four_seasons_env.solver.node_values import DEAD, NONE, ORDERS, Nodes, new_nodes, node_of
from four_seasons_env.solver.protocol import WON, Root
from four_seasons_env.solver.relaxation import ONE, ZERO
from four_seasons_env.solver.safe_moves import MOST_SAFE, safe_move

_BYTES_EACH = 2**10  # for each position and node in the tables
_COMPONENT = 2**16  # arrangements that can be reached from one within the tableau
_UNWRITTEN = -2
_PILES = np.uint64(2**WASTE - 1)  # bit set

STATE = np.dtype(
    [
        ("waiting", "i8"),  # positions of this layer that have been met, in all
        ("free", "i8"),  # the first place whose position has been expanded since, or NONE
        ("later", "i8"),  # positions of the next layer
        ("lines", "i8"),  # lines in use
        ("keys", "i8"),  # positions in the table
        ("positions", "i8"),  # positions made by a move, in all
        ("last", "i8"),  # positions made, in all, at which it stops
        ("arrangements", "i8"),  # of a node that are kept, those reached within the tableau aside,
        ("crowd", "i8"),  # once so many positions wait
        ("status", "i8"),
        ("left_out", "b1"),  # something was left out: not winning proves nothing
    ],
    align=True,
)


class Positions(NamedTuple):
    """Positions with what is known of them."""

    games: NDArray[np.void]  # GAME (n,)
    ends: NDArray[np.int64]  # (n,) the lines that lead to them
    nodes: NDArray[np.int64]  # (n,)
    links: NDArray[np.int64]  # (n,) the next that waits at the same node
    may_deal: NDArray[np.bool_]  # (n,)


class Component(NamedTuple):
    """Positions that can be reached from one by moves within the tableau."""

    games: NDArray[np.void]  # GAME (n,)
    parents: NDArray[np.int64]  # (n,)
    codes: NDArray[np.uint8]  # (n,)
    ends: NDArray[np.int64]  # (n,) the lines that lead to them, or _UNWRITTEN
    touched: NDArray[np.uint64]  # (n,) bit set of the piles of the moves that led to them


class NodeArrays(NamedTuple):
    """What a search writes."""

    state: NDArray[np.void]  # STATE (1,)
    waiting: Positions  # of this layer
    later: Positions  # of the next layer
    component: Component
    heads: NDArray[np.int64]  # (nodes,) the first position that waits at a node
    orders: NDArray[np.int64]  # (ORDERS,) the first node of each order at which one waits
    chain: NDArray[np.int64]  # (nodes,) the next node of the same order
    lines: NDArray[np.void]  # LINE (n,)
    keys: NDArray[np.uint64]  # (a power of two,) of positions
    places: NDArray[np.int32]  # (as many,) where each waits; NONE once it is expanded
    words: NDArray[np.uint64]  # a row of mask words
    codes: NDArray[np.int64]  # (MOST_CODES,) of the moves from a position
    safe: NDArray[np.uint8]  # (MOST_SAFE,) moves


@jit
def _line_to(arrays, at):
    """The line that leads to a position of the component; noted when it is first needed."""
    state, lines = arrays.state[0], arrays.lines
    parents, codes, ends = arrays.component.parents, arrays.component.codes, arrays.component.ends
    while ends[at] == _UNWRITTEN:
        above = at
        while ends[parents[above]] == _UNWRITTEN:
            above = parents[above]
        ends[above] = note_move(state, lines, ends[parents[above]], codes[above])
    return ends[at]


@jit
def _line(arrays, at, code, safe):
    """The line of a move from a position of the component, and of so many safe ones after it."""
    state, lines = arrays.state[0], arrays.lines
    end = note_move(state, lines, _line_to(arrays, at), code)
    for i in range(safe):
        end = note_move(state, lines, end, arrays.safe[i])
    return end


@jit
def _key(g, rule, puzzle):
    return max(class_key(g, rule, puzzle.classes), ONE)


@jit
def _meet(arrays, nodes, key, number):
    """Where a position of this layer waits: a place, or NONE, and whether it is new there."""
    state, waiting = arrays.state[0], arrays.waiting
    at = find(arrays.keys, key)
    if arrays.keys[at] == key:
        return np.int64(arrays.places[at]), False
    if state.free != NONE:
        place = state.free
        state.free = waiting.links[place]
    elif state.waiting < len(waiting.games):
        place = state.waiting
        state.waiting += 1
    else:
        state.left_out = True
        return np.int64(NONE), False
    arrays.keys[at] = key
    arrays.places[at] = place
    state.keys += 1
    if arrays.heads[number] == NONE:
        order = nodes.all[number].order
        arrays.chain[number] = arrays.orders[order]
        arrays.orders[order] = number
    waiting.nodes[place] = number
    waiting.links[place] = arrays.heads[number]
    arrays.heads[number] = place
    return place, True


@jit
def _has_room(arrays, size):
    """Whether what follows from one position of a component of this size can be noted."""
    state = arrays.state[0]
    return (
        size + MOST_CODES < len(arrays.component.games)
        and state.later + MOST_CODES < len(arrays.later.games)
        and state.lines + size + (MOST_SAFE + 1) * MOST_CODES < len(arrays.lines)
        and 2 * (state.keys + MOST_CODES) < len(arrays.keys)
        and state.positions + MOST_CODES < state.last
    )


@jit
def _piles_of(move, rule):
    """Bit set of the piles that a move takes a card from or puts one on."""
    both = (ONE << np.uint64(rule.source[move])) | (ONE << np.uint64(rule.target[move]))
    return both & _PILES


@jit
def _play_component(start, arrays, nodes, rules, frames, puzzle):
    """Expand a position, and all positions that can be reached from it within the tableau."""
    state, waiting, later = arrays.state[0], arrays.waiting, arrays.later
    games, rule, frame = arrays.component.games, rules[0], frames[0]
    home = waiting.nodes[start]
    games[0] = waiting.games[start]
    arrays.component.ends[0] = waiting.ends[start]
    touched = arrays.component.touched
    touched[0] = _PILES
    dealt, top = games[0].dealt, games[0].top[WASTE]
    size, here = 1, 0
    while here < size:
        if not _has_room(arrays, size):
            state.left_out = True
            return
        tableau = nodes.all[home].tableau
        count = list_moves(
            games[here], rule, tableau, frame, puzzle.classes, arrays.words, arrays.codes
        )
        for code in arrays.codes[:count]:
            piles = _piles_of(move_of(code), rule)
            is_within = piles & (piles - ONE) != ZERO
            if frame.safe and here > 0 and not is_within and piles & touched[here] == ZERO:
                continue  # it has been played on the position before
            g = games[size]
            games[size] = games[here]
            play_code(g, rule, code)
            is_later = g.dealt > dealt
            if is_later and frame.safe and not waiting.may_deal[start]:
                continue
            state.positions += 1
            safe = 0
            while frame.safe:
                going = safe_move(g, rule, frame)
                if going < 0:
                    break
                kernel.play(g, rule, going)
                arrays.safe[safe] = going
                safe += 1
            if kernel.is_won(g, rule):
                _line(arrays, here, code, safe)
                state.status = WON
                return
            is_home = is_within and safe == 0 and not rule.refills
            number = home if is_home else node_of(g, nodes, rule, puzzle, frame)
            if number == NONE:
                state.left_out = True
                continue
            node = nodes.all[number]
            if node.value == DEAD:
                continue
            key = _key(g, rule, puzzle)
            is_crowded = state.waiting > state.crowd and node.kept >= state.arrangements
            if is_crowded and number != home:
                state.left_out = True
            elif is_later:
                node.kept += 1
                later.games[state.later] = g
                later.ends[state.later] = _line(arrays, here, code, safe)
                later.nodes[state.later] = number
                state.later += 1
            elif number == home:
                at = find(arrays.keys, key)
                if arrays.keys[at] == key and arrays.places[at] == NONE:
                    continue
                state.keys += arrays.keys[at] == ZERO
                arrays.keys[at] = key
                arrays.places[at] = NONE
                arrays.component.parents[size] = here
                arrays.component.codes[size] = code
                touched[size] = piles
                arrays.component.ends[size] = _UNWRITTEN
                size += 1
            else:
                place, is_new = _meet(arrays, nodes, key, number)
                if is_new:
                    node.kept += 1
                    waiting.games[place] = g
                    waiting.ends[place] = _line(arrays, here, code, safe)
                    waiting.may_deal[place] = g.top[WASTE] != top
                elif place != NONE:
                    waiting.may_deal[place] |= g.top[WASTE] != top
        here += 1


@jit
def play_on(numbers, arrays, nodes, rules, frames, puzzle):
    """Expand all positions that wait at some nodes; those that may deal come first."""
    state, waiting = arrays.state[0], arrays.waiting
    for number in numbers:
        for may_deal in (True, False):
            place = arrays.heads[number]
            while place != NONE and nodes.all[number].value != DEAD:
                if waiting.may_deal[place] == may_deal:
                    at = find(arrays.keys, _key(waiting.games[place], rules[0], puzzle))
                    if arrays.places[at] != NONE:
                        arrays.places[at] = NONE
                        _play_component(place, arrays, nodes, rules, frames, puzzle)
                        if state.status == WON:
                            return
                place = waiting.links[place]
        while arrays.heads[number] != NONE:
            place = arrays.heads[number]
            arrays.heads[number] = waiting.links[place]
            waiting.links[place] = state.free
            state.free = place


@jit
def enter(positions, arrays, nodes, rules, frames, puzzle):
    """Let the positions that a layer starts with wait at their nodes; all of them may deal."""
    for i in range(len(positions.games)):
        g = positions.games[i]
        number = node_of(g, nodes, rules[0], puzzle, frames[0])
        key = _key(g, rules[0], puzzle)
        place, is_new = _meet(arrays, nodes, key, number)
        if is_new:
            arrays.waiting.games[place] = g
            arrays.waiting.ends[place] = positions.ends[i]
            arrays.waiting.may_deal[place] = True


@jit
def take_order(order, arrays, numbers):
    """The nodes of an order at which positions wait; how many there are."""
    count, number = 0, arrays.orders[order]
    while number != NONE:
        numbers[count] = number
        count += 1
        number = arrays.chain[number]
    return count


def new_arrays(root: Root, memory: int) -> tuple[NodeArrays, Nodes]:
    """What a search writes, whose next layer starts with the root.

    Args:
        memory: bytes that it may take, about.
    """
    room = 1 << max(10, (memory // _BYTES_EACH).bit_length() - 1)
    component = min(room, _COMPONENT)
    arrays = NodeArrays(
        np.zeros(1, STATE), _new_positions(room), _new_positions(room),
        Component(
            np.empty(component, kernel.GAME), np.empty(component, np.int64),
            np.empty(component, np.uint8), np.empty(component, np.int64),
            np.empty(component, np.uint64),
        ),
        np.empty(room, np.int64), np.empty(ORDERS, np.int64), np.empty(room, np.int64),
        np.empty(32 * room, LINE), np.zeros(16 * room, np.uint64), np.empty(16 * room, np.int32),
        kernel.new_masks(1, root.rules)[0][0], np.empty(MOST_CODES, np.int64),
        np.empty(MOST_SAFE, np.uint8),
    )  # fmt: skip
    arrays.later.games[0], arrays.later.ends[0] = root.record, NONE
    return arrays, new_nodes(room)


def _new_positions(room: int) -> Positions:
    kinds: tuple[Any, ...] = kernel.GAME, np.int64, np.int64, np.int64, np.bool_
    return Positions._make(np.empty(room, kind) for kind in kinds)
