"""`random`: any legal move, all equally likely. The baseline that every agent must beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import draw_move
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules, legal, new_masks, play
from four_seasons_env.rules import Rules


@jit
def _play_out(games: Any, rules: Any, max_moves: int, words: Any, state: Any) -> None:
    for i in range(len(games)):
        g = games[i]
        while g.moves < max_moves and legal(g, rules[0], False, words[0]):
            play(g, rules[0], draw_move(words[0], state))


class RandomAgent:
    """Plays a legal move drawn uniformly."""

    mask = "legal"

    def __init__(self, rules: Rules) -> None:
        self.rules, self._rule = rules, compile_rules(rules)
        self._words = new_masks(1, rules)[0]

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw a legal move in each game."""
        drawn = np.where(masks, rng.random(masks.shape, np.float32), -1.0)
        moves: NDArray[np.int64] = drawn.argmax(axis=1)
        return moves

    def play_out(self, games: NDArray[Any], max_moves: int, rng: np.random.Generator) -> None:
        """Play each game to its end; see `four_seasons_env.games.Games.play_out`."""
        _play_out(games, self._rule, max_moves, self._words, rng.integers(0, 2**63, 1, np.uint64))
