"""`pimc`: plays the move after which the solver, which sees every card, wins most sampled worlds.

Perfect-information Monte Carlo (see `four_seasons_env.agents.search.worlds`). While most cards are
hidden, nearly every world can be won after nearly every move, so the votes are often equal: then
the heuristic's preference decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.scripted.heuristic import (
    HeuristicAgent,
    choose_move,
    new_buffers,
    read_weights,
)
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, NONE, Plans
from four_seasons_env.agents.search.worlds import SolverVotes
from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.kernel import compile_rules, nothing_hidden, sort_unseen
from four_seasons_env.rules import Rules


class PimcAgent:
    """Plays the move that leaves most worlds winnable for the solver.

    Args:
        rules: the rule set to play.
        worlds: imagined for each decision.
        width: of the solver's beam in each world.
        moves: maximum number of moves to compare: those that the heuristic likes best.
        ending_positions: positions that the solver may visit once nothing is hidden; with 0 the
            heuristic plays the rest.

    Raises:
        ValueError: for ``worlds``, ``width`` or ``moves`` below 1.
    """

    mask = "distinct"

    def __init__(
        self,
        rules: Rules,
        worlds: int = 8,
        width: int = 20,
        moves: int = 3,
        ending_positions: int = ENDING_POSITIONS,
    ) -> None:
        self._rule = compile_rules(rules)[0]
        self._moves = check_positive("moves", moves)
        self._weights, self._buffers = read_weights(), new_buffers(rules)
        self._heuristic = HeuristicAgent(rules)
        self._votes = SolverVotes(rules, worlds, width)
        self._plans = Plans(rules, ending_positions)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The move that wins most worlds in each game; the worlds are drawn from rng."""
        moves = self._plans.endings(games)
        rest = np.flatnonzero(moves == NONE)
        seeds = rng.integers(0, 2**63, len(games), np.uint64)
        if len(rest):
            moves[rest] = self._heuristic.act(games[rest], masks[rest], rng)
        for i in rest:
            if masks[i].sum() > 1 and not nothing_hidden(games[i], self._rule):
                moves[i] = self._most_votes(games[i : i + 1], masks[i], seeds[i])
        return moves

    def _most_votes(self, games: NDArray[Any], mask: NDArray[np.int8], seed: np.uint64) -> int:
        """The move to play in a GAME array of one; its stock is sorted in place."""
        sort_unseen(games[0], self._rule)
        own = choose_move(games[0], self._rule, mask, self._weights, self._buffers)
        # The heuristic's own move first, then by its gains: this order also breaks ties of votes.
        likes = np.where(mask, self._buffers.gains, -np.inf)
        likes[own] = np.inf
        count = min(self._moves, int(mask.sum()))
        candidates = np.argsort(-likes, kind="stable")[:count]
        share = self._votes.share_won(np.repeat(games, count), candidates, seed)
        return int(candidates[np.argmax(share)])
