"""`rollout`: tries each move in imagined worlds, and plays the one that ends best.

A world is an order of the unseen cards. In each, every candidate is played and a simple player, the
list of `agents.scripted.greedy` or the advice of `agents.scripted.heuristic`, plays on; candidates
face the same worlds. It plays to the end, or until nothing is hidden, and a search for a win
follows: what simple players lose, they lose most often there. Half way, what does no better than
the heuristic's own move drops out. One step of policy improvement by rollouts: Tesauro and Galperin
1996; for Klondike: Yan, Diaconis, Rusmevichientong and Van Roy 2005, Bjarnason, Fern and Tadepalli
2009.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from agents.scripted.greedy import greedy_move
from agents.scripted.heuristic import choose_move, new_work, read_weights
from agents.search.determinization import forget, imagine
from agents.search.plans import NONE, Plans
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    GAME,
    compile_rules,
    is_won,
    legal,
    new_masks,
    nothing_hidden,
    play,
)
from four_seasons_env.engine.priority import keep_best
from four_seasons_env.next_deal.enumeration import ADVICE, find_win
from four_seasons_env.next_deal.reach import WON, new_search
from four_seasons_env.rules import Rules, nearest

BASES = ("heuristic", "greedy")
_GREEDY = BASES.index("greedy")
_LONGEST = 400
"""Moves of a playout at most; only players that go round need it."""
_END_POSITIONS = 1_000_000
"""That the solver may look at, where it plays the rest of the game."""
_CARDS_UP = 0.02
"""What all cards up are worth beside a win: it tells lost games apart."""


@jit
def _play_out(game, rule, base, weights, work, words, mask, openings, search):
    """Play a GAME array of one to its end; returns 1 for a win, and a little for cards up.

    Args:
        openings: positions that a search for a win may play on from once nothing is hidden; with 0
            there is none.
        search: buffers for that.
    """
    for _ in range(_LONGEST):
        if not legal(game[0], rule, True, words[0]):
            break
        if openings and nothing_hidden(game[0], rule):
            best = find_win(game[0], rule, ADVICE, 2 * openings, openings, search)
            return (search.values[best] == WON) + _CARDS_UP * game[0].cards_up / rule.cards
        if base == _GREEDY:
            move = greedy_move(game[0], rule, mask[0])
        else:
            move = choose_move(game[0], rule, mask[0], weights, *work)
        play(game[0], rule, move)
    return is_won(game[0], rule) + _CARDS_UP * game[0].cards_up / rule.cards


@jit
def _candidates(g, rule, mask, most, weights, work, moves):
    """Write so many moves at most, those that the heuristic likes best; the first is its choice."""
    moves[0] = choose_move(g, rule, mask, weights, *work)
    gains = work[3]
    found = 1
    for move in range(rule.actions):
        if mask[move] and move != moves[0]:
            found = 1 + keep_best(moves[1:], found - 1, most - 1, gains, move)
    return found


@jit
def _best_move(g, rule, mask, most, worlds, doubt, seed, base, openings, weights, buffers):
    """The move of a forgotten position that does best in playouts.

    The heuristic's own stays unless another beats it by so many standard errors of their
    difference. Half way, all that do not do better drop out.
    """
    game, world, work, words, rollout_mask, moves, sums, squares, search = buffers
    left = _candidates(g, rule, mask, most, weights, work, moves)
    sums[:left] = 0
    squares[:left] = 0
    for number in range(worlds):
        if number == (worlds + 1) // 2:
            kept = 1
            for i in range(1, left):
                if sums[i] > 0:
                    moves[kept], sums[kept], squares[kept] = moves[i], sums[i], squares[i]
                    kept += 1
            left = kept
        if left == 1:
            return moves[0]
        world[0] = g
        imagine(world[0], rule, seed + np.uint64(number), number)
        own = 0.0
        for i in range(left):
            game[0] = world[0]
            play(game[0], rule, moves[i])
            result = _play_out(
                game, rule, base, weights, work, words, rollout_mask, openings, search
            )
            own = result if i == 0 else own
            sums[i] += result - own
            squares[i] += (result - own) ** 2
    best = 0
    for i in range(1, left):
        mean = sums[i] / worlds
        error = np.sqrt(max(squares[i] / worlds - mean * mean, 0.0) / worlds)
        if mean > doubt * error and sums[i] > sums[best]:
            best = i
    return moves[best]


@jit
def _best_moves(
    games, rules, masks, most, worlds, doubt, seeds, base, openings, weights, buffers, actions
):
    """`_best_move` for each game, which may be written to."""
    for i in range(len(games)):
        forget(games[i], rules[0])
        actions[i] = _best_move(
            games[i], rules[0], masks[i], most, worlds, doubt, seeds[i], base, openings, weights,
            buffers,
        )  # fmt: skip


class RolloutAgent:
    """Plays the move that does best when a simple player plays on from it.

    Args:
        rules: the rule set to play.
        worlds: in which each candidate is played out.
        candidates: moves to try at most, those that the heuristic likes best.
        doubt: standard errors by which another move must be better than the heuristic's own.
        base: who plays them out: "heuristic", or "greedy", which is worse and much faster.
        openings: positions that a search for a win may play on from once nothing is hidden in a
            playout, and the solver then plays the game itself; with 0 the base plays to the
            end, and the game is played as if something were hidden.

    Raises:
        ValueError: for a base that there is not, no worlds, or no candidates.
    """

    mask = "distinct"

    def __init__(
        self,
        rules: Rules,
        worlds: int = 16,
        candidates: int = 3,
        doubt: float = 1.0,
        base: Literal["heuristic", "greedy"] = "heuristic",
        openings: int = 0,
    ) -> None:
        if base not in BASES:
            raise ValueError(f"unknown base {base!r}: {nearest(base, BASES)}")
        if worlds < 1:
            raise ValueError(f"worlds must be at least 1, not {worlds}")
        if candidates < 1:
            raise ValueError(f"candidates must be at least 1, not {candidates}")
        self._rule = compile_rules(rules)
        self._candidates, self._worlds, self._base = candidates, worlds, BASES.index(base)
        self._weights = read_weights()
        self._doubt, self._openings = doubt, openings
        self._plans = Plans(rules, _END_POSITIONS) if openings else None
        words, mask = new_masks(1, rules)
        self._buffers = (
            np.zeros(1, GAME),
            np.zeros(1, GAME),
            new_work(rules),
            words,
            mask,
            np.zeros(mask.shape[1], np.int64),
            np.zeros(mask.shape[1]),
            np.zeros(mask.shape[1]),
            new_search(rules, max(1, 2 * openings)),
        )

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The best move in each game; the worlds are drawn from rng."""
        moves = np.zeros(len(games), np.int64)
        seeds = rng.integers(0, 2**63, len(games), np.uint64)
        rest = np.arange(len(games))
        if self._plans is not None:
            moves = self._plans.endings(games)
            rest = np.flatnonzero(moves == NONE)
        chosen = np.zeros(len(rest), np.int64)
        _best_moves(
            games[rest],
            self._rule,
            masks[rest],
            self._candidates,
            self._worlds,
            self._doubt,
            seeds[rest],
            self._base,
            self._openings,
            self._weights,
            self._buffers,
            chosen,
        )
        moves[rest] = chosen
        return moves
