"""Looking ahead: what a decision is worth once the next cards have been turned.

The network's value of a position about to deal is an estimate. A look ahead refines it: turn the
next card in imagined worlds, decide again, repeat for some cards, and average the values reached.
With one card this is expectimax; to the end of the stock it is rollouts of the planner. All
candidates face the same worlds. After each round the worse half of them is dropped (sequential
halving: Karnin, Koren and Somekh 2013). Within a long round those that are clearly worse than the
best leave earlier, by a test of the differences in the same worlds (racing: Maron and Moore 1994).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.planner.best_stop import SearchLimits, best_stop_or_win, turn
from four_seasons_env.agents.search.worlds import determinize
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, play
from four_seasons_env.positions.enumeration import best_stops
from four_seasons_env.positions.search import WON, Search, may_stop, new_search, turn_at
from four_seasons_env.rules import Rules

_MARGIN = np.float32(0.08)
"""Positions worth less than the best by more than this are not examined further."""
_LIMITS = SearchLimits(positions=50, expansions=20, ending_positions=1000, ending_expansions=500)
"""Limits of the searches in imagined worlds."""
_TEST_EVERY = 16
"""Worlds of a round between two tests; the default rounds are too short for one."""
_CLEARLY = 3.0
"""A candidate leaves if its mean difference from the best is this many standard errors."""


class LookaheadBuffers(NamedTuple):
    """Buffers of a look ahead."""

    search: Search  # for the decisions in imagined worlds
    game: NDArray[Any]  # GAME (1,), the game in an imagined world
    chosen: NDArray[np.int64]  # (candidates,) rows of the candidates
    left: NDArray[np.int64]  # (candidates,) indices of those still compared, best first
    values: NDArray[np.float64]  # (candidates,) of the candidates in one world
    totals: NDArray[np.float64]  # (candidates,) sums of their values over the worlds
    products: NDArray[np.float64]  # (candidates, candidates) sums of products of two values


def new_lookahead_buffers(rules: Rules, candidates: int) -> LookaheadBuffers:
    """Buffers for `look_ahead` at no more than this many candidates."""
    return LookaheadBuffers(
        new_search(rules, max(_LIMITS.positions, _LIMITS.ending_positions)),
        np.zeros(1, GAME),
        np.zeros(candidates, np.int64),
        np.zeros(candidates, np.int64),
        np.zeros(candidates, np.float64),
        np.zeros(candidates, np.float64),
        np.zeros((candidates, candidates), np.float64),
    )


@jit
def _play_on(evaluator, cards, buffers):
    """Play ``buffers.game`` on for this many cards, and return what it is worth then."""
    game, search = buffers.game, buffers.search
    while True:
        best, over = best_stop_or_win(game[0], evaluator, search, _LIMITS)
        if search.values[best] == WON:
            return 1.0
        # Lost in this world: nothing is hidden and no win was found, or no card can be turned.
        if over or not may_stop(search, best):
            return 0.0
        cards -= 1
        if cards == 0:
            return np.float64(search.worths[best])
        turn(search, best, evaluator.rule, game)


@jit
def stride(cards):
    """A step that visits each of this many cards once before it returns to one."""
    step = max(np.int64(1), np.int64(0.618 * cards))  # near the golden ratio: spread evenly
    while math.gcd(cards, step) > 1:
        step += 1
    return step


@jit
def _sort(left, totals, count):
    """Sort the candidates that are left by their totals, best first; equal ones keep their order.

    All have met the same worlds, so totals compare without being divided.
    """
    left[:count] = left[:count][np.argsort(-totals[left[:count]], kind="mergesort")]


@jit
def add_world(buffers, count):
    """Add the values of the candidates that are left in one world, and their products."""
    for i in buffers.left[:count]:
        buffers.totals[i] += buffers.values[i]
        for j in buffers.left[:count]:
            buffers.products[i, j] += buffers.values[i] * buffers.values[j]


@jit
def drop_clearly_worse(buffers, count, worlds):
    """Drop candidates by a paired test against the best so far, and return how many are left."""
    left, totals, products = buffers.left, buffers.totals, buffers.products
    _sort(left, totals, count)
    best, kept = left[0], 1
    for i in left[1:count]:
        mean = (totals[best] - totals[i]) / worlds
        squares = products[best, best] - 2 * products[best, i] + products[i, i]
        variance = max(0.0, squares / worlds - mean * mean)
        if mean * mean * worlds <= _CLEARLY * _CLEARLY * variance or mean == 0:
            left[kept] = i
            kept += 1
    return kept


@jit
def look_ahead(evaluator, search, count, best, worlds, cards, seed, buffers):
    """Decide among the best positions of a search by looking over the next cards.

    Args:
        evaluator: `four_seasons_env.agents.planner.best_stop.Evaluator`.
        search: of `best_stop`, from a position after
            `four_seasons_env.engine.kernel.sort_unseen`.
        count: positions that it found.
        best: row of the position that it chose.
        worlds: in the first round; each later round has twice as many.
        cards: to turn in each world.
        seed: uint64, of the worlds.
        buffers: `LookaheadBuffers`.

    Returns:
        The row of the position to choose.
    """
    chosen, left, totals, game = buffers.chosen, buffers.left, buffers.totals, buffers.game
    count = best_stops(count, search, chosen, len(chosen), False)
    # Sorted by worth, so the candidates to leave out are at the end.
    while count > 1 and search.worths[chosen[count - 1]] < search.worths[chosen[0]] - _MARGIN:
        count -= 1
    chosen[0] = chosen[0] if count else best
    left[:] = np.arange(len(left))
    totals[:] = 0
    buffers.products[:] = 0
    root = search.positions[0]
    hidden = max(np.int64(1), np.int64(root.deck_size) - np.int64(root.dealt))
    # World k turns the hidden card first + k * step next, modulo their number: a few worlds already
    # cover the next cards evenly, from a card that differs from decision to decision.
    first, step = np.int64(seed % np.uint64(hidden)), stride(hidden)
    number = 0
    while count > 1:
        for world in range(1, worlds + 1):
            for i in left[:count]:
                candidate = chosen[i]
                # As in `turn`, but with the hidden cards of this world put in before the move.
                at, move = turn_at(search, candidate)
                game[0] = search.positions[at]
                # The seed and the next card depend on the world alone: all candidates face the same
                # cards, so luck cancels in their comparison.
                next_card = first + number * step
                determinize(game[0], evaluator.rule, seed + np.uint64(number), next_card)
                play(game[0], evaluator.rule, move)
                # Less than zero: the price of the moves that lead to the candidate.
                price = np.float64(search.worths[candidate] - search.values[candidate])
                value = _play_on(evaluator, cards, buffers)
                buffers.values[i] = value + price
            number += 1
            add_world(buffers, count)
            if world % _TEST_EVERY == 0 and world < worlds:
                count = drop_clearly_worse(buffers, count, number)
                if count == 1:
                    break
        _sort(left, totals, count)
        count //= 2
        worlds *= 2
    return chosen[left[0]]
