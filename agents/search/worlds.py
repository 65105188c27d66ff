"""Imagined worlds: orders of the unseen cards, and the solver's votes in them.

`determinize` draws a world. The caller first sorts the unseen cards (`engine.kernel.sort_unseen`),
so that positions that look the same to the player lead to the same worlds for the same seed.

`share_won` lets the solver vote: in how many worlds is a game won after a move? This is
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

from four_seasons_env.agents.agent import Actions, Positions
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    compile_rules,
    equally_likely,
    order_weight,
    play,
    reshuffle_unseen,
    stock_is_known,
)
from four_seasons_env.game import Game
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve


@jit
def determinize(g, rule, seed, world):
    """Put the unseen cards in a random order.

    Args:
        g: a position after `sort_unseen`; changed in place.
        seed: uint64.
        world: number of the world. Where all orders are equally likely, world k deals the k-th
            unseen card next (modulo their number), so that a sample covers the next card evenly.
    """
    left = np.int64(g.deck_size) - np.int64(g.dealt)
    if left <= 0 or stock_is_known(g, rule):
        return
    card = g.deck[g.dealt + world % left]
    reshuffle_unseen(g, rule, seed)
    if not equally_likely(rule):  # the next card must be drawn by its probability
        return
    for i in range(g.dealt, g.deck_size):  # exchange it for the one that the shuffle put next
        if g.deck[i] == card:
            g.deck[i] = g.deck[g.dealt]
            g.deck[g.dealt] = card
            return


def share_won(
    positions: Positions, moves: Actions, rules: Rules, worlds: int, width: int, seed: np.uint64
) -> NDArray[np.float64]:
    """The share of worlds that the solver wins after each move; float64 of shape (n,).

    Args:
        positions: GAME array of shape (n,): positions with the same cards hidden, after
            `four_seasons_env.engine.kernel.sort_unseen`.
        moves: the move to play in each position, one that turns a card; integers of shape (n,).
        rules: the rule set that is played.
        worlds: to imagine, the same for all moves. Where the hidden cards have no more orders than
            that, each order is taken once, and weighs as much as it is likely.
        width: of the solver's beam. A win that it does not find counts as a loss.
        seed: of the worlds.
    """
    rule, won, total = compile_rules(rules)[0], np.zeros(len(positions)), 0
    for weight, world in _worlds_of(positions, rule, worlds, seed):
        for i, move in enumerate(moves):
            play(world[i], rule, move)
            game = Game.from_own_record(world[i], rules)
            won[i] += weight * (solve(game, width=width).status == "won")
        total += weight
    return won / total


def _worlds_of(
    positions: Positions, rule: Any, most: int, seed: np.uint64
) -> Iterator[tuple[int, Positions]]:
    """The positions with the hidden cards of one world after the other, and its weight."""
    first = positions[0]
    stock = range(first["dealt"], first["deck_size"])
    # Few hidden cards have few orders: each once is exact, a sample would not be.
    if math.factorial(len(stock)) <= most:
        for order in itertools.permutations(first["deck"][stock]):
            worlds = positions.copy()
            worlds["deck"][:, stock] = order
            yield int(order_weight(worlds[0], rule)), worlds
        return
    for number in range(most):
        worlds = positions.copy()
        for world in worlds:
            determinize(world, rule, seed + np.uint64(number), number)
        yield 1, worlds
