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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.agent import Actions, Agent, Masks, Positions, Rng
from four_seasons_env.agents.scripted.heuristic import HeuristicBuffers, choose_move, new_buffers
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, NONE, Plans
from four_seasons_env.agents.search.worlds import determinize
from four_seasons_env.arguments import check_number, check_positive
from four_seasons_env.engine import kernel
from four_seasons_env.engine.jit import announce, jit
from four_seasons_env.engine.validation import checked
from four_seasons_env.positions.enumeration import ADVICE, find_win
from four_seasons_env.positions.search import MOST_HELD, WON, Search, new_search
from four_seasons_env.rules import Rules

_MOVES_IN_A_PLAYOUT = 400
"""Maximum number of moves of a playout; only a player that repeats positions needs them all."""
_CARDS_UP = 0.02
"""Bonus of a result with all cards up, on top of a win (1): it distinguishes lost games. Chosen by
hand; no trial of another is kept."""


class _Player(NamedTuple):
    """What plays on in a playout: the heuristic, and a search for a win if it has expansions."""

    buffers: HeuristicBuffers
    world: NDArray[np.void]  # GAME (1,), the position in an imagined world
    game: NDArray[np.void]  # GAME (1,), the game of the playout
    words: NDArray[np.uint64]  # (1, words), its legal moves as `kernel.legal` writes them ...
    mask: NDArray[np.int8]  # (1, actions) ... and in another view of the same memory
    expansions: int
    search: Search


@jit
def _play_out(game, rule, player):
    """Play a game, GAME (1,), to its end; returns 1 for a win, and at most 0.02 for cards up."""
    search, expansions = player.search, player.expansions
    for _ in range(_MOVES_IN_A_PLAYOUT):
        if not kernel.legal(game[0], rule, True, player.words[0]):
            break
        if expansions and kernel.nothing_hidden(game[0], rule):
            best = find_win(game[0], rule, ADVICE, 2 * expansions, expansions, search)
            return (search.values[best] == WON) + _CARDS_UP * game[0].cards_up / rule.cards
        move = choose_move(game[0], rule, player.mask[0], player.buffers)
        kernel.play(game[0], rule, move)
    return kernel.is_won(game[0], rule) + _CARDS_UP * game[0].cards_up / rule.cards


@jit
def _results(g, rules, moves, first, last, seed, player):
    """The result of each move in worlds first to last - 1, float64 of shape (moves, worlds).

    Args:
        g: a position after `sort_unseen`.
        rules: as `compile_rules` returns them.
        moves: int64 (m,), legal moves.
        first, last: numbers of worlds.
        seed: uint64, of the worlds.
        player: `_Player`.
    """
    rule, world, game = rules[0], player.world, player.game
    results = np.zeros((len(moves), last - first))
    for number in range(first, last):
        # One world for all moves: luck cancels in their comparison.
        world[0] = g
        determinize(world[0], rule, seed + np.uint64(number), number)
        for i in range(len(moves)):
            game[0] = world[0]
            kernel.play(game[0], rule, moves[i])
            results[i, number - first] = _play_out(game, rule, player)
    return results


class RolloutAgent(Agent):
    """Plays the move that does best when the heuristic continues from it.

    It is deterministic in that it never draws a move: it draws the worlds in which it compares them
    (`rng`), and plays the best.

    Args:
        rules: the rule set to play.
        worlds: imagined for each decision; each candidate is played out in all of them.
        moves: maximum number of moves to try: the heuristic's own and those that it likes best.
        expansions: maximum number of positions that the search for a win expands once nothing is
            hidden in a playout; the solver then also plays the end of the game itself. With 0
            neither happens: the heuristic plays to the end.

    Raises:
        ValueError: for ``worlds`` or ``moves`` below 1, or ``expansions`` out of range.
    """

    kind = "rule of thumb + search"
    mask = "distinct"

    def __init__(self, rules: Rules, worlds: int = 16, moves: int = 3, expansions: int = 0) -> None:
        self.rules, self._rule = rules, kernel.compile_rules(rules)
        self._most, self._worlds = check_positive("moves", moves), check_positive("worlds", worlds)
        check_number("expansions", expansions, MOST_HELD // 2 + 1)
        announce(_results)
        search = new_search(rules, max(1, 2 * expansions))
        world, game = np.zeros((2, 1), kernel.GAME)
        words, mask = kernel.new_masks(1, rules)
        self._player = _Player(new_buffers(rules), world, game, words, mask, expansions, search)
        self._plans = Plans(rules, ENDING_POSITIONS) if expansions else None

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """The best move in each game; the worlds are drawn from rng."""
        games = games.copy()  # they are sorted below
        seeds = rng.integers(0, 2**63, len(games), np.uint64)
        moves = np.full(len(games), NONE)
        if self._plans:
            self._plans.tidy()
            moves = self._plans.endings(games)
        for i in np.flatnonzero(moves < 0):
            kernel.sort_unseen(games[i], self._rule[0])
            moves[i] = self._best_move(games[i], masks[i], seeds[i])
        return moves

    def _best_move(self, game: np.void, mask: Masks, seed: np.uint64) -> int:
        """The heuristic's move, unless one beats it by more than the standard error of their gap.

        After half of the worlds, candidates that do no better than it are dropped.
        """
        # 1. Two halves of the worlds; the first removes candidates.
        moves = self._candidates(game, mask)
        results = gains = np.zeros((len(moves), 0))
        half = (self._worlds + 1) // 2
        for worlds in ((0, half), (half, self._worlds)):
            if len(moves) > 1:
                new = _results(game, self._rule, moves, *worlds, seed, self._player)
                results = np.hstack([results, new])
                gains = results - results[0]  # over the heuristic's own move, which is first
                stays = gains.sum(axis=1) > 0
                stays[0] = True
                moves, results, gains = moves[stays], results[stays], gains[stays]
        if len(moves) == 1:
            return int(moves[0])
        # 2. A paired test: a mean gain counts if it is more than its standard error.
        means = gains.mean(axis=1)
        surely = means > gains.std(axis=1) / np.sqrt(self._worlds)
        return int(moves[np.where(surely, means, 0).argmax()])

    def _candidates(self, game: np.void, mask: Masks) -> Actions:
        """The heuristic's own move, and the others that it gives the highest gains."""
        player = self._player
        first = choose_move(game, self._rule[0], mask, player.buffers)
        others = np.flatnonzero(mask)
        others = others[others != first]
        best = np.argsort(-player.buffers.gains[others], kind="stable")[: self._most - 1]
        return np.array([first, *others[best]])
