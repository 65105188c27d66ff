"""`heuristic`: the advice that players give, weighed by measurement.

Every piece of advice is a feature of the position (`FEATURES`). The player looks one move ahead: a
move is worth the weighted sum of what it changes, and the best move is played if it is worth more
than dealing; else the next card is dealt. As every move but dealing must improve the position, it
never goes round in circles. When the stock is out, the least bad move that brings the waste down is
played. It sees what a player sees: which cards are unseen, never their order.

The weights move linearly from the first card of the stock to the last. They were found on training
deals only, by `python -m experiments.tune_heuristic`, which writes `heuristic.json`.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.cards import NO_CARD
from four_seasons_env.compiled import jit
from four_seasons_env.kernel import GAME, compile_rules, play, relative_rank, stock_size
from four_seasons_env.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.rules import Rules

FEATURES = {
    "cards_up": "cards on the foundations: play up early",
    "lead": "levels by which suits are ahead of the lowest by more than two: a card that is up "
    "can no longer take cards in the tableau",
    "one_space": "at least one space: it gets a buried card out",
    "two_spaces": "at least two",
    "three_spaces": "at least three",
    "in_suit": "cards lying on the next card of their own suit: such piles peel off as a whole",
    "blocked": "cards lying on one that is wanted earlier",
    "blocked_by": "how many levels too early the card below is wanted, summed",
    "waste": "cards in the waste",
    "waste_blocked": "waste cards lying on one that is wanted as early or earlier",
    "next_buried": "cards on top of those that the foundations want next",
    "hosts": "unseen cards that some pile would take: keep the tops different",
    "waste_hosts": "the waste's top card has somewhere to go",
    "tops": "levels that the piles' top cards are away from going up, summed",
    "deal": "dealing: how much better another move must be",
}
"""The advice, one feature each; `deal` is the threshold."""

_DEAL = len(FEATURES) - 1
_ONE = np.uint64(1)
WEIGHTS = Path(__file__).with_name("heuristic.json")


@jit
def _wanted_in(g, rule, card):
    """Levels until a card goes up: 0 if it goes now."""
    return relative_rank(g, rule, card) - np.int64(g.level[card & 3])


@jit
def _bits(cards):
    """How many bits are set."""
    count = 0
    while cards:
        cards &= cards - _ONE
        count += 1
    return count


@jit
def _column(g, rule, place, is_waste, f):
    """Add what one pile, or the waste, says."""
    card = g.top[place]
    above = 0
    while card != NO_CARD:
        wanted = _wanted_in(g, rule, card)
        if wanted == 0:
            f[10] += above
        host = g.below[card]
        if host != NO_CARD:
            early = wanted - _wanted_in(g, rule, host)
            if is_waste:
                f[9] += early >= 0
            else:
                f[5] += early == -1 and (card & 3) == (host & 3)
                f[6] += early > 0
                f[7] += max(early, 0)
        above += 1
        card = host


@jit
def _features(g, rule, unseen, f):
    """Write the features of a position; unseen is the bit set of the cards in the stock."""
    f[:] = 0.0
    lowest = rule.ranks
    for suit in range(4):
        lowest = min(lowest, np.int64(g.level[suit]))
    for suit in range(4):
        f[1] += max(np.int64(g.level[suit]) - lowest - 2, 0)
    f[0] = g.cards_up
    spaces = 0
    takes = np.uint64(0)
    accepts = rule.accepts[g.base[0]]
    for pile in range(rule.piles):
        top = g.top[pile]
        if top == NO_CARD:
            spaces += 1
        else:
            takes |= accepts[top]
            f[13] += _wanted_in(g, rule, top)
            _column(g, rule, pile, False, f)
    f[2] = spaces >= 1
    f[3] = spaces >= 2
    f[4] = spaces >= 3
    f[8] = g.height[WASTE]
    _column(g, rule, WASTE, True, f)
    f[11] = _bits(takes & unseen)
    waste_card = g.top[WASTE]
    if waste_card != NO_CARD:
        f[12] = (takes >> np.uint64(waste_card)) & _ONE or _wanted_in(g, rule, waste_card) == 0


@jit
def _value(g, rule, unseen, weights, f):
    """The weighted sum of a position's features, without the threshold."""
    _features(g, rule, unseen, f)
    value = 0.0
    for i in range(_DEAL):
        value += weights[i] * f[i]
    return value


@jit
def _choose(g, rule, mask, weights, scratch, w, f):
    """The move to play. weights has shape (2, features): stock full, stock out."""
    unseen = np.uint64(0)
    for i in range(g.dealt, g.deck_size):
        unseen |= _ONE << np.uint64(g.deck[i])
    left = stock_size(g) / rule.cards
    for i in range(_DEAL + 1):
        w[i] = weights[1, i] + (weights[0, i] - weights[1, i]) * left
    here = _value(g, rule, unseen, w, f)
    best = -1
    best_gain = -1e9
    last_resort = -1
    last_gain = -1e9
    turn = -1
    only = -1
    for move in range(rule.actions):
        if not mask[move]:
            continue
        source = rule.source[move]
        if source == STOCK or rule.target[move] == STOCK:
            turn = move
            continue
        if source >= FOUNDATION and stock_size(g) == 0:
            only = move  # worrying back could go round with the last resort
            continue
        scratch[0] = g
        play(scratch[0], rule, move)
        gain = _value(scratch[0], rule, unseen, w, f) - here
        if gain > best_gain:
            best, best_gain = move, gain
        if (source == WASTE or rule.target[move] == FOUNDATION) and gain > last_gain:
            last_resort, last_gain = move, gain
    if turn >= 0:
        return best if best >= 0 and best_gain > max(w[_DEAL], 1e-9) else turn
    if last_resort >= 0 and best_gain <= 1e-9:
        return last_resort
    return best if best >= 0 else only


@jit
def _choose_all(games, rules, masks, weights, scratch, work, actions):
    """`_choose` for each game."""
    for i in range(len(games)):
        actions[i] = _choose(games[i], rules[0], masks[i], weights, scratch, work[0], work[1])


@functools.cache
def read_weights(path: Path = WEIGHTS) -> NDArray[np.float64]:
    """The tuned weights, float64 of shape (2, features): with the stock full, and out."""
    table = json.loads(path.read_text())["weights"]
    return np.array([[table[name][end] for name in FEATURES] for end in (0, 1)])


class HeuristicAgent:
    """Plays the move that the weighed advice likes best.

    Args:
        rules: the rule set to play.
        weights: float64 of shape (2, features); None for the tuned ones.
    """

    mask = "distinct"

    def __init__(self, rules: Rules, weights: NDArray[np.float64] | None = None) -> None:
        self._rule = compile_rules(rules)
        self._weights = read_weights() if weights is None else weights
        self._scratch = np.zeros(1, GAME)
        self._work = np.zeros((2, len(FEATURES)))

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The best move in each game; nothing is left to chance."""
        actions = np.zeros(len(games), np.int64)
        _choose_all(games, self._rule, masks, self._weights, self._scratch, self._work, actions)
        return actions
