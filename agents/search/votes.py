"""`Jury`: in how many imagined worlds can a game still be won after a move? The solver votes.

That is perfect-information Monte Carlo (Levy 1989, for Bridge). It is too hopeful: in each world
the solver knows the stock, as if the player would find out in time which world this is (strategy
fusion: Frank and Basin 1998). The fewer cards are hidden, the less that matters; with two it is
exact.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.search.determinization import imagine
from four_seasons_env.engine.kernel import compile_rules, play
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve


class Jury:
    """Asks the solver about moves that turn a card, all in the same worlds.

    Args:
        rules: the rule set that is played.
        worlds: to imagine; where the hidden cards have no more orders than that, each is taken
            once.
        width: of the solver's beam. What it does not find counts as lost.

    Raises:
        ValueError: for no worlds, or a width below 1.
    """

    def __init__(self, rules: Rules, worlds: int, width: int) -> None:
        if worlds < 1:
            raise ValueError(f"worlds must be at least 1, not {worlds}")
        if width < 1:
            raise ValueError(f"width must be at least 1, not {width}")
        self._rule = compile_rules(rules)[0]
        self._worlds, self._width = worlds, width
        self._game = Game(rules, deal=0)

    def share_won(
        self, positions: NDArray[Any], moves: NDArray[np.integer[Any]], seed: np.uint64
    ) -> NDArray[np.float64]:
        """The share of worlds that can be won after each move.

        Args:
            positions: GAME array of shape (n,): positions with the same cards hidden, put in order
                by `agents.search.determinization.forget`.
            moves: what is played there, integers of shape (n,).
            seed: of the worlds.
        """
        won = np.zeros(len(positions))
        count = 0
        for world in self._imagine(positions, seed):
            for i, move in enumerate(moves):
                game = self._game
                game.record[0] = world[i]
                play(game.record[0], self._rule, move)
                won[i] += solve(game, width=self._width).status == "won"
            count += 1
        return won / count

    def _imagine(self, positions: NDArray[Any], seed: np.uint64) -> Iterator[NDArray[Any]]:
        """The positions in one world after the other."""
        first = positions[0]
        hidden = first["deck"][first["dealt"] : first["deck_size"]].copy()
        if math.factorial(len(hidden)) <= self._worlds:
            for order in itertools.permutations(hidden):
                worlds = positions.copy()
                worlds["deck"][:, first["dealt"] : first["deck_size"]] = order
                yield worlds
            return
        for number in range(self._worlds):
            worlds = positions.copy()
            for world in worlds:
                imagine(world, self._rule, seed + np.uint64(number), number)
            yield worlds
