"""The buffers of a search for fair values: rows of positions, a transposition table, the state.

The rows are a stack. A position that is being valued owns the rows from ``state.top`` on: first the
positions that its enumeration has found, then one row for each card that may be turned. The
recursion continues above them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.containers import Transpositions, move_keys, new_transpositions
from four_seasons_env.rules import Rules
from four_seasons_env.solver.analysis.root import make_frame

VALUE_STATE = np.dtype(
    [
        ("top", "i8"),  # rows in use
        ("values", "i8"),  # keys in the transposition table
        ("positions", "i8"),  # positions made by a move, in all
        ("limit", "i8"),  # positions made, in all, at which the search stops
        ("status", "i8"),
        ("won", "i8"),  # the row of a position that has been won; -1: none
        ("held", "i8"),  # rows that the last enumeration at the root holds
    ]
)
SEARCHING, OUT_OF_POSITIONS, ROWS_FULL, VALUES_FULL = range(4)
ROW = np.dtype(
    [
        ("key", "u8"),  # of `shared_key`
        ("orders", "i8"),  # of `count_orders`
        ("factor", "i8"),  # of `order_factor`, of the card that was turned
        ("low", "i8"),  # bounds of the value: the orders in which it is won
        ("high", "i8"),
        ("score", "f8"),  # of `score_position`
        ("turn", "i8"),  # the move that turns a card here; -1: none
        ("parent", "i8"),  # the row from which this one was reached
        ("move", "i8"),  # the move that led here
    ]
)
"""Facts about the position in the same row of ``positions``."""
VALUE = np.dtype([("key", "u8"), ("won", "i8"), ("lost", "i8")])
"""An entry of the transposition table: the number of orders (`count_orders`) in which the best play
is known to win, and of those in which it is known to lose."""
_ROWS, _VALUES = 2**12, 2**14  # at first; doubled when full


class FairArrays(NamedTuple):
    """The buffers of a search; rows from ``state.top`` on are free."""

    rules: NDArray[np.void]  # RULE (1,)
    frames: NDArray[np.void]  # FRAME (1,)
    state: NDArray[np.void]  # VALUE_STATE (1,)
    positions: NDArray[np.void]  # GAME (rows,)
    rows: NDArray[np.void]  # ROW (rows,)
    heap: NDArray[np.int64]  # (rows,) rows to expand, of each position that is being valued
    met: Transpositions  # hash table of the positions that an enumeration holds
    values: NDArray[np.void]  # VALUE (a power of two,)
    words: NDArray[np.uint64]  # a row of mask words
    suits: NDArray[np.uint64]  # (4,) scratch of `shared_key`
    names: NDArray[np.int64]  # (4,) the same


def new_arrays(record: Any, rules: Rules) -> FairArrays:
    """The buffers for a game, given as a GAME record."""
    return FairArrays(
        rules=kernel.compile_rules(rules),
        frames=make_frame(record, rules),
        state=np.zeros(1, VALUE_STATE),
        **_new_rows(_ROWS),
        values=np.zeros(_VALUES, VALUE),
        words=kernel.new_masks(1, rules)[0][0],
        suits=np.zeros(4, np.uint64),
        names=np.zeros(4, np.int64),
    )


def _new_rows(count: int) -> dict[str, Any]:
    """The arrays with one entry a row; the count is a power of two."""
    return {
        "positions": np.zeros(count, kernel.GAME),
        "rows": np.zeros(count, ROW),
        "heap": np.zeros(count, np.int64),
        "met": new_transpositions(count, 4 * count),
    }


def grow(arrays: FairArrays, memory: int) -> FairArrays | None:
    """Double the buffers that are full, as the status says; None if that takes too much memory.

    Rows are emptied, because the search starts again; the transposition table keeps its entries.
    """
    taken = [each.nbytes for each in (*arrays, *arrays.met) if isinstance(each, np.ndarray)]
    if 2 * sum(taken) > memory:
        return None
    if arrays.state[0]["status"] == ROWS_FULL:
        return arrays._replace(**_new_rows(2 * len(arrays.rows)))
    values = np.zeros(2 * len(arrays.values), VALUE)
    move_keys(arrays.values["key"], arrays.values, values["key"], values)
    return arrays._replace(values=values)
