"""`Plans`: planned moves by position; `PlanningAgent`: plans up to the next card, and follows them.

Between two cards nothing that is hidden changes, so a plan holds until a card is turned. A plan is
stored by what is public of each position on its way (`public_key`). So an agent needs no memory of
its games, and games that meet in one position share its plan.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any

import numpy as np

from four_seasons_env.agents.agent import Actions, Agent, Masks, Positions, Rng
from four_seasons_env.agents.scripted.agents import HeuristicAgent
from four_seasons_env.engine import kernel
from four_seasons_env.engine.hashing import public_key
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.validation import checked, unchecked
from four_seasons_env.game import Game, legal_masks
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve

NONE = -1
"""Instead of a move: the plan has no preference, as where no win was found; the heuristic plays."""

UNPLANNED = -2
"""Instead of a move: there is no plan for the position."""

ENDING_POSITIONS = 1_000_000
"""Positions that the solver may visit by default once nothing is hidden."""

_MOST_PLANS = 1_000_000


@jit
def _keys(games, rule, keys):
    """`public_key` of each game: GAME (n,), a rule, uint64 (n,)."""
    for i in range(len(games)):
        keys[i] = public_key(games[i], rule)


@jit
def _keys_along(games, rule, moves, keys):
    """The key of the position in which each move is played; ``games`` is a GAME array of one."""
    for i in range(len(moves)):
        keys[i] = public_key(games[0], rule)
        kernel.play(games[0], rule, moves[i])


class Plans:
    """A table of planned moves, by the public information of a position.

    Its records are those of an agent that has checked them.

    Args:
        rules: the rule set that is played.
        positions: positions that the solver may visit once nothing is hidden; 0 for no solver.
    """

    def __init__(self, rules: Rules, positions: int) -> None:
        self._rules, self._rule = rules, kernel.compile_rules(rules)[0]
        self._positions = positions
        self.heuristic = HeuristicAgent(rules)
        self._moves: dict[int, int] = {}

    def __contains__(self, game: Any) -> bool:
        return int(public_key(game, self._rule)) in self._moves

    def __setitem__(self, game: Any, move: int) -> None:
        self._moves[int(public_key(game, self._rule))] = move

    def moves_for(self, games: Positions) -> Actions:
        """The planned move of each game, NONE or UNPLANNED; int64 of shape (n,)."""
        keys = np.zeros(len(games), np.uint64)
        _keys(games, self._rule, keys)
        get = self._moves.get
        return np.array([get(key, UNPLANNED) for key in keys.tolist()], np.int64)

    def tidy(self) -> None:
        """Remove all plans if there are more than a million."""
        if len(self._moves) > _MOST_PLANS:
            self._moves.clear()

    def follow(self, game: Any, moves: Sequence[int]) -> None:
        """Plan to play these moves in turn from a position; an empty sequence plans NONE there."""
        if not moves:
            self[game] = NONE
            return
        games = np.zeros(1, kernel.GAME)
        games[0] = game
        keys = np.zeros(len(moves), np.uint64)
        _keys_along(games, self._rule, np.array(moves, np.int64), keys)
        self._moves.update(zip(keys.tolist(), moves, strict=True))

    def endings(self, games: Positions) -> Actions:
        """`moves_for`, after games in which nothing is hidden have been planned to their ends."""
        for game in games:
            if kernel.nothing_hidden(game, self._rule) and game not in self:
                self.finish(game)
        return self.moves_for(games)

    def finish(self, game: Any) -> None:
        """Plan a game in which nothing is hidden to its end.

        The plan is the solver's win. Where the solver finds none, it is NONE for the positions that
        the heuristic will pass through, up to another plan, and for no others. So the solver is not
        asked again.
        """
        games = np.zeros(1, kernel.GAME)
        games[0] = game
        # 1. A win, if the solver finds one.
        if self._positions:
            start = Game.from_own_record(game, self._rules)
            moves = solve(start, max_positions=self._positions).moves
            if moves:
                self.follow(game, [int(move) for move in moves])
                return
        # 2. Else the heuristic's way, without a preference, to its end or into another plan.
        unused = np.random.default_rng(0)  # the heuristic draws no random numbers
        while True:
            masks, goes_on = legal_masks(games, self._rules, distinct=True)
            if not goes_on[0] or games[0] in self:
                return
            self[games[0]] = NONE
            move = unchecked(self.heuristic.act)(games, masks, unused)[0]
            kernel.play(games[0], self._rule, move)


class PlanningAgent(Agent):
    """Plans each game up to the next card, or to its end if nothing is hidden.

    The heuristic plays where a plan has no legal move.

    1. A game whose position has a plan plays the planned move.
    2. If nothing is hidden in it, the solver plans it to its end (`Plans.finish`).
    3. All other games are planned together (`_decide`).

    Args:
        rules: the rule set to play.
        ending_positions: positions that the solver may visit once nothing is hidden; 0 for no
            solver.
    """

    mask = "distinct"
    at_once = 1024
    """Games in one call of `_decide`."""
    solves_endings = True
    """Whether the solver plans games in which nothing is hidden; else `_decide` does."""

    def __init__(self, rules: Rules, ending_positions: int) -> None:
        self.rules, self._plans = rules, Plans(rules, ending_positions)

    @abc.abstractmethod
    def _decide(self, games: Positions, rng: Rng) -> None:
        """Plan games that have no plan."""

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """The next move of each game's plan."""
        plans = self._plans
        plans.tidy()
        moves = plans.moves_for(games)
        undecided = np.flatnonzero(moves == UNPLANNED)
        for first in range(0, len(undecided), self.at_once):
            part = games[undecided[first : first + self.at_once]]
            if self.solves_endings:
                part = part[plans.endings(part) == UNPLANNED]
            self._decide(part, rng)
        moves[undecided] = plans.moves_for(games[undecided])
        # Moves below 0 (NONE, UNPLANNED) index the last columns; the first test decides for them.
        lost = (moves < 0) | (masks[np.arange(len(moves)), moves] == 0)
        if lost.any():
            moves[lost] = unchecked(plans.heuristic.act)(games[lost], masks[lost], rng)
        return moves
