"""Why a deal is lost: the few moments at which the piles do not suffice, however it is played.

The formula of the relaxed game (`sat`) demands that the tableau fits into the piles whenever a card
leaves the waste, and that every card goes up after the one before it in its suit. For most losses a
few of these demands cannot be met together. `why_lost` finds such a set of which none can be left
out; there may be other sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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


def why_lost(game: Game) -> Reason | None:
    """The reason why a position is lost, if the formula of the relaxed game shows one.

    This takes a second or less for a lost opening. If the formula shows no reason, it may take
    minutes.

    Args:
        game: a position of any rule set; it is not changed.

    Returns:
        None if the formula shows no reason; the position may be lost all the same. Positions that
        can be won have no reason, and the formula does not cover positions from which cards can
        come back (redeals that are left, worrying back).

    Raises:
        ModuleNotFoundError: without python-sat, the extra `solver`.
    """
    root = Root(game.record[0], game.rules)
    if not sat.is_available():
        raise ModuleNotFoundError(
            "reasons need python-sat: pip install 'four-seasons-env[solver]'", name="pysat"
        )
    if not root.frames[0]["one_way"]:
        return None
    formula = sat.Formula(root, in_parts=True)
    solver = sat.load(formula.clauses)
    texts = {
        int(root.frames[0]["place"][card]): card_text(card) for card in range(game.rules.cards)
    }
    passing = formula.passing.tolist()
    fits = {int(formula.fits[i]): texts[place] for i, place in enumerate(passing)}
    order = dict.fromkeys([*passing, *range(game.rules.cards)])
    waits = {int(formula.waits[place]): texts[place] for place in order}
    if solver.solve(assumptions=[*fits, *waits]):
        return None
    moments = _few(solver, list(fits), list(waits))
    waiting = _few(solver, list(waits), moments)
    return Reason(tuple(fits[each] for each in moments), tuple(waits[each] for each in waiting))


def _few(solver: Any, assumed: Sequence[int], beside: Sequence[int]) -> list[int]:
    """Some of the assumptions that, with others, contradict the formula; none can be left out."""
    few = _core(solver, assumed, beside)
    for literal in list(few):
        if literal in few:
            left = [each for each in few if each != literal]
            if not solver.solve(assumptions=[*beside, *left]):
                few = _core(solver, left, beside)
    return few


def _core(solver: Any, assumed: Sequence[int], beside: Sequence[int]) -> list[int]:
    """The assumptions that the solver needed for its answer."""
    solver.solve(assumptions=[*beside, *assumed])
    needed = set(solver.get_core())
    return [literal for literal in assumed if literal in needed]
