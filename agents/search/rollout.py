"""`rollout`: tries each move in sampled worlds, and plays the one with the best results.

A world is an order of the unseen cards. In each world, every candidate move is played, and then the
heuristic (`four_seasons_env.agents.scripted.heuristic`) plays on. All candidates face the same
worlds. A playout goes to the end of the game, or until nothing is hidden; then a search for a win
can follow, because the heuristic loses most of its games there. After half of the worlds,
candidates that do no better than the heuristic's own move are dropped. This is one step of policy
improvement by rollouts: Tesauro and Galperin 1996; for Klondike: Yan, Diaconis, Rusmevichientong
and Van Roy 2005, Bjarnason, Fern and Tadepalli 2009.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.scripted.heuristic import (
    HeuristicBuffers,
    choose_move,
    new_buffers,
    read_weights,
)
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, NONE, Plans
from four_seasons_env.agents.search.worlds import determinize
from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.containers import keep_best
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    GAME,
    compile_rules,
    is_won,
    legal,
    new_masks,
    nothing_hidden,
    play,
    sort_unseen,
)
from four_seasons_env.positions.enumeration import ADVICE, find_win
from four_seasons_env.positions.search import WON, Search, new_search
from four_seasons_env.rules import Rules

_LONGEST = 400
"""Maximum number of moves of a playout; only a player that repeats positions needs them all."""
_CARDS_UP = 0.02
"""Bonus of a result with all cards up, on top of a win (1): it distinguishes lost games."""


class _Settings(NamedTuple):
    """How moves are tried; see `RolloutAgent`."""

    candidates: int
    worlds: int
    expansions: int
    weights: NDArray[np.float64]  # (2, features) of the heuristic


class _Buffers(NamedTuple):
    """Buffers of `_best_move`, whose candidates are in ``moves``, ``sums`` and ``squares``."""

    world: NDArray[Any]  # GAME (1,), the position with the unseen cards in another order
    game: NDArray[Any]  # GAME (1,), played out from there
    heuristic: HeuristicBuffers
    words: NDArray[np.uint64]  # (1, words) legal moves of the playout, a bit each ...
    mask: NDArray[np.int8]  # (1, actions) ... and as bytes, in the same memory
    moves: NDArray[np.int64]  # (actions,)
    sums: NDArray[np.float64]  # (actions,) of results, less those of the heuristic's own move
    squares: NDArray[np.float64]  # (actions,) of the same differences
    search: Search  # for a win


def _new_buffers(rules: Rules, expansions: int) -> _Buffers:
    words, mask = new_masks(1, rules)
    actions = mask.shape[1]
    return _Buffers(
        np.zeros(1, GAME),
        np.zeros(1, GAME),
        new_buffers(rules),
        words,
        mask,
        np.zeros(actions, np.int64),
        np.zeros(actions),
        np.zeros(actions),
        new_search(rules, max(1, 2 * expansions)),
    )


@jit
def _play_out(rule, settings, buffers):
    """Play ``buffers.game`` to its end; returns 1 for a win, and at most 0.02 for cards up."""
    game, search, expansions = buffers.game, buffers.search, settings.expansions
    for _ in range(_LONGEST):
        if not legal(game[0], rule, True, buffers.words[0]):
            break
        if expansions and nothing_hidden(game[0], rule):
            best = find_win(game[0], rule, ADVICE, 2 * expansions, expansions, search)
            return (search.values[best] == WON) + _CARDS_UP * game[0].cards_up / rule.cards
        move = choose_move(game[0], rule, buffers.mask[0], settings.weights, buffers.heuristic)
        play(game[0], rule, move)
    return is_won(game[0], rule) + _CARDS_UP * game[0].cards_up / rule.cards


@jit
def _candidates(g, rule, mask, settings, buffers):
    """Write the candidates to ``buffers.moves``; returns their number.

    The first is the heuristic's own move, the others are those that it gives the highest gains.
    """
    moves, most = buffers.moves, settings.candidates
    moves[0] = choose_move(g, rule, mask, settings.weights, buffers.heuristic)
    gains = buffers.heuristic.gains
    found = 1
    for move in range(rule.actions):
        if mask[move] and move != moves[0]:
            found = 1 + keep_best(moves[1:], found - 1, most - 1, gains, move)
    return found


@jit
def _best_move(g, rule, mask, seed, settings, buffers):
    """The move that does best in playouts from a position after `sort_unseen`.

    The heuristic's own move stays unless another one beats it by more than the standard error of
    their difference. After half of the worlds, candidates that do no better than it are dropped.

    Args:
        mask: a byte a move, not 0 where it may be played.
        seed: uint64, of the worlds.
        settings: `_Settings`.
        buffers: `_Buffers`.
    """
    world, game = buffers.world, buffers.game
    moves, sums, squares = buffers.moves, buffers.sums, buffers.squares
    worlds = settings.worlds
    left = _candidates(g, rule, mask, settings, buffers)
    sums[:left] = 0
    squares[:left] = 0
    for number in range(worlds):
        if number == (worlds + 1) // 2:
            # Move the candidates that stay to the front; the heuristic's own is always first.
            staying = 1
            for i in range(1, left):
                if sums[i] > 0:
                    moves[staying], sums[staying] = moves[i], sums[i]
                    squares[staying] = squares[i]
                    staying += 1
            left = staying
        if left == 1:
            return moves[0]
        world[0] = g
        determinize(world[0], rule, seed + np.uint64(number), number)
        own = 0.0
        for i in range(left):
            game[0] = world[0]
            play(game[0], rule, moves[i])
            result = _play_out(rule, settings, buffers)
            own = result if i == 0 else own
            sums[i] += result - own
            squares[i] += (result - own) ** 2
    best = 0
    for i in range(1, left):
        mean = sums[i] / worlds
        error = np.sqrt(max(squares[i] / worlds - mean * mean, 0.0) / worlds)
        if mean > error and sums[i] > sums[best]:
            best = i
    return moves[best]


@jit
def _best_moves(games, rules, masks, seeds, settings, buffers):
    """`_best_move` for each game, int64 (n,); their stocks are sorted in place."""
    moves = np.zeros(len(games), np.int64)
    for i in range(len(games)):
        sort_unseen(games[i], rules[0])
        moves[i] = _best_move(games[i], rules[0], masks[i], seeds[i], settings, buffers)
    return moves


class RolloutAgent:
    """Plays the move that does best when the heuristic continues from it.

    Args:
        rules: the rule set to play.
        worlds: imagined for each decision; each candidate is played out in all of them.
        moves: maximum number of moves to try: the heuristic's own and those that it likes best.
        expansions: maximum number of positions that the search for a win expands once nothing is
            hidden in a playout; the solver then also plays the end of the game itself. With 0
            neither happens: the heuristic plays to the end.

    Raises:
        ValueError: for ``worlds`` or ``moves`` below 1.
    """

    mask = "distinct"

    def __init__(self, rules: Rules, worlds: int = 16, moves: int = 3, expansions: int = 0) -> None:
        self._rule = compile_rules(rules)
        self._settings = _Settings(
            check_positive("moves", moves),
            check_positive("worlds", worlds),
            expansions,
            read_weights(),
        )
        self._plans = Plans(rules, ENDING_POSITIONS) if expansions else None
        self._buffers = _new_buffers(rules, expansions)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The best move in each game; the worlds are drawn from rng."""
        seeds = rng.integers(0, 2**63, len(games), np.uint64)
        moves = self._plans.endings(games) if self._plans else np.full(len(games), NONE)
        rest, own = moves < 0, (self._settings, self._buffers)
        moves[rest] = _best_moves(games[rest], self._rule, masks[rest], seeds[rest], *own)
        return moves
