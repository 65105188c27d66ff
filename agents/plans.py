"""`Plans`: moves that an agent means to play, and what it plays once nothing is hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.heuristic import HeuristicAgent
from agents.worlds import is_open
from four_seasons_env.game import Game
from four_seasons_env.kernel import GAME, compile_rules, legal, new_masks, play
from four_seasons_env.moves import Move
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve

NONE = -1
"""In place of a move: there is none to be preferred."""

_PUBLIC = ("base", "top", "below", "level", "dealt", "redeals")
_KEPT = 1_000_000


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
        self._moves: dict[bytes, int] = {}

    def __contains__(self, game: Any) -> bool:
        return _key(game) in self._moves

    def __getitem__(self, game: Any) -> int:
        """The move, or NONE."""
        return self._moves.get(_key(game), NONE)

    def __setitem__(self, game: Any, move: int) -> None:
        self._moves[_key(game)] = move

    def clear(self) -> None:
        """Forget all plans."""
        self._moves.clear()

    def tidy(self) -> None:
        """Forget all plans once they are many."""
        if len(self._moves) > _KEPT:
            self.clear()

    def endings(self, games: NDArray[Any]) -> NDArray[np.int64]:
        """The moves of those games in which nothing is hidden, int64 of shape (n,); else NONE."""
        self.tidy()
        moves = np.full(len(games), NONE)
        for i, game in enumerate(games):
            if is_open(game, self._rule):
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
        for move in moves:
            self[games[0]] = int(move)
            play(games[0], self._rule, int(move))
        if moves:
            return
        nobody = np.random.default_rng(0)  # the heuristic leaves nothing to chance
        while legal(games[0], self._rule, True, self._words[0]) and games[0] not in self:
            self[games[0]] = NONE
            move = self._heuristic.act(games.copy(), self._mask, nobody)[0]
            play(games[0], self._rule, move)

    def _solve(self, record: Any) -> list[Move]:
        game = Game.from_record(record, self._rules)
        return solve(game, max_positions=self._positions).moves


def _key(game: Any) -> bytes:
    """What a player sees of a position."""
    return b"".join(game[field].tobytes() for field in _PUBLIC)
