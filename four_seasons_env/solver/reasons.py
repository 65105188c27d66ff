"""Why a deal is lost: the few moments for which the piles do not suffice, however it is played.

The formula of the relaxed game (`sat`) asks of every card that leaves the waste that the tableau
fits into the piles just then, and of every card that it goes up after the one before it in its
suit. Of most losses a small part of this is enough. What is told here is such a part from which
nothing can be left out; there may be others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from four_seasons_env.engine.cards import card_text
from four_seasons_env.game import Game
from four_seasons_env.solver import sat
from four_seasons_env.solver.frame import make_frame


class Reason(NamedTuple):
    """Why a deal is lost: cards as texts, those of waste and stock in the order of the deck."""

    moments: tuple[str, ...]
    """When these cards leave the waste, the tableau cannot fit into the piles every time."""
    waiting: tuple[str, ...]
    """Cards of which it matters that they go up after the one before them in their suit."""


def why_lost(game: Game) -> Reason | None:
    """The reason for which a position is lost, if the formula of the relaxed game knows one.

    Takes a second or less for an opening that is lost; where nothing is known the formula may take
    minutes to say so.

    Args:
        game: a position of any rule set; it stays as it is.

    Returns:
        None where the formula knows none: the position may be lost all the same. That is so of
        every position that can be won, and of every one from which cards can come back (redeals
        that are left, worrying back).

    Raises:
        ModuleNotFoundError: without python-sat, the extra `solver`.
    """
    record, rules = game.record[0], game.rules
    frames = make_frame(record, rules)
    if not sat.is_available():
        raise ModuleNotFoundError(
            "reasons need python-sat: pip install 'four-seasons-env[solver]'", name="pysat"
        )
    if not frames[0]["one_way"]:
        return None
    formula = sat.RelaxedGame(record, rules, frames, in_parts=True)
    solver = sat.load(formula.clauses)
    texts = {int(frames[0]["place"][card]): card_text(card) for card in range(rules.cards)}
    passing = formula.passing.tolist()
    fits = {int(formula.fits[i]): texts[place] for i, place in enumerate(passing)}
    order = dict.fromkeys([*passing, *range(rules.cards)])
    waits = {int(formula.waits[place]): texts[place] for place in order}
    if solver.solve(assumptions=[*fits, *waits]):
        return None
    moments = _few(solver, list(fits), list(waits))
    waiting = _few(solver, list(waits), moments)
    return Reason(tuple(fits[each] for each in moments), tuple(waits[each] for each in waiting))


def _few(solver: Any, assumed: Sequence[int], beside: Sequence[int]) -> list[int]:
    """Those assumptions that cannot be left out: beside others, nothing satisfies the formula."""
    few = _core(solver, assumed, beside)
    for literal in list(few):
        if literal in few:
            left = [each for each in few if each != literal]
            if not solver.solve(assumptions=[*beside, *left]):
                few = _core(solver, left, beside)
    return few


def _core(solver: Any, assumed: Sequence[int], beside: Sequence[int]) -> list[int]:
    """Those of the assumptions that the solver needed."""
    solver.solve(assumptions=[*beside, *assumed])
    needed = set(solver.get_core())
    return [literal for literal in assumed if literal in needed]
