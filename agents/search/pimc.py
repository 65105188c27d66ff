"""`pimc`: plays the move after which most imagined worlds can be won by one who sees every card.

Perfect-information Monte Carlo (see `agents.search.votes`). With most cards still hidden nearly
every world can be won after nearly every move, so the votes tell little: where they are equal, the
heuristic's liking decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.scripted.heuristic import HeuristicAgent, choose_move, new_work, read_weights
from agents.search.determinization import forget
from agents.search.plans import NONE, Plans
from agents.search.votes import Jury
from four_seasons_env.engine.kernel import compile_rules, nothing_hidden
from four_seasons_env.rules import Rules


class PimcAgent:
    """Asks the solver which move leaves most worlds winnable.

    Args:
        rules: the rule set to play.
        worlds: imagined for each decision.
        width: of the solver's beam in each.
        candidates: moves to ask about at most, those that the heuristic likes best.
        end_positions: positions that the solver may look at once nothing is hidden; with 0 the
            heuristic plays the rest.
    """

    mask = "distinct"

    def __init__(
        self,
        rules: Rules,
        worlds: int = 8,
        width: int = 20,
        candidates: int = 3,
        end_positions: int = 1_000_000,
    ) -> None:
        if candidates < 1:
            raise ValueError(f"candidates must be at least 1, not {candidates}")
        self._rule = compile_rules(rules)[0]
        self._candidates = candidates
        self._weights, self._work = read_weights(), new_work(rules)
        self._heuristic = HeuristicAgent(rules)
        self._jury = Jury(rules, worlds, width)
        self._plans = Plans(rules, end_positions)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The move with most votes in each game; the worlds are drawn from rng."""
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
        """The decision in a GAME array of one."""
        forget(games[0], self._rule)
        own = choose_move(games[0], self._rule, mask, self._weights, *self._work)
        likes = np.where(mask, self._work[-1], -np.inf)
        likes[own] = np.inf
        count = min(self._candidates, int(mask.sum()))
        candidates = np.argsort(-likes, kind="stable")[:count]
        share = self._jury.share_won(np.repeat(games, count), candidates, seed)
        return int(candidates[np.argmax(share)])
