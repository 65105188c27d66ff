"""The value network: how likely a position is to be won, from the rows of its sparse features.

The rows of a suit are summed to 128 numbers, those of a pile to 64, of the game to 64; below zero
they become zero; the suits' are added up and so are the piles'. Two dense layers make a probability
of that. One position costs a few microseconds, and learning from one (Adam on the cross-entropy)
some ten.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit, vectorised
from four_seasons_env.next_deal.features import (
    GAME_ROWS,
    PILE_FEATURES,
    PILE_ROWS,
    SUIT_ROWS,
    new_features,
    write_features,
)

_SUIT, _PILE, _GAME, _HIDDEN = 128, 64, 64, 32  # widths
_POOLED = _SUIT + _PILE + _GAME
_F1 = np.float32(1.0)


class Network(NamedTuple):
    """Weights, all float32."""

    suits: NDArray[np.float32]  # (SUIT_ROWS, 128)
    piles: NDArray[np.float32]  # (PILE_ROWS, 64)
    game: NDArray[np.float32]  # (GAME_ROWS, 64)
    hidden: NDArray[np.float32]  # (256, 32)
    hidden_bias: NDArray[np.float32]  # (32,)
    out: NDArray[np.float32]  # (32,)
    out_bias: NDArray[np.float32]  # (1,)


def new_network(seed: int) -> Network:
    """Random weights; sums of some thirty rows start at about unit size."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int, scale: float) -> NDArray[np.float32]:
        return (scale * rng.standard_normal(shape)).astype(np.float32)

    return Network(
        normal(SUIT_ROWS, _SUIT, scale=0.15),
        normal(PILE_ROWS, _PILE, scale=0.3),
        normal(GAME_ROWS, _GAME, scale=0.15),
        normal(_POOLED, _HIDDEN, scale=_POOLED**-0.5),
        np.zeros(_HIDDEN, np.float32),
        normal(_HIDDEN, scale=_HIDDEN**-0.5),
        np.zeros(1, np.float32),
    )


def zeros_like(network: Network) -> Network:
    """Weights of zero, to sum gradients and their moments in."""
    return Network(*(np.zeros_like(each) for each in network))


def new_work() -> Any:
    """Buffers for one position: features, and what the layers make of them."""
    return (
        new_features(),
        np.zeros((4, _SUIT), np.float32),
        np.zeros((12, _PILE), np.float32),
        np.zeros(_POOLED, np.float32),
        np.zeros(_HIDDEN, np.float32),
    )


@vectorised
def _sum_rows(table, rows, count, into):
    into[:] = 0
    for i in range(count):
        row = table[rows[i]]
        for k in range(len(into)):
            into[k] += row[k]


@vectorised
def _forward(network, work):
    """The probability of winning, from the features in ``work``; what it took stays there."""
    (suit_rows, pile_rows, game_rows, counted), suits, piles, pooled, hidden = work
    counts = counted[0]
    pooled[:] = 0
    for suit in range(4):
        _sum_rows(network.suits, suit_rows[suit], counts.suits[suit], suits[suit])
        for k in range(_SUIT):
            pooled[k] += max(suits[suit, k], np.float32(0))
    for pile in range(counts.piles):
        _sum_rows(network.piles, pile_rows[pile], PILE_FEATURES, piles[pile])
        for k in range(_PILE):
            pooled[_SUIT + k] += max(piles[pile, k], np.float32(0))
    game = pooled[_SUIT + _PILE :]
    _sum_rows(network.game, game_rows, counts.game, game)
    for k in range(_GAME):
        game[k] = max(game[k], np.float32(0))
    hidden[:] = network.hidden_bias
    for i in range(_POOLED):
        value = pooled[i]
        if value != 0:
            row = network.hidden[i]
            for k in range(_HIDDEN):
                hidden[k] += value * row[k]
    logit = network.out_bias[0]
    for k in range(_HIDDEN):
        logit += max(hidden[k], np.float32(0)) * network.out[k]
    return _F1 / (_F1 + np.exp(-logit))


@vectorised
def _backward(error, network, work, gradients, slope, pooled_slope):
    """Add the gradients of the cross-entropy; ``error`` is probability less target."""
    (suit_rows, pile_rows, game_rows, counted), suits, piles, pooled, hidden = work
    counts = counted[0]
    gradients.out_bias[0] += error
    for k in range(_HIDDEN):
        on = hidden[k] > 0
        gradients.out[k] += error * hidden[k] if on else np.float32(0)
        slope[k] = error * network.out[k] if on else np.float32(0)
        gradients.hidden_bias[k] += slope[k]
    for i in range(_POOLED):
        row, into = network.hidden[i], gradients.hidden[i]
        total = np.float32(0)
        for k in range(_HIDDEN):
            total += slope[k] * row[k]
        pooled_slope[i] = total
        value = pooled[i]
        if value != 0:
            for k in range(_HIDDEN):
                into[k] += value * slope[k]
    for suit in range(4):
        for k in range(_SUIT):
            suits[suit, k] = pooled_slope[k] if suits[suit, k] > 0 else np.float32(0)
        _add_to_rows(gradients.suits, suit_rows[suit], counts.suits[suit], suits[suit])
    for pile in range(counts.piles):
        for k in range(_PILE):
            piles[pile, k] = pooled_slope[_SUIT + k] if piles[pile, k] > 0 else np.float32(0)
        _add_to_rows(gradients.piles, pile_rows[pile], PILE_FEATURES, piles[pile])
    for k in range(_SUIT + _PILE, _POOLED):
        pooled_slope[k] = pooled_slope[k] if pooled[k] > 0 else np.float32(0)
    _add_to_rows(gradients.game, game_rows, counts.game, pooled_slope[_SUIT + _PILE :])


@vectorised
def _add_to_rows(table, rows, count, what):
    for i in range(count):
        row = table[rows[i]]
        for k in range(len(what)):
            row[k] += what[k]


@vectorised
def _adam(weights, gradients, mean, square, rate, share, correct_1, correct_2):
    """One step of Adam (Kingma and Ba 2015) on one array; the gradients are zero after it."""
    w, d, m, v = weights.ravel(), gradients.ravel(), mean.ravel(), square.ravel()
    b1, b2 = np.float32(0.9), np.float32(0.999)
    for i in range(len(w)):
        slope = d[i] * share
        m[i] = b1 * m[i] + (_F1 - b1) * slope
        v[i] = b2 * v[i] + (_F1 - b2) * slope * slope
        w[i] -= rate * m[i] * correct_1 / (np.sqrt(v[i] * correct_2) + np.float32(1e-8))
        d[i] = 0


@jit
def _step(network, learner, rate, share, correct_1, correct_2):
    """One step of Adam on all weights."""
    d, m, v = learner
    rates = (rate, share, correct_1, correct_2)
    _adam(network.suits, d.suits, m.suits, v.suits, *rates)
    _adam(network.piles, d.piles, m.piles, v.piles, *rates)
    _adam(network.game, d.game, m.game, v.game, *rates)
    _adam(network.hidden, d.hidden, m.hidden, v.hidden, *rates)
    _adam(network.hidden_bias, d.hidden_bias, m.hidden_bias, v.hidden_bias, *rates)
    _adam(network.out, d.out, m.out, v.out, *rates)
    _adam(network.out_bias, d.out_bias, m.out_bias, v.out_bias, *rates)


@jit
def value_of(g, rule, network, work):
    """How likely a position is to be won, float32."""
    write_features(g, rule, work[0])
    return _forward(network, work)


@jit
def add_gradients(g, target, rule, network, work, gradients, slopes):
    """Add the gradients of one position's cross-entropy, and return that, in nats."""
    p = value_of(g, rule, network, work)
    _backward(p - target, network, work, gradients, slopes[0], slopes[1])
    return -target * np.log(p + 1e-9) - (1 - target) * np.log(1 - p + 1e-9)


@jit
def learn(games, targets, order, rule, network, learner, work, slopes, steps, batch, rate):
    """Learn from positions in batches, once each.

    Args:
        targets: how likely each is to be won, float32 of shape (n,).
        order: the order to take them in, int64; what does not fill a batch is left out.
        learner: gradients and their first and second moments, a `Network` each.
        steps: int64 array of one, the steps of Adam so far.

    Returns:
        Mean cross-entropy, in nats.
    """
    loss = 0.0
    batches = len(order) // batch
    for start in range(0, batches * batch, batch):
        for i in order[start : start + batch]:
            loss += add_gradients(games[i], targets[i], rule, network, work, learner[0], slopes)
        steps[0] += 1
        share = np.float32(1.0 / batch)
        correct_1 = np.float32(1.0 / (1.0 - 0.9 ** steps[0]))
        correct_2 = np.float32(1.0 / (1.0 - 0.999 ** steps[0]))
        _step(network, learner, rate, share, correct_1, correct_2)
    return loss / max(batches * batch, 1)


def new_slopes() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Buffers for `learn`."""
    return np.zeros(_HIDDEN, np.float32), np.zeros(_POOLED, np.float32)
