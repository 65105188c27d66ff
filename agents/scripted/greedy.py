"""`greedy`: a fixed order of preference, as for a beginner.

To a foundation; a lone card to another pile, which makes a space; from the waste to a pile; from
the waste to a space; else the next card.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.registry import check_masks
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import inlined, jit
from four_seasons_env.engine.kernel import compile_rules, legal, new_masks, play
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.rules import Rules

_NEVER = 9

MOST_IDLE = 30
"""A playout ends after this many moves in a row that change nothing but the piles: a player without
chance or memory goes round in circles there. In 4,000 deals of each rule set, at most nine such
moves led anywhere."""


@inlined
def _place_in_list(g, rule, move):
    """The place of a move in the list: 0 comes first, `_NEVER` is not in it."""
    source, target = rule.source[move], rule.target[move]
    if target == STOCK or (source == STOCK and target == WASTE):
        return 4
    if target == FOUNDATION:
        return 0
    if source < WASTE:
        alone = g.below[g.top[source]] == NO_CARD
        return 1 if alone and g.top[target] != NO_CARD else _NEVER
    if source in (WASTE, STOCK):
        return 2 if g.top[target] != NO_CARD else 3
    return _NEVER


@jit
def greedy_move(g, rule, mask):
    """The legal move that comes first in the list, -1 if there is none; mask has a byte a move."""
    best, place = -1, _NEVER + 1
    for move in range(rule.actions):
        if mask[move]:
            here = _place_in_list(g, rule, move)
            if here < place:
                best, place = move, here
    return best


@jit
def _greedy_moves(games, rules, masks, moves):
    for i in range(len(games)):
        moves[i] = greedy_move(games[i], rules[0], masks[i])


@inlined
def beside_the_piles(g):
    """A number that changes when a card is turned, goes up or leaves the waste."""
    return np.int64(g.dealt) + 64 * (np.int64(g.cards_up) + 64 * np.int64(g.height[WASTE]))


@jit
def _play_out(games, rules, max_moves, words, mask):
    """Play each game until it ends, goes round, or reaches the limit of moves."""
    for i in range(len(games)):
        g, idle = games[i], 0
        while idle < MOST_IDLE and g.moves < max_moves and legal(g, rules[0], True, words[0]):
            before = beside_the_piles(g)
            play(g, rules[0], greedy_move(g, rules[0], mask[0]))
            idle = idle + 1 if beside_the_piles(g) == before else 0


class GreedyAgent:
    """Plays the first move of the list that is legal.

    Args:
        rules: the rule set to play.
    """

    mask = "distinct"

    def __init__(self, rules: Rules) -> None:
        self.rules, self._rule = rules, compile_rules(rules)
        self._words, self._mask = new_masks(1, rules)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The first legal move of the list in each game; deterministic."""
        check_masks(masks, len(games), self._mask.shape[1])
        moves = np.zeros(len(games), np.int64)
        _greedy_moves(games, self._rule, masks, moves)
        return moves

    def play_out(self, games: NDArray[Any], max_moves: int, rng: np.random.Generator) -> None:
        """Play each game to its end; see `four_seasons_env.games.Games.play_out`."""
        _play_out(games, self._rule, max_moves, self._words, self._mask)
