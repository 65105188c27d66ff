"""Imagined worlds: orders of the unseen cards, and the solver's votes in them.

`determinize` draws a world. The caller first sorts the unseen cards (`engine.kernel.sort_unseen`),
so that positions that look the same to the player lead to the same worlds for the same seed.

`SolverVotes` finds the share of worlds in which a game can be won after a move. This is
perfect-information Monte Carlo (Levy 1989, for Bridge). It overestimates: in each world the
solver knows the stock, as if the player would find out in time which world this is (strategy
fusion: Frank and Basin 1998). The fewer cards are hidden, the smaller the error; with two hidden
cards there is none.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules, play, reshuffle_unseen, stock_is_known
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve


@jit
def determinize(g, rule, seed, world):
    """Put the unseen cards in a random order.

    Args:
        g: a position after `sort_unseen`; changed in place.
        seed: uint64.
        world: number of the world. World k deals the k-th unseen card next (modulo their number),
            so that a sample covers the next card evenly.
    """
    left = np.int64(g.deck_size) - np.int64(g.dealt)
    if left <= 0 or stock_is_known(g, rule):
        return
    card = g.deck[g.dealt + world % left]
    reshuffle_unseen(g, rule, seed)
    for i in range(g.dealt, g.deck_size):  # exchange it for the one that the shuffle put next
        if g.deck[i] == card:
            g.deck[i] = g.deck[g.dealt]
            g.deck[g.dealt] = card
            return


class SolverVotes:
    """Compares moves that turn a card, by the solver's answers in the same worlds.

    Args:
        rules: the rule set that is played.
        worlds: to imagine. Where the hidden cards have no more orders than that, each order is
            taken once.
        width: of the solver's beam. A win that it does not find counts as a loss.

    Raises:
        ValueError: for ``worlds`` below 1.
    """

    def __init__(self, rules: Rules, worlds: int, width: int) -> None:
        self._rule = compile_rules(rules)[0]
        self._worlds = check_positive("worlds", worlds)
        self._width = width
        self._rules = rules

    def share_won(
        self, positions: NDArray[Any], moves: NDArray[np.integer[Any]], seed: np.uint64
    ) -> NDArray[np.float64]:
        """The share of worlds that can be won after each move; float64 of shape (n,).

        Args:
            positions: GAME array of shape (n,): positions with the same cards hidden, after
                `four_seasons_env.engine.kernel.sort_unseen`.
            moves: the move to play in each position, integers of shape (n,).
            seed: of the worlds.
        """
        won = np.zeros(len(positions))
        count = 0
        for world in self._worlds_of(positions, seed):
            for i, move in enumerate(moves):
                play(world[i], self._rule, move)
                game = Game.from_own_record(world[i], self._rules)
                won[i] += solve(game, width=self._width).status == "won"
            count += 1
        return won / count

    def _worlds_of(self, positions: NDArray[Any], seed: np.uint64) -> Iterator[NDArray[Any]]:
        """The positions with the hidden cards of one world after the other."""
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
                determinize(world, self._rule, seed + np.uint64(number), number)
            yield worlds
