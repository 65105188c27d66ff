"""`Judge`: the chance of winning in a position and after each move, by the planner's network.

The value of a position is that of the best one that can be reached before the next card is turned;
the value of a move is that of the best position after it. Once nothing is hidden, the solver
answers instead.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.planner.search import new_evaluator, reach
from four_seasons_env.agents.planner.weights import bundled_network
from four_seasons_env.agents.search.determinization import hide_unseen
from four_seasons_env.engine.kernel import nothing_hidden
from four_seasons_env.game import Game
from four_seasons_env.positions.reach import NOT_YET, WON, new_search
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve

_POSITIONS = 1000
"""Positions that a search holds and expands at most while cards are hidden."""
_SOLVER_POSITIONS = 20_000
"""Positions that the solver may visit once nothing is hidden."""

_CHANCES = {"won": 1.0, "lost": 0.0}


def can_judge(rules: Rules) -> bool:
    """Whether there is a network for a rule set."""
    return bundled_weights("planner", rules.name).is_dir()


class Judge:
    """Chances of winning by the planner's network.

    Args:
        rules: the rule set; `can_judge` says whether it has a network.

    Raises:
        FileNotFoundError: where there is no network.
    """

    def __init__(self, rules: Rules) -> None:
        self._evaluator = new_evaluator(rules, bundled_network(rules))
        self._search = new_search(rules, _POSITIONS)

    def chance(self, game: Game) -> float | None:
        """The chance of winning, 0 to 1; None where the solver has no answer in time.

        The estimate does not use the order of the unseen cards.
        """
        if game.is_over:
            return float(game.is_won)
        if nothing_hidden(game.record[0], self._evaluator.rule):
            return _solved(game)
        return max(self._reached(game).values(), default=0.0)

    def values(self, game: Game) -> dict[int, float]:
        """The chance of winning after each legal move, by the move's number.

        Left out are moves without an answer, and moves that only rename spaces.
        """
        if game.is_over:
            return {}
        if not nothing_hidden(game.record[0], self._evaluator.rule):
            return self._reached(game)
        values = {}
        for move in game.legal_moves(distinct=True):
            after = game.copy()
            after.play(move)
            chance = _solved(after)
            if chance is not None:
                values[move.number] = chance
        return values

    def _reached(self, game: Game) -> dict[int, float]:
        """The value of the best position found after each first move."""
        (record,), search = game.record.copy(), self._search
        hide_unseen(record, self._evaluator.rule)
        _, count = reach(record, self._evaluator, search, _POSITIONS, _POSITIONS)
        values: dict[int, float] = {}
        for row in range(count):
            won = search.values[row] == WON
            if search.turns[row] == NOT_YET and not won:
                continue
            first, at = int(search.turns[row]), row
            while at > 0:
                first, at = int(search.moves[at]), int(search.parents[at])
            value = 1.0 if won else float(np.clip(search.values[row], 0, 1))
            values[first] = max(values.get(first, 0.0), value)
        return values


def _solved(game: Game) -> float | None:
    return _CHANCES.get(solve(game, max_positions=_SOLVER_POSITIONS).status)
