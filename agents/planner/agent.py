"""`PlannerAgent`: plays to the position that it has decided for, then turns the next card."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.planner.lookahead import CANDIDATES, choose, look_ahead, new_outlook
from agents.planner.reach import reach
from agents.planner.value_network import Network, new_work
from agents.scripted.heuristic import HeuristicAgent
from agents.search.determinization import forget
from agents.search.plans import NONE, Plans
from agents.search.votes import Jury
from four_seasons_env.engine.kernel import compile_rules, nothing_hidden
from four_seasons_env.next_deal.reach import WON, new_search
from four_seasons_env.rules import Rules

_MARGIN = np.float32(0.08)
"""Positions worth so much less than the best are not looked behind."""
_ANY = np.float32(2)
"""A margin that leaves nothing out."""
_INNER = 50, 20, 1000, 500
"""Of the searches in a look ahead: positions and openings, while cards are hidden and after."""
_WIDTH = 100
"""Of the beams in a vote."""


class PlannerAgent:
    """Searches what can be reached before the next card, and plays to what it values most.

    A plan holds until a card is turned. Once nothing is hidden, the solver plays; where it finds no
    win, the heuristic.

    Args:
        rules: the rule set to play.
        network: the value of positions.
        positions: positions that a search may hold while cards are hidden, and ``openings`` those
            that it may play on from. With one opening nothing is planned: each move is the one
            that leads to the position valued most, and the next is decided after it.
        end_positions: positions that the solver may look at once nothing is hidden; with 0 the
            heuristic plays the rest.
        cards: cards to look over in imagined worlds before deciding (`lookahead`); 0 for none, 1
            for expectimax over the next card.
        ending: when no more than so many cards are hidden, the solver votes
            (`agents.search.votes`), and the odds that it gives count as much as the network's. 0
            for never.
        worlds: of the first round of a look ahead, and of a vote.
        candidates: positions that it decides among, with either.
        train_seed: of the network, for tables.

    Raises:
        ValueError: for more candidates than there may be, or fewer than one.
    """

    mask = "distinct"

    def __init__(
        self,
        rules: Rules,
        network: Network,
        *,
        positions: int = 1000,
        openings: int = 1000,
        end_positions: int = 1_000_000,
        cards: int = 0,
        ending: int = 4,
        worlds: int = 8,
        candidates: int = 4,
        train_seed: int | None = None,
    ) -> None:
        if not 1 <= candidates <= CANDIDATES:
            raise ValueError(f"candidates must be 1 to {CANDIDATES}, not {candidates}")
        self.train_seed = train_seed
        self._rule = compile_rules(rules)[0]
        self._free = compile_rules(rules.replace(spaces="optional"))[0]
        self._network = network
        self._limits = positions, openings
        self._look = candidates, _MARGIN, worlds, cards
        self._inner = new_search(rules, _INNER[2])
        self._outlook = new_outlook()
        self._ending, self._jury = ending, Jury(rules, worlds, _WIDTH)
        self._one_by_one = openings == 1
        self._work = new_work()
        self._search = new_search(rules, positions)
        self._heuristic = HeuristicAgent(rules)
        self._plans = Plans(rules, end_positions)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The next move of each game's plan; imagined worlds are drawn from rng."""
        moves = np.zeros(len(games), np.int64)
        self._plans.tidy()
        lost = []
        for i, game in enumerate(games):
            if game not in self._plans:
                if nothing_hidden(game, self._rule):
                    self._plans.finish(game)
                else:
                    self._plan(game, rng)
            moves[i] = self._plans[game]
            if moves[i] == NONE or not masks[i, moves[i]]:
                lost.append(i)
        if lost:
            moves[lost] = self._heuristic.act(games[lost], masks[lost], rng)
        return moves

    def _plan(self, game: Any, rng: np.random.Generator) -> None:
        """Decide where to turn the next card, and plan the way there."""
        search = self._search
        forget(game, self._rule)
        player = (self._rule, self._free, self._network, self._work)
        best, count = reach(game, *player, search, *self._limits)
        is_won = search.values[best] == WON
        if not is_won:
            best = self._think(game, player, best, count, rng)
        at = best
        if self._one_by_one and best > 0:
            self._plans[game] = int(search.moves[best])
            return
        if not is_won:
            move = int(search.turns[best])
            at = search.parents[best] if move > 0 else best
            self._plans[search.positions[at]] = move
        while at > 0:
            parent = search.parents[at]
            self._plans[search.positions[parent]] = int(search.moves[at])
            at = parent

    def _think(
        self, game: Any, player: Any, best: int, count: int, rng: np.random.Generator
    ) -> int:
        """Whether another position is better than the one that the network values most."""
        search, (candidates, _, _, cards) = self._search, self._look
        hidden = int(game["deck_size"]) - int(game["dealt"])
        if hidden > self._ending and not cards:
            return best
        seed = rng.integers(0, 2**63, dtype=np.uint64)
        if hidden > self._ending:
            inner = (self._inner, np.array(_INNER), self._outlook)
            return int(look_ahead(*player, search, count, best, seed, *inner, self._look))
        chosen = self._outlook.chosen[:candidates]
        chosen = chosen[: choose(search, count, candidates, _ANY, self._outlook.chosen)]
        if len(chosen) < 2:
            return best
        turns = search.turns[chosen]
        at = np.where(turns > 0, search.parents[chosen], chosen)
        share = self._jury.share_won(search.positions[at], turns, seed)
        odds = _log_odds(share) + _log_odds(search.worths[chosen])
        return int(chosen[np.argmax(odds)])


def _log_odds(probability: NDArray[np.floating]) -> NDArray[np.float64]:
    """Its logarithm of the odds, with none of them certain."""
    p = np.clip(probability.astype(np.float64), 0.03, 0.97)
    return np.log(p / (1 - p))
