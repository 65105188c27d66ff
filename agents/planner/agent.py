"""`PlannerAgent`: plays to the position that it has chosen, then turns the next card."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.agent import Positions, Rng
from four_seasons_env.agents.network.evaluation import network_of
from four_seasons_env.agents.planner.best_stop import HEADS, SearchLimits, best_stop, new_evaluator
from four_seasons_env.agents.planner.lookahead import look_ahead, new_lookahead
from four_seasons_env.agents.policy_files import PolicyCard, Weights
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, PlanningAgent
from four_seasons_env.agents.search.worlds import share_won
from four_seasons_env.arguments import check_number, check_positive
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.kernel import sort_unseen
from four_seasons_env.positions.enumeration import best_stops
from four_seasons_env.positions.search import DEEPEST, WON, may_stop, turn_at, write_path
from four_seasons_env.rules import Rules

_WIDTH = 100
"""Width of the solver's beam when it votes. Chosen by hand; no trial of another is kept."""
_MOST_CANDIDATES = 16
"""Maximum number of candidates; a lookahead plays each of them in every world."""


class PlannerAgent(PlanningAgent):
    """Searches the positions before the next card, and plays to the one that it values most.

    How it decides where to turn the next card (`_plan`):

    1. `best_stop` searches the positions that can be reached, and chooses the one of the highest
       worth: the network's value, less a small price for each move.
    2. With ``lookahead``, the best few are compared again over the next cards. When few cards are
       hidden, the solver votes on them instead (`_reconsider`).
    3. The moves that lead to the choice, and the one that turns the card, are the plan. It holds
       until a card is turned.

    Once nothing is hidden the solver plays; where the solver finds no win, the heuristic does.

    It is deterministic in that it never draws a move: a lookahead and a vote draw the worlds in
    which they compare candidates (`rng`), and the best of these is played.

    Args:
        rules: the rule set to play.
        card: describes the network that values positions.
        weights: its tensors by name.
        positions: maximum number of positions that a search holds while cards are hidden.
        expansions: maximum number of positions that a search expands. With one expansion nothing is
            planned: each move leads to the position valued most, and the next is decided after it.
        ending_positions: positions that the solver may visit once nothing is hidden; with 0 the
            heuristic plays the rest.
        lookahead: cards to look over in imagined worlds before deciding
            (`four_seasons_env.agents.planner.lookahead`). 0 for none, 1 for expectimax over the
            next card.
        votes: when no more than this many cards are hidden, the solver votes
            (`four_seasons_env.agents.search.worlds`), and its odds count as much as the network's.
            0 for never.
        worlds: of the first round of a lookahead, and of a vote.
        candidates: maximum number of positions that a lookahead or a vote compares.

    Raises:
        PolicyFileError: if the weights do not fit the card.
        ValueError: for ``candidates``, ``positions`` or ``expansions`` out of range, or ``worlds``
            below 1.
    """

    kind = "learned + search"

    def __init__(
        self,
        rules: Rules,
        card: PolicyCard,
        weights: Weights,
        *,
        positions: int = 1000,
        expansions: int = 1000,
        ending_positions: int = ENDING_POSITIONS,
        lookahead: int = 0,
        votes: int = 4,
        worlds: int = 8,
        candidates: int = 4,
    ) -> None:
        super().__init__(rules, ending_positions)
        check_positive("worlds", worlds)
        check_number("expansions", expansions, 2**63)
        if not 1 <= candidates <= _MOST_CANDIDATES:
            raise ValueError(f"candidates must be 1 to {_MOST_CANDIDATES}, not {candidates}")
        announce(best_stop)
        self.train_seed = card.training.get("seed")
        self._evaluator = new_evaluator(rules, network_of(weights, card.layers, HEADS))
        self._limits = SearchLimits(positions, expansions, 0, 0)  # the solver plays endings
        self._search = self._limits.new_search(rules)
        self._path = np.zeros(DEEPEST + 1, np.int64)
        self._lookahead = new_lookahead(rules, candidates, worlds, lookahead)
        self._votes = votes

    def _decide(self, games: Positions, rng: Rng) -> None:
        """Plan each game up to the next card; of equal positions the first."""
        for game in games:
            if game not in self._plans:
                self._plan(game, rng)

    def _plan(self, game: Any, rng: Rng) -> None:
        """Decide where to turn the next card, and plan the moves that lead there."""
        search = self._search
        sort_unseen(game, self._evaluator.rule)
        positions, expansions, *_ = self._limits
        best, count = best_stop(game, self._evaluator, search, positions, expansions)
        if search.values[best] != WON:
            best = self._reconsider(game, best, count, rng)
        at, turn = turn_at(search, best)
        length = write_path(at, search.parents, search.moves, self._path)
        moves = self._path[:length].tolist()
        if may_stop(search, best):
            moves.append(turn)
        if expansions == 1 and best > 0:
            del moves[1:]
        self._plans.follow(game, moves)

    def _reconsider(self, game: Any, best: int, count: int, rng: Rng) -> int:
        """The row to choose after a lookahead or a vote, where the options ask for one."""
        # 1. A vote if few cards are hidden, else a lookahead, if the options ask for it.
        search, (worlds, cards, chosen, *_) = self._search, self._lookahead
        hidden = int(game["deck_size"]) - int(game["dealt"])
        votes = hidden <= self._votes
        if not (votes or cards):
            return best
        seed = rng.integers(0, 2**63, dtype=np.uint64)
        if not votes:
            return int(look_ahead(self._evaluator, search, count, best, seed, self._lookahead))
        # 2. The vote: how many worlds the solver wins from each of the best rows.
        chosen = chosen[: best_stops(count, search, chosen, len(chosen), False)]
        if len(chosen) < 2:
            return best
        at, turns = np.transpose([turn_at(search, row) for row in chosen])
        share = share_won(search.positions[at], turns, self.rules, worlds, _WIDTH, seed)
        # 3. Its odds times those of the network.
        odds = _log_odds(share) + _log_odds(search.worths[chosen])
        return int(chosen[np.argmax(odds)])


def _log_odds(probability: NDArray[np.floating]) -> NDArray[np.float64]:
    """The logarithm of the odds.

    Probabilities are clipped to 3% to 97%, so that a vote of a few worlds that all end alike does
    not outweigh the network. Chosen by hand; no trial of other bounds is kept.
    """
    p = np.clip(probability.astype(np.float64), 0.03, 0.97)
    return np.log(p / (1 - p))
