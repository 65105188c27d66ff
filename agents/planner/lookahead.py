"""Looking ahead: what a decision is worth once the next cards have been turned.

The network's value of a position before the next card is an estimate. A lookahead refines it: turn
the next card in imagined worlds, decide again, repeat for some cards, and average the values
reached. With one card this is expectimax; to the end of the stock it is rollouts of the planner.

- *Common random numbers*: all candidates face the same worlds, so luck cancels in their comparison.
- *Sequential halving* (Karnin, Koren and Somekh 2013): each round drops the worse half of the
  candidates, and the next has twice as many worlds. Four candidates with 8 worlds: 4 x 8 games,
  then 2 x 16, then one is left.
- *Racing* (Maron and Moore 1994): within a long round, a candidate that is clearly worse than the
  best leaves earlier, by a paired test of the differences in the same worlds.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.planner.best_stop import NARROW, best_stop_or_win, turn
from four_seasons_env.agents.search.worlds import determinize
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, play
from four_seasons_env.positions.enumeration import best_stops
from four_seasons_env.positions.search import WON, Search, may_stop, turn_at
from four_seasons_env.rules import Rules

# Chosen by hand; no trial of other values is kept.
_MARGIN = np.float32(0.08)
"""Positions worth less than the best by more than this are not examined further."""
_TEST_EVERY = 16
"""Worlds of a round between two paired tests; the default rounds are too short for one."""
_CLEARLY = 3.0
"""A candidate leaves if its mean difference from the best is this many standard errors: by chance,
one in about 700 tests of equal candidates."""


class Lookahead(NamedTuple):
    """Settings and buffers of `look_ahead`."""

    worlds: int  # in the first round; each later round has twice as many
    cards: int  # to turn in each world
    chosen: NDArray[np.int64]  # (candidates,) rows of the positions that are compared
    inner: Search  # for the decisions in imagined worlds
    game: NDArray[np.void]  # GAME (1,), a game in such a world


def new_lookahead(rules: Rules, candidates: int, worlds: int, cards: int) -> Lookahead:
    """A `Lookahead` that compares no more than this many candidates."""
    chosen, game = np.zeros(candidates, np.int64), np.zeros(1, GAME)
    return Lookahead(worlds, cards, chosen, NARROW.new_search(rules), game)


@jit
def _play_on(game, evaluator, cards, search):
    """Play a GAME array of one on for this many cards, and return what it is worth then."""
    while True:
        best, over = best_stop_or_win(game[0], evaluator, search, NARROW)
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
def _best_first(left, totals):
    """The candidates that are left by their totals, best first; equal ones keep their order.

    All have been played in the same worlds, so totals compare without being divided.
    """
    return left[np.argsort(-totals[left], kind="mergesort")]


@jit
def _not_clearly_worse(left, totals, products, worlds):
    """Those of the candidates that stay after a paired test against the best of them.

    Args:
        left: int64 (m,), the candidates.
        totals: float64, the sums of their values.
        products: float64 (n, n), the sums of products of two candidates' values.
        worlds: how many values are in the sums.
    """
    left = _best_first(left, totals)
    best = left[0]
    means = (totals[best] - totals[left]) / worlds
    squares = products[best, best] - 2 * products[best][left] + np.diag(products)[left]
    # Of the differences from the best: their variance is the mean square less the squared mean.
    variances = np.maximum(0.0, squares / worlds - means * means)
    return left[(means * means * worlds <= _CLEARLY * _CLEARLY * variances) | (means == 0)]


@jit
def look_ahead(evaluator, search, count, best, seed, lookahead):
    """Decide among the best positions of a search by looking over the next cards.

    Args:
        evaluator: `four_seasons_env.agents.planner.best_stop.Evaluator`.
        search: of `best_stop`, from a position after
            `four_seasons_env.engine.kernel.sort_unseen`.
        count: positions that it found.
        best: row of the position that it chose.
        seed: uint64, of the worlds.
        lookahead: `Lookahead`.

    Returns:
        The row of the position to choose.
    """
    worlds, cards, chosen, inner, game = lookahead
    # 1. The candidates: the best by the network's worth, within a margin.
    count = best_stops(count, search, chosen, len(chosen), False)
    # Sorted by worth, so the candidates to leave out are at the end.
    while count > 1 and search.worths[chosen[count - 1]] < search.worths[chosen[0]] - _MARGIN:
        count -= 1
    chosen[0] = chosen[0] if count else best
    # 2. The sums of the tests.
    left = np.arange(max(1, count))  # candidates that are still compared
    values, totals = np.zeros(len(left)), np.zeros(len(left))  # in one world, and their sums
    products = np.zeros((len(left), len(left)))  # sums of products of two values
    root = search.positions[0]
    hidden = max(np.int64(1), np.int64(root.deck_size) - np.int64(root.dealt))
    # 3. World k turns the hidden card first + k * step next, modulo their number: a few worlds
    # already cover the next cards evenly, from a card that differs from decision to decision. Where
    # orders are not equally likely, `determinize` draws the next card instead.
    first, step = np.int64(seed % np.uint64(hidden)), stride(hidden)
    number = 0
    # 4. Rounds: play all that are left in each world, test, drop half, double the worlds.
    while len(left) > 1:
        for world in range(1, worlds + 1):
            for i in left:
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
                values[i] = _play_on(game, evaluator, cards, inner) + price
            number += 1
            totals[left] += values[left]
            for i in left:
                products[i, left] += values[i] * values[left]
            if world % _TEST_EVERY == 0 and world < worlds:
                left = _not_clearly_worse(left, totals, products, number)
                if len(left) == 1:
                    break
        left = _best_first(left, totals)[: max(1, len(left) // 2)]
        worlds *= 2
    return chosen[left[0]]
