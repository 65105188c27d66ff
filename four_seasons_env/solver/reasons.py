"""Why a deal is lost: the few moments at which the piles do not suffice, however it is played.

The formula of the relaxed game (`sat`) demands that the tableau fits into the piles whenever a card
leaves the waste, and that every card goes up after the one before it in its suit. For most losses a
few of these demands cannot be met together. `why_lost` finds such a set of which none can be left
out; there may be other sets.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

from four_seasons_env.engine.cards import card_text
from four_seasons_env.game import Game
from four_seasons_env.solver import sat
from four_seasons_env.solver.protocol import Root


class Reason(NamedTuple):
    """Why a deal is lost: cards as texts, those of waste and stock first, as in the deck."""

    moments: tuple[str, ...]
    """When these cards leave the waste, the tableau cannot fit into the piles every time."""
    waiting: tuple[str, ...]
    """Cards that must go up after the one before them in their suit."""


def why_lost(game: Game, seconds: float | None = None) -> Reason | None:
    """The reason why a position is lost, if the formula of the relaxed game shows one.

    This takes a second or less for a lost opening. If the formula shows no reason, it may take
    minutes.

    Args:
        game: a position of any rule set; it is not changed.
        seconds: time limit. None: no limit.

    Returns:
        None if the formula shows no reason in time; the position may be lost all the same.
        Positions that can be won have no reason, and the formula does not cover positions from
        which cards can come back (redeals that are left, worrying back).

    Raises:
        ModuleNotFoundError: without python-sat, the extra `solver`.
    """
    if not sat.is_available():
        raise ModuleNotFoundError(
            "reasons need python-sat: pip install 'four-seasons-env[solver]'", name="pysat"
        )
    deadline = math.inf if seconds is None else time.perf_counter() + seconds
    root = Root(game.record[0], game.rules)
    if not root.frames[0]["one_way"]:
        return None
    formula = sat.Formula(root, in_parts=True)
    texts = {
        int(root.frames[0]["place"][card]): card_text(card) for card in range(game.rules.cards)
    }
    passing = formula.passing.tolist()
    fits = {int(formula.fits[i]): texts[place] for i, place in enumerate(passing)}
    order = dict.fromkeys([*passing, *range(game.rules.cards)])
    waits = {int(formula.waits[place]): texts[place] for place in order}
    try:
        contradictions = _Contradictions(formula.clauses, deadline)
        if contradictions.core([*fits, *waits]) is None:
            return None
        moments = contradictions.few(list(fits), list(waits))
        waiting = contradictions.few(list(waits), moments)
    except TimeoutError:
        return None
    return Reason(tuple(fits[each] for each in moments), tuple(waits[each] for each in waiting))


class _Contradictions:
    """Which assumptions contradict clauses.

    Raises:
        TimeoutError: in each method, after the deadline.
    """

    def __init__(self, clauses: sat.Clauses, deadline: float) -> None:
        self._solver, self._deadline = sat.new_solver(), deadline
        for some in clauses.chunks():
            self._solver.append_formula(some)
            self._look_at_the_clock()

    def _look_at_the_clock(self) -> None:
        if time.perf_counter() >= self._deadline:
            raise TimeoutError

    def core(self, assumptions: Sequence[int]) -> set[int] | None:
        """Assumptions that the solver needed for a contradiction; None if there is none."""
        for answer in sat.satisfiable(self._solver, assumptions):
            self._look_at_the_clock()
            if answer:
                return None
        return set(self._solver.get_core())

    def few(self, assumed: Sequence[int], beside: Sequence[int]) -> list[int]:
        """Those of some assumptions that, with others, contradict; none can be left out."""
        few = list(assumed)
        for literal in assumed:
            left = [each for each in few if each != literal]
            if literal in few and (needed := self.core([*beside, *left])) is not None:
                few = [each for each in left if each in needed]
        return few
