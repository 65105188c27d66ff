"""`heuristic`: the advice of good players, with tuned weights.

Every piece of advice is a feature of the position (`FEATURES`). The agent looks one move ahead: a
move is worth the weighted sum of the changes in the features. The best move is played if it is
worth more than dealing; otherwise the next card is dealt. Because every move but dealing must
improve the position, play never cycles. With an empty stock, the least bad move that reduces the
waste is played. The agent uses only what a player sees: which cards are unseen, never their order.

The weights change linearly from a full stock to an empty one. They were found on training deals
only, by the cross-entropy method (Rubinstein 1999).
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.registry import check_masks
from four_seasons_env.agents.scripted.greedy import MOST_IDLE, beside_the_piles
from four_seasons_env.engine.bits import popcount
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    GAME,
    compile_rules,
    legal,
    new_masks,
    play,
    relative_rank,
    stock_cards,
    stock_size,
)
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, all_moves
from four_seasons_env.rules import Rules

FEATURES = (
    *("cards_up", "lead", "one_space", "two_spaces", "three_spaces"),
    *("in_suit", "blocked", "blocked_by", "waste", "waste_blocked"),
    *("next_buried", "hosts", "waste_hosts", "tops", "deal"),
)
"""Names of the pieces of advice in `heuristic.json`."""

(
    _CARDS_UP,  # cards on the foundations: play up early
    # Levels by which suits are ahead of the lowest by more than two: a card that is up can no
    # longer take cards in the tableau.
    _LEAD,
    _ONE_SPACE,  # at least one space: it gets a buried card out
    _TWO_SPACES,  # at least two
    _THREE_SPACES,  # at least three
    _IN_SUIT,  # cards lying on the next card of their suit: such piles peel off as a whole
    _BLOCKED,  # cards lying on one that is wanted earlier
    _BLOCKED_BY,  # how many levels too early the card below is wanted, summed
    _WASTE_SIZE,  # cards in the waste
    _WASTE_BLOCKED,  # waste cards lying on one that is wanted as early or earlier
    _NEXT_BURIED,  # cards on top of those that the foundations want next
    _HOSTS,  # unseen cards that some pile would take: keep the tops different
    _WASTE_HOSTS,  # the waste's top card has somewhere to go
    _TOPS,  # levels that the piles' top cards are away from going up, summed
    _DEAL,  # dealing: how much better another move must be
) = range(len(FEATURES))
_ONE = np.uint64(1)
_TUNED = Path(__file__).with_name("heuristic.json")


@jit
def _wanted_in(g, rule, card):
    """Levels until a card goes up: 0 if it goes now."""
    return relative_rank(g, rule, card) - np.int64(g.level[card & 3])


@jit
def _column(g, rule, place, is_waste, f):
    """Add the features of one pile, or of the waste, from its top card down.

    A card that lies on one that is wanted earlier has to leave first: it blocks.
    """
    card = g.top[place]
    above = 0
    while card != NO_CARD:
        wanted = _wanted_in(g, rule, card)
        if wanted == 0:
            f[_NEXT_BURIED] += above
        host = g.below[card]
        if host != NO_CARD:
            # Levels by which the card below goes up first.
            early = wanted - _wanted_in(g, rule, host)
            if is_waste:
                f[_WASTE_BLOCKED] += early >= 0
            else:
                f[_IN_SUIT] += early == -1 and (card & 3) == (host & 3)
                f[_BLOCKED] += early > 0
                f[_BLOCKED_BY] += max(early, 0)
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
        f[_LEAD] += max(np.int64(g.level[suit]) - lowest - 2, 0)
    f[_CARDS_UP] = g.cards_up
    spaces = 0
    takes = np.uint64(0)
    accepts = rule.accepts[g.base[0]]
    for pile in range(rule.piles):
        top = g.top[pile]
        if top == NO_CARD:
            spaces += 1
        else:
            takes |= accepts[top]
            f[_TOPS] += _wanted_in(g, rule, top)
            _column(g, rule, pile, False, f)
    f[_ONE_SPACE] = spaces >= 1
    f[_TWO_SPACES] = spaces >= 2
    f[_THREE_SPACES] = spaces >= 3
    f[_WASTE_SIZE] = g.height[WASTE]
    _column(g, rule, WASTE, True, f)
    f[_HOSTS] = popcount(takes & unseen)
    waste_card = g.top[WASTE]
    if waste_card != NO_CARD:
        has_host = (takes >> np.uint64(waste_card)) & _ONE != 0
        f[_WASTE_HOSTS] = has_host or _wanted_in(g, rule, waste_card) == 0


@jit
def _value(g, rule, unseen, weights, f):
    """The weighted sum of a position's features, without the threshold."""
    _features(g, rule, unseen, f)
    value = 0.0
    for i in range(_DEAL):
        value += weights[i] * f[i]
    return value


class HeuristicBuffers(NamedTuple):
    """Buffers of `choose_move`."""

    game: NDArray[Any]  # GAME (1,), the position after a move
    weights: NDArray[np.float64]  # (features,) at this stage of the stock
    features: NDArray[np.float64]  # (features,)
    gains: NDArray[np.float64]  # (actions,) what each legal move is worth; written for the caller


def new_buffers(rules: Rules) -> HeuristicBuffers:
    """Buffers for `choose_move`."""
    return HeuristicBuffers(
        np.zeros(1, GAME),
        np.zeros(len(FEATURES)),
        np.zeros(len(FEATURES)),
        np.zeros(len(all_moves(rules))),
    )


@jit
def choose_move(g, rule, mask, weights, buffers):
    """The move to play; -1 if there is none.

    Args:
        mask: a byte a move, not 0 where it may be played.
        weights: float64 of shape (2, features): with the stock full, and empty.
        buffers: `HeuristicBuffers`; the legal moves' ``gains`` are left in it.
    """
    after, w, f, gains = buffers.game, buffers.weights, buffers.features, buffers.gains
    unseen = stock_cards(g)
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
        target = rule.target[move]
        if target == STOCK or (source == STOCK and target == WASTE):
            turn = move  # deals or redeals; not played out, because the next card is hidden
            gains[move] = max(w[_DEAL], 1e-9)
            continue
        if FOUNDATION <= source < STOCK and stock_size(g) == 0:
            only = move  # worrying back could cycle with the last resort
            gains[move] = -1e9
            continue
        after[0] = g
        play(after[0], rule, move)
        gain = _value(after[0], rule, unseen, w, f) - here
        gains[move] = gain
        if gain > best_gain:
            best, best_gain = move, gain
        if (source in (WASTE, STOCK) or target == FOUNDATION) and gain > last_gain:
            last_resort, last_gain = move, gain
    if turn >= 0:
        return best if best >= 0 and best_gain > gains[turn] else turn
    # Nothing can be dealt, so a move may make the position worse. It must be one that cannot be
    # taken back, or play could cycle: from the waste, or to a foundation.
    if last_resort >= 0 and best_gain <= 1e-9:
        return last_resort
    return best if best >= 0 else only


@jit
def _choose_all(games, rules, masks, weights, buffers, actions):
    """`choose_move` for each game."""
    for i in range(len(games)):
        actions[i] = choose_move(games[i], rules[0], masks[i], weights, buffers)


@jit
def _play_out(games, rules, max_moves, words, mask, weights, buffers):
    """Play each game until it ends, goes round, or reaches the limit of moves."""
    for i in range(len(games)):
        g, idle = games[i], 0
        while idle < MOST_IDLE and g.moves < max_moves and legal(g, rules[0], True, words[0]):
            before = beside_the_piles(g)
            play(g, rules[0], choose_move(g, rules[0], mask[0], weights, buffers))
            idle = idle + 1 if beside_the_piles(g) == before else 0


@functools.cache
def read_weights() -> NDArray[np.float64]:
    """The tuned weights, float64 of shape (2, features): with the stock full, and empty."""
    table = json.loads(_TUNED.read_text())["weights"]
    return np.array([[table[name][end] for name in FEATURES] for end in (0, 1)])


class HeuristicAgent:
    """Plays the move that the weighted advice values most.

    Args:
        rules: the rule set to play.
    """

    mask = "distinct"

    def __init__(self, rules: Rules) -> None:
        self.rules, self._rule = rules, compile_rules(rules)
        self._weights = read_weights()
        self._buffers = new_buffers(rules)
        self._words, self._mask = new_masks(1, rules)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The best move in each game; deterministic."""
        check_masks(masks, len(games), self._mask.shape[1])
        actions = np.zeros(len(games), np.int64)
        _choose_all(games, self._rule, masks, self._weights, self._buffers, actions)
        return actions

    def play_out(self, games: NDArray[Any], max_moves: int, rng: np.random.Generator) -> None:
        """Play each game to its end; see `four_seasons_env.games.Games.play_out`."""
        own = self._words, self._mask, self._weights, self._buffers
        _play_out(games, self._rule, max_moves, *own)
