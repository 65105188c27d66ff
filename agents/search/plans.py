"""`Plans`: moves that an agent means to play, and what it plays once nothing is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.scripted.heuristic import HeuristicAgent
from four_seasons_env.engine.hashing import public_key
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    GAME,
    compile_rules,
    legal,
    new_masks,
    nothing_hidden,
    play,
)
from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve

NONE = -1
"""In place of a move: there is none to be preferred."""

UNPLANNED = -2
"""In place of a move: nothing has been planned for the position."""

_KEPT = 1_000_000


@jit
def _keys(games, keys):
    """`public_key` of each game: GAME (n,), uint64 (n,)."""
    for i in range(len(games)):
        keys[i] = public_key(games[i])


@jit
def _keys_along(games, rule, moves, keys):
    """The key of the position in which each move is played; ``games`` is a GAME array of one."""
    for i in range(len(moves)):
        keys[i] = public_key(games[0])
        play(games[0], rule, moves[i])


class Plans:
    """A move for each position, told by what the player sees of it.

    Args:
        rules: the rule set that is played.
        positions: that the solver may look at when nothing is hidden; 0 to leave it out.
    """

    def __init__(self, rules: Rules, positions: int) -> None:
        self._rules, self._rule = rules, compile_rules(rules)[0]
        self._positions = positions
        self._heuristic = HeuristicAgent(rules)
        self._words, self._mask = new_masks(1, rules)
        self._moves: dict[int, int] = {}

    def __contains__(self, game: Any) -> bool:
        return int(public_key(game)) in self._moves

    def __getitem__(self, game: Any) -> int:
        """The move, or NONE."""
        return self._moves.get(int(public_key(game)), NONE)

    def __setitem__(self, game: Any, move: int) -> None:
        self._moves[int(public_key(game))] = move

    def moves_for(self, games: NDArray[Any]) -> NDArray[np.int64]:
        """The planned move of each game, NONE or UNPLANNED; int64 of shape (n,)."""
        keys = np.zeros(len(games), np.uint64)
        _keys(games, keys)
        get = self._moves.get
        return np.array([get(key, UNPLANNED) for key in keys.tolist()], np.int64)

    def clear(self) -> None:
        """Forget all plans."""
        self._moves.clear()

    def tidy(self) -> None:
        """Forget all plans once they are many."""
        if len(self._moves) > _KEPT:
            self.clear()

    def follow(self, game: Any, moves: Sequence[int]) -> None:
        """Plan to play these moves one after the other; with none of them, plan NONE."""
        if not moves:
            self[game] = NONE
            return
        games = np.zeros(1, GAME)
        games[0] = game
        keys = np.zeros(len(moves), np.uint64)
        _keys_along(games, self._rule, np.array(moves, np.int64), keys)
        self._moves.update(zip(keys.tolist(), moves, strict=True))

    def endings(self, games: NDArray[Any]) -> NDArray[np.int64]:
        """The moves of those games in which nothing is hidden, int64 of shape (n,); else NONE."""
        self.tidy()
        moves = np.full(len(games), NONE)
        for i, game in enumerate(games):
            if nothing_hidden(game, self._rule):
                if game not in self:
                    self.finish(game)
                moves[i] = self[game]
        return moves

    def finish(self, game: Any) -> None:
        """Plan to the end of a game in which nothing is hidden.

        The solver's win, or NONE all along the way that the heuristic goes where it finds none.
        """
        games = np.zeros(1, GAME)
        games[0] = game
        moves = self._solve(games[0]) if self._positions else []
        if moves:
            self.follow(game, [int(move) for move in moves])
            return
        nobody = np.random.default_rng(0)  # the heuristic leaves nothing to chance
        while legal(games[0], self._rule, True, self._words[0]) and games[0] not in self:
            self[games[0]] = NONE
            move = self._heuristic.act(games.copy(), self._mask, nobody)[0]
            play(games[0], self._rule, move)

    def _solve(self, record: Any) -> list[Move]:
        game = Game.from_record(record, self._rules)
        return solve(game, max_positions=self._positions).moves
