"""Games that the planner plays to learn from, and the targets that they give.

Each decision of a game ends in a position about to deal. Its target is the lambda-return: a mean of
the values of the positions that followed, weighted less the later they come, and of the game's
outcome.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.planner.search import SearchLimits, new_evaluator, reach_or_win, turn
from four_seasons_env.agents.planner.value_network import Network, new_network
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, start
from four_seasons_env.next_deal.reach import NOT_YET, WON, new_search
from four_seasons_env.rules import Rules

LONGEST = 64
"""At least the decisions of a game: one for each card of the stock, and the last."""


class Experience(NamedTuple):
    """Positions decided for, and their targets, with room for `LONGEST` of each deal."""

    positions: NDArray[Any]  # GAME (n,)
    targets: NDArray[np.float32]  # (n,)
    game: NDArray[Any]  # GAME (1,), the game being played


def new_experience(deals: int) -> Experience:
    """Room for this many deals."""
    rows = deals * LONGEST
    return Experience(np.zeros(rows, GAME), np.zeros(rows, np.float32), np.zeros(1, GAME))


@jit
def play_games(deals, evaluator, search, limits, td_lambda, experience):
    """Play deals, and write the positions that were decided for and their targets.

    Args:
        deals: their numbers, int64 of shape (n,).
        evaluator: `four_seasons_env.agents.planner.search.Evaluator`.
        search: buffers with room for the largest search of the limits.
        limits: `four_seasons_env.agents.planner.search.SearchLimits`.
        td_lambda: weight of later values in a target, float32.
        experience: `Experience`; written from its first row on.

    Returns:
        How many positions were written, and how many games were won.
    """
    rule, game = evaluator.rule, experience.game
    positions, targets = experience.positions, experience.targets
    written = won_games = 0
    for deal in deals:
        start(game[0], rule, deal)
        first = written
        while True:
            best, over = reach_or_win(game[0], evaluator, search, limits)
            won = search.values[best] == WON
            over = over or won or search.turns[best] == NOT_YET
            positions[written] = game[0] if over else search.positions[best]
            targets[written] = np.float32(won) if over else search.values[best]
            written += 1
            if over:
                break
            turn(search, best, rule, game)
        won_games += won
        following = np.float32(won)
        for i in range(written - 1, first - 1, -1):
            value = targets[i]
            targets[i] = following
            following = td_lambda * following + (np.float32(1) - td_lambda) * value
    return written, won_games


class Played(NamedTuple):
    """Games that have been played, one after the other."""

    positions: NDArray[Any]  # GAME (n,), those decided for
    targets: NDArray[np.float32]  # (n,)
    won: int


class SelfPlay:
    """Plays deals by weights that are given anew each time; a game depends on nothing before it.

    Args:
        rules: the rule set to play.
        limits: of its searches.
        td_lambda: weight of later values in a target.
    """

    def __init__(self, rules: Rules, limits: SearchLimits, td_lambda: float) -> None:
        self._network = new_network(0)
        self._evaluator = new_evaluator(rules, self._network)
        self._search = new_search(rules, max(limits.nodes, limits.endgame_nodes))
        self._limits, self._td_lambda = limits, np.float32(td_lambda)

    def play(self, network: Network, deals: NDArray[np.int64]) -> Played:
        """Play deals, int64 of shape (n,), by these weights."""
        for mine, given in zip(self._network, network, strict=True):
            mine[...] = given
        experience = new_experience(len(deals))
        written, won = play_games(
            deals, self._evaluator, self._search, self._limits, self._td_lambda, experience
        )
        return Played(experience.positions[:written], experience.targets[:written], int(won))
