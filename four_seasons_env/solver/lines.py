"""Lines: which moves lead to a position. Each move is noted once, with the line that it extends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import jit
from four_seasons_env.solver.analysis.safe_moves import safe_move

LINE = np.dtype([("parent", "i4"), ("move", "u1")])
"""A move, and the line that it extends; -1 for the first move."""


@jit
def note_move(state, lines, parent, move):
    """Note a move and the line that it extends.

    Args:
        state: a record whose field ``lines`` counts the lines in use.
        lines: LINE (n,).

    Returns:
        The number of the new line.
    """
    lines[state.lines].parent = parent
    lines[state.lines].move = move
    state.lines += 1
    return state.lines - 1


@jit
def play_safe_and_note(g, rule, frame, state, lines, line):
    """Play all safe moves, and note them after a line; returns the line that results."""
    while frame.safe:
        move = safe_move(g, rule, frame)
        if move < 0:
            break
        kernel.play(g, rule, move)
        line = note_move(state, lines, line, move)
    return line


def moves_to_last(lines: NDArray[np.void]) -> list[int]:
    """The moves, by number, of the last line, in the order of play.

    Args:
        lines: LINE (n,), those in use.
    """
    moves = []
    end = len(lines) - 1
    while end >= 0:
        moves.append(int(lines[end]["move"]))
        end = int(lines[end]["parent"])
    return moves[::-1]
