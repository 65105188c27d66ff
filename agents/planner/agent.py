"""`PlannerAgent`: plays to the position that it has decided for, then turns the next card."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.heuristic import HeuristicAgent
from agents.planner.lookahead import look_ahead, new_outlook
from agents.planner.network import Network, new_work
from agents.planner.reach import NOT_YET, WON, is_open, new_search, reach
from agents.worlds import forget
from four_seasons_env.kernel import GAME, compile_rules, legal, new_masks, play
from four_seasons_env.rules import Rules

_PUBLIC = ("top", "below", "level", "dealt", "redeals")
_PLANS_KEPT = 1_000_000
_MARGIN = np.float32(0.08)
"""Positions worth so much less than the best are not looked behind."""
_INNER = 50, 20, 1000, 500
"""Of the searches in a look ahead: positions and openings, while cards are hidden and after."""


class PlannerAgent:
    """Searches what can be reached before the next card, and plays to what it values most.

    A plan holds until a card is turned. Once nothing is hidden and no win is found, the heuristic
    plays on.

    Args:
        rules: the rule set to play.
        network: the value of positions.
        positions: positions that a search may hold while cards are hidden, and ``openings`` those
            that it may play on from. With one opening nothing is planned: each move is the one
            that leads to the position valued most, and the next is decided after it.
        end_positions: likewise, with ``end_openings``, once nothing is hidden.
        cards: cards to look over in imagined worlds before deciding (`lookahead`); 0 for none, 1
            for expectimax over the next card.
        worlds: of the first round of a look ahead.
        candidates: positions that it decides among.
        train_seed: of the network, for tables.
    """

    mask = "distinct"

    def __init__(
        self,
        rules: Rules,
        network: Network,
        positions: int = 1000,
        openings: int = 1000,
        end_positions: int = 6000,
        end_openings: int = 3000,
        cards: int = 0,
        worlds: int = 8,
        candidates: int = 4,
        train_seed: int | None = None,
    ) -> None:
        self.train_seed = train_seed
        self._rule = compile_rules(rules)[0]
        self._free = compile_rules(rules.replace(spaces="optional"))[0]
        self._network = network
        self._limits = (positions, openings), (end_positions, end_openings)
        self._look = candidates, _MARGIN, worlds, cards
        self._inner, self._outlook = new_search(rules, _INNER[2]), new_outlook()
        self._one_by_one = openings == 1
        self._work = new_work()
        self._search = new_search(rules, max(positions, end_positions))
        self._heuristic = HeuristicAgent(rules)
        self._words, self._mask = new_masks(1, rules)
        self._plans: dict[bytes, int] = {}

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The next move of each game's plan; the worlds of a look ahead are drawn from rng."""
        moves = np.zeros(len(games), np.int64)
        if len(self._plans) > _PLANS_KEPT:
            self._plans.clear()
        lost = []
        for i, game in enumerate(games):
            key = _key(game)
            if key not in self._plans:
                self._plan(game, rng)
            moves[i] = self._plans.get(key, NOT_YET)
            if moves[i] == NOT_YET or not masks[i, moves[i]]:
                lost.append(i)
        if lost:
            moves[lost] = self._heuristic.act(games[lost], masks[lost], rng)
        return moves

    def _plan(self, game: Any, rng: np.random.Generator) -> None:
        """Decide, and keep the moves that lead there by the positions that they are played in."""
        search, rule = self._search, self._rule
        hidden = not is_open(game, rule)
        limits = self._limits[0 if hidden else 1]
        forget(game, rule)
        player = (rule, self._free, self._network, self._work)
        best, count = reach(game, *player, search, *limits)
        if self._look[3] and hidden and search.values[best] != WON:
            seed = rng.integers(0, 2**63, dtype=np.uint64)
            inner = (self._inner, np.array(_INNER), self._outlook)
            best = look_ahead(*player, search, count, best, seed, *inner, self._look)
        if not hidden and search.values[best] != WON:
            self._plans[_key(game)] = NOT_YET
            if count <= limits[1]:  # all have been opened, so there is no win
                self._give_up(game)
            return
        at = best
        if hidden and self._one_by_one and best > 0:
            self._plans[_key(game)] = int(search.moves[best])
            return
        if hidden and search.values[best] != WON:
            move = int(search.turns[best])
            at = search.parents[best] if move > 0 else best
            self._plans[_key(search.positions[at])] = move
        while at > 0:
            parent = search.parents[at]
            self._plans[_key(search.positions[parent])] = int(search.moves[at])
            at = parent

    def _give_up(self, game: Any) -> None:
        """Seek no win where the heuristic goes from a position that is lost."""
        games = np.zeros(1, GAME)
        games[0] = game
        nobody = np.random.default_rng(0)  # the heuristic leaves nothing to chance
        while legal(games[0], self._rule, True, self._words[0]):
            play(games[0], self._rule, self._heuristic.act(games.copy(), self._mask, nobody)[0])
            if _key(games[0]) in self._plans:
                return
            self._plans[_key(games[0])] = NOT_YET


def _key(game: Any) -> bytes:
    """What a player sees of a position."""
    return b"".join(game[field].tobytes() for field in _PUBLIC)
