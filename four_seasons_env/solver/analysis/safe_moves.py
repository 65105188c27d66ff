"""Safe moves: cards that can go up at once without regret, so a search plays nothing else first."""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.solver.analysis.relaxation import ONE, cards_up, is_safe

WASTE_UP = 1
"""The number of the move W>F; those of Ti>F follow."""
MOST_SAFE = 52
"""Safe moves in a row, at most: every card goes up once."""


@jit
def safe_move(g, rule, frame):
    """The number of a safe move to a foundation, or -1 (`relaxation.is_safe`)."""
    for i in range(rule.piles + 1):
        card = g.top[WASTE if i == 0 else i - 1]
        if kernel.goes_up(g, rule, card):
            bit = ONE << np.uint64(frame.place[card])
            if is_safe(bit, cards_up(g.level), frame):
                return WASTE_UP + i
    return -1


@jit
def play_safe(g, rule, frame):
    """Play all safe moves."""
    while frame.safe:
        move = safe_move(g, rule, frame)
        if move < 0:
            return
        kernel.play(g, rule, move)
