"""`RandomAgent`, `GreedyAgent` and `HeuristicAgent`: players that neither search nor learn.

All three play by one compiled loop. What a player keeps in memory has a type of its own, and
`_choose` is the function for that type.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.agent import Actions, Agent, Masks, Positions, Rng
from four_seasons_env.agents.scripted.greedy import greedy_move
from four_seasons_env.agents.scripted.heuristic import HeuristicBuffers, choose_move, new_buffers
from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.bits import draw_move
from four_seasons_env.engine.jit import announce, by_type, inlined, is_a, jit
from four_seasons_env.engine.kernel import compile_rules, legal, new_masks, play
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.engine.validation import checked, checked_in_place
from four_seasons_env.game import MOST_MOVES
from four_seasons_env.rules import Rules

_MOST_IDLE = 30
"""A playout ends after this many moves in a row that change nothing but the piles: a player without
chance or memory goes round in circles there. In 4,000 deals of each rule set, at most nine such
moves led anywhere."""


class Dice(NamedTuple):
    """What `RandomAgent` draws with."""

    state: NDArray[np.uint64]  # (1,) the random state


@by_type
def _choose(g, rule, words, mask, player):
    """The move of a player; there must be a legal one.

    Args:
        words: the legal moves, a row of `new_masks` ...
        mask: ... and in another view of the same memory, a byte a move.
        player: `Dice`, `HeuristicBuffers`, or () for the list of `greedy`.
    """
    if is_a(player, Dice):
        return _by_chance
    return _by_advice if is_a(player, HeuristicBuffers) else _by_list


def _by_chance(g, rule, words, mask, player):
    return draw_move(words, player.state)


def _by_advice(g, rule, words, mask, player):
    return choose_move(g, rule, mask, player)


def _by_list(g, rule, words, mask, player):
    return greedy_move(g, rule, mask)


@jit
def _choose_all(games, rules, words, masks, player, moves):
    """Write the move of a player in each game."""
    for i in range(len(games)):
        moves[i] = _choose(games[i], rules[0], words[0], masks[i], player)


@by_type
def _goes_on(g, rule, words, idle, player):
    """Write the legal moves of a player; returns whether its playout goes on.

    By type, because `legal` compiles to less code where it knows the mask.

    Args:
        idle: how many moves in a row have changed nothing but the piles.
    """
    return _with_chance if is_a(player, Dice) else _without_chance


def _with_chance(g, rule, words, idle, player):
    return legal(g, rule, False, words)


def _without_chance(g, rule, words, idle, player):
    return idle < _MOST_IDLE and legal(g, rule, True, words)


@jit
def _play_out(games, rules, max_moves, words, mask, player):
    """Play each game until it ends, goes round, or reaches the limit of moves."""
    rule, words, mask = rules[0], words[0], mask[0]
    for i in range(len(games)):
        g, idle = games[i], 0
        while g.moves < max_moves and _goes_on(g, rule, words, idle, player):
            before = _beside_the_piles(g)
            play(g, rule, _choose(g, rule, words, mask, player))
            idle = idle + 1 if _beside_the_piles(g) == before else 0


@inlined
def _beside_the_piles(g):
    """A number that changes when a card is turned, goes up or leaves the waste."""
    return np.int64(g.dealt) + 64 * (np.int64(g.cards_up) + 64 * np.int64(g.height[WASTE]))


class ScriptedAgent(Agent):
    """The first move of a list, or the move that its advice values most.

    Args:
        rules: the rule set to play.
    """

    kind = "rule of thumb"
    mask = "distinct"
    block = 1000

    def __init__(self, rules: Rules) -> None:
        self.rules, self._rule = rules, compile_rules(rules)
        self._words, self._mask = new_masks(1, rules)
        self._player: Any = ()

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """The player's move in each game; deterministic."""
        announce(_choose_all)
        moves = np.zeros(len(games), np.int64)
        _choose_all(games, self._rule, self._words, masks, self._player, moves)
        return moves

    @checked_in_place
    def play_out(self, games: Positions, max_moves: int, rng: Rng) -> None:
        """Play each game to its end, in place; see `four_seasons_env.games.Games.play_out`."""
        most, player = check_positive("max_moves", max_moves, MOST_MOVES), self._player_with(rng)
        announce(_play_out)
        _play_out(games, self._rule, most, self._words, self._mask, player)

    def _player_with(self, rng: Rng) -> Any:
        """The player of a playout."""
        return self._player


class GreedyAgent(ScriptedAgent):
    """Plays the first move of the list (`greedy`) that is legal."""


class HeuristicAgent(ScriptedAgent):
    """Plays the move that the weighted advice (`heuristic`) values most.

    Examples:
        >>> agent = HeuristicAgent(game.rules)
        >>> (move,) = agent.act(game.record.copy(), game.action_mask()[None], rng)
        >>> [str(each) for each in game.legal_moves() if each.number == move]
        ['T3>T0']
    """

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self._player = new_buffers(rules)


class RandomAgent(ScriptedAgent):
    """Plays a legal move drawn uniformly: the baseline that every agent must beat."""

    kind = "chance"
    mask = "legal"
    plays = ("stochastic",)

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """Draw a legal move in each game."""
        drawn = np.where(masks, rng.random(masks.shape, np.float32), -1.0)
        moves: Actions = drawn.argmax(axis=1)
        return moves

    def _player_with(self, rng: Rng) -> Any:
        return Dice(rng.integers(0, 2**63, 1, np.uint64))
