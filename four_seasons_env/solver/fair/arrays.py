"""The arrays of a search for fair values: rows of positions, tables, and the state."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.containers import Met, move_keys, new_met
from four_seasons_env.rules import Rules
from four_seasons_env.solver.analysis.features import WEIGHTS
from four_seasons_env.solver.analysis.frame import make_frame
from four_seasons_env.solver.fair.relaxed_search import SearchArrays, new_search_arrays

STATE = np.dtype(
    [
        ("top", "i8"),  # rows in use
        ("values", "i8"),  # keys in the table of values
        ("visits", "i8"),  # keys in the table of what is visited
        ("positions", "i8"),  # positions made by a move, in all
        ("last", "i8"),  # positions made, in all, at which the search stops
        ("status", "i8"),
        ("won", "i8"),  # the row of the position in which the last search for a win has won
    ]
)
SEARCHING, OUT_OF_POSITIONS, ROWS_FULL, VALUES_FULL, VISITS_FULL = range(5)
VALUE = np.dtype([("key", "u8"), ("low", "i8"), ("high", "i8")])
VISIT = np.dtype([("key", "u8"), ("lost", "u1")])

_MET_SHARE = 4  # slots of the table of positions met, for each row
_ROWS = (
    *("positions", "turns", "scores", "keys", "lows", "highs", "flags", "waiting"),
    *("order", "parents", "moves", "origins"),
)
_RELAXED = 2**12  # nodes of a search of the relaxed game


class FairArrays(NamedTuple):
    """The buffers of a search; rows from ``state.top`` on are free."""

    rules: NDArray[np.void]  # RULE (1,)
    frames: NDArray[np.void]  # FRAME (1,)
    weights: NDArray[np.float64]  # (features,) of `score_position`
    state: NDArray[np.void]  # STATE (1,)
    positions: NDArray[np.void]  # GAME (rows,)
    turns: NDArray[np.int64]  # (rows,) the move that turns a card there; -1: none
    scores: NDArray[np.float64]  # (rows,) of `score_position`
    keys: NDArray[np.uint64]  # (rows,)
    lows: NDArray[np.int64]  # (rows,) bounds of the value, in orders of the hidden cards
    highs: NDArray[np.int64]  # (rows,)
    flags: NDArray[np.uint8]  # (rows,)
    waiting: NDArray[np.int64]  # (rows,) rows that wait: a heap
    order: NDArray[np.int64]  # (rows,) decisions that wait: a heap for each position
    parents: NDArray[np.int64]  # (rows,) the row that an enumeration reached this one from
    moves: NDArray[np.int64]  # (rows,) by this move
    origins: NDArray[np.int64]  # (rows,) row of a decision in its enumeration, from 0
    met: Met  # table of the positions that an enumeration holds
    values: NDArray[np.void]  # VALUE (a power of two,)
    visits: NDArray[np.void]  # VISIT (a power of two,)
    words: NDArray[np.uint64]  # a row of mask words
    own: NDArray[np.uint64]  # (4,) of `shared_key`
    names: NDArray[np.int64]  # (4,) the same for suits
    deck: NDArray[np.uint64]  # (52,) of a search of the relaxed game
    relaxed: SearchArrays  # of that search


def new_arrays(record: Any, rules: Rules, rows: int = 2**12, entries: int = 2**14) -> FairArrays:
    """Arrays of a search in the game of a GAME record.

    Args:
        rows: positions that can be held at once, a power of two.
        entries: of the tables of values and of what is visited, a power of two.
    """
    whole = [np.zeros(rows, np.int64) for _ in range(8)]
    turns, lows, highs, waiting, order, parents, moves, origins = whole
    return FairArrays(
        kernel.compile_rules(rules),
        make_frame(record, rules),
        WEIGHTS,
        np.zeros(1, STATE),
        np.zeros(rows, kernel.GAME),
        turns,
        np.zeros(rows),
        np.zeros(rows, np.uint64),
        lows,
        highs,
        np.zeros(rows, np.uint8),
        waiting,
        order,
        parents,
        moves,
        origins,
        new_met(rows, _MET_SHARE * rows),
        np.zeros(entries, VALUE),
        np.zeros(entries, VISIT),
        kernel.new_masks(1, rules)[0][0],
        np.zeros(4, np.uint64),
        np.zeros(4, np.int64),
        np.zeros(52, np.uint64),
        new_search_arrays(_RELAXED),
    )


def grow(arrays: FairArrays) -> FairArrays:
    """The arrays, with those doubled that a search has found full; they keep their content."""
    state = arrays.state[0]
    if state["status"] == ROWS_FULL:
        rows: dict[str, Any] = {
            name: np.concatenate([array, np.zeros_like(array)])
            for name, array in arrays._asdict().items()
            if name in _ROWS
        }
        return arrays._replace(
            **rows, met=new_met(2 * len(arrays.positions), 2 * len(arrays.met.keys))
        )
    if state["status"] == VALUES_FULL:
        values = np.zeros(2 * len(arrays.values), VALUE)
        move_keys(arrays.values["key"], arrays.values, values["key"], values)
        return arrays._replace(values=values)
    visits = np.zeros(2 * len(arrays.visits), VISIT)
    lost = arrays.visits[arrays.visits["lost"] == 1]  # only these marks are needed
    state["visits"] = len(lost)
    move_keys(lost["key"], lost, visits["key"], visits)
    return arrays._replace(visits=visits)
