"""The value network: the probability that a position is won, from its sparse features.

The table rows of each suit are summed to 128 numbers, those of each pile to 64, those of the game
and of the pairs in its waste to 192. After a ReLU, the suits' sums are added up, and so are the
piles'. Two dense layers turn the 384 numbers into a probability. Valuing a position takes a few
microseconds, and a training step on it (Adam on the cross-entropy) about fifteen.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.planner.waste_pairs import (
    PAIR_ROWS,
    Waste,
    add_to_pairs,
    new_waste,
    note_waste,
)
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.next_deal.features import (
    GAME_ROWS,
    PILE_FEATURES,
    PILE_ROWS,
    SUIT_ROWS,
    new_features,
    write_features,
)

_SUIT, _PILE, _GAME, _HIDDEN = 128, 64, 192, 64  # widths
_POOLED = _SUIT + _PILE + _GAME
_INFINITE = np.float32(np.inf)
_F1 = np.float32(1.0)


class Network(NamedTuple):
    """Weights, all float32."""

    suits: NDArray[np.float32]  # (SUIT_ROWS, 128)
    piles: NDArray[np.float32]  # (PILE_ROWS, 64)
    game: NDArray[np.float32]  # (GAME_ROWS, 192)
    pairs: NDArray[np.float32]  # (PAIR_ROWS, 192)
    hidden: NDArray[np.float32]  # (384, 64)
    hidden_bias: NDArray[np.float32]  # (64,)
    out: NDArray[np.float32]  # (64,)
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
        np.zeros((PAIR_ROWS, _GAME), np.float32),
        normal(_POOLED, _HIDDEN, scale=_POOLED**-0.5),
        np.zeros(_HIDDEN, np.float32),
        normal(_HIDDEN, scale=_HIDDEN**-0.5),
        np.zeros(1, np.float32),
    )


def zeros_like(network: Network) -> Network:
    """A network of zeros: sums of gradients, or their moments."""
    return Network(*(np.zeros_like(each) for each in network))


class Activations(NamedTuple):
    """Features of one position, and the outputs of the layers."""

    features: Any  # see `new_features`
    suits: NDArray[np.float32]  # (4, 128) sums of rows
    piles: NDArray[np.float32]  # (12, 64) sums of rows; as many are used as the game has piles
    waste: Waste  # the sums of its pairs' rows
    pooled: NDArray[np.float32]  # (384,) after the ReLU: all suits, all piles, the game
    hidden: NDArray[np.float32]  # (64,) before the ReLU


def new_activations() -> Activations:
    """Buffers for one position."""
    return Activations(
        new_features(),
        np.zeros((4, _SUIT), np.float32),
        np.zeros((12, _PILE), np.float32),
        new_waste(_GAME),
        np.zeros(_POOLED, np.float32),
        np.zeros(_HIDDEN, np.float32),
    )


class Slopes(NamedTuple):
    """Gradients of the loss by the outputs of layers."""

    pooled: NDArray[np.float32]  # (384,)
    hidden: NDArray[np.float32]  # (64,)


class AdamState(NamedTuple):
    """State of Adam, and the buffers of a training step."""

    gradients: Network
    mean: Network  # of the gradients
    square: Network  # mean of the gradients' squares
    steps: NDArray[np.int64]  # (1,) of Adam so far
    activations: Activations
    slopes: Slopes


def new_adam(network: Network) -> AdamState:
    """Adam at its first step."""
    return AdamState(
        zeros_like(network),
        zeros_like(network),
        zeros_like(network),
        np.zeros(1, np.int64),
        new_activations(),
        Slopes(np.zeros(_POOLED, np.float32), np.zeros(_HIDDEN, np.float32)),
    )


class _AdamStep(NamedTuple):
    """Factors of one step of Adam, all float32."""

    rate: np.float32
    share: np.float32  # of one position in the batch
    correct_mean: np.float32  # for the zeros that the means started from
    correct_square: np.float32


@jit
def _sum_rows(table, rows, count, into):
    into[:] = 0
    for i in range(count):
        row = table[rows[i]]
        for k in range(len(into)):
            into[k] += row[k]


@jit
def _sum_of_products(a, b, least):
    """The sum of ``max(a, least) * b`` over `_HIDDEN` elements.

    Eight sums side by side, for the processor's vector units, are added up at the end. Left to the
    compiler, the order of a sum would change with what is compiled around it, and so would the last
    bits of a result.
    """
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = np.float32(0)
    for k in range(0, _HIDDEN, 8):
        s0 += max(a[k], least) * b[k]
        s1 += max(a[k + 1], least) * b[k + 1]
        s2 += max(a[k + 2], least) * b[k + 2]
        s3 += max(a[k + 3], least) * b[k + 3]
        s4 += max(a[k + 4], least) * b[k + 4]
        s5 += max(a[k + 5], least) * b[k + 5]
        s6 += max(a[k + 6], least) * b[k + 6]
        s7 += max(a[k + 7], least) * b[k + 7]
    return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))


@jit
def _forward(network, height, activations):
    """The probability of a win, from ``activations.features``; writes the layers' outputs.

    Args:
        height: cards in the waste.
        activations: its ``waste`` is noted.
    """
    (suit_rows, pile_rows, game_rows, counted) = activations.features
    counts = counted[0]
    suits, piles = activations.suits, activations.piles
    pooled, hidden = activations.pooled, activations.hidden
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
    pairs = activations.waste.sums[height]
    for k in range(_GAME):
        game[k] = max(game[k] + pairs[k], np.float32(0))
    hidden[:] = network.hidden_bias
    for i in range(_POOLED):
        value = pooled[i]
        if value != 0:
            row = network.hidden[i]
            for k in range(_HIDDEN):
                hidden[k] += value * row[k]
    logit = network.out_bias[0] + _sum_of_products(hidden, network.out, np.float32(0))
    return _F1 / (_F1 + np.exp(-logit))


@jit
def _backward(g, error, rule, network, adam):
    """Add the gradients of the cross-entropy to ``adam.gradients``.

    Args:
        g: the position.
        error: probability less target.
        adam: its activations are those of `_forward`; the sums of rows are overwritten.
    """
    (suit_rows, pile_rows, game_rows, counted) = adam.activations.features
    counts = counted[0]
    suits, piles = adam.activations.suits, adam.activations.piles
    pooled, hidden = adam.activations.pooled, adam.activations.hidden
    gradients, slope, pooled_slope = adam.gradients, adam.slopes.hidden, adam.slopes.pooled
    gradients.out_bias[0] += error
    for k in range(_HIDDEN):
        on = hidden[k] > 0
        gradients.out[k] += error * hidden[k] if on else np.float32(0)
        slope[k] = error * network.out[k] if on else np.float32(0)
        gradients.hidden_bias[k] += slope[k]
    for i in range(_POOLED):
        row, into = network.hidden[i], gradients.hidden[i]
        pooled_slope[i] = _sum_of_products(slope, row, -_INFINITE)
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
    game_slope = pooled_slope[_SUIT + _PILE :]
    _add_to_rows(gradients.game, game_rows, counts.game, game_slope)
    add_to_pairs(g, rule, adam.activations.waste, game_slope, gradients.pairs)


@jit
def _add_to_rows(table, rows, count, what):
    for i in range(count):
        row = table[rows[i]]
        for k in range(len(what)):
            row[k] += what[k]


@jit
def _adam(weights, gradients, mean, square, step):
    """One step of Adam (Kingma and Ba 2015) on one array; sets the gradients to zero."""
    w, d, m, v = weights.ravel(), gradients.ravel(), mean.ravel(), square.ravel()
    b1, b2 = np.float32(0.9), np.float32(0.999)
    for i in range(len(w)):
        slope = d[i] * step.share
        m[i] = b1 * m[i] + (_F1 - b1) * slope
        v[i] = b2 * v[i] + (_F1 - b2) * slope * slope
        w[i] -= (
            step.rate
            * m[i]
            * step.correct_mean
            / (np.sqrt(v[i] * step.correct_square) + np.float32(1e-8))
        )
        d[i] = 0


@jit
def _update(network, adam, step):
    """One step of Adam on all weights."""
    d, m, v = adam.gradients, adam.mean, adam.square
    _adam(network.suits, d.suits, m.suits, v.suits, step)
    _adam(network.piles, d.piles, m.piles, v.piles, step)
    _adam(network.game, d.game, m.game, v.game, step)
    _adam(network.pairs, d.pairs, m.pairs, v.pairs, step)
    _adam(network.hidden, d.hidden, m.hidden, v.hidden, step)
    _adam(network.hidden_bias, d.hidden_bias, m.hidden_bias, v.hidden_bias, step)
    _adam(network.out, d.out, m.out, v.out, step)
    _adam(network.out_bias, d.out_bias, m.out_bias, v.out_bias, step)


@jit
def value_of(g, rule, network, activations):
    """The probability that a position is won, float32."""
    note_waste(g, rule, network.pairs, activations.waste)
    return value_of_reached(g, rule, network, activations)


@jit
def value_of_reached(g, rule, network, activations):
    """`value_of` a position that follows one whose waste has been noted, with no deal between."""
    write_features(g, rule, activations.features)
    return _forward(network, g.height[WASTE], activations)


@jit
def add_gradients(g, target, rule, network, adam):
    """Add the gradients of one position's cross-entropy, and return that, in nats."""
    p = value_of(g, rule, network, adam.activations)
    _backward(g, p - target, rule, network, adam)
    return -target * np.log(p + 1e-9) - (1 - target) * np.log(1 - p + 1e-9)


@jit
def learn(games, targets, order, rule, network, adam, batch_size, learning_rate):
    """Learn from positions in batches, once each.

    Args:
        games: GAME array of shape (n,).
        targets: the probability that each is won, float32 of shape (n,).
        order: int64, the positions in the order to learn from them; an incomplete last batch is
            left out.
        rule: the compiled rule set.
        network: `Network`; changed.
        adam: `AdamState`; changed.
        batch_size: positions in a step of Adam.
        learning_rate: float32.

    Returns:
        Mean cross-entropy, in nats.
    """
    loss = 0.0
    batches = len(order) // batch_size
    for start in range(0, batches * batch_size, batch_size):
        for i in order[start : start + batch_size]:
            loss += add_gradients(games[i], targets[i], rule, network, adam)
        adam.steps[0] += 1
        step = _AdamStep(
            learning_rate,
            np.float32(1.0 / batch_size),
            np.float32(1.0 / (1.0 - 0.9 ** adam.steps[0])),
            np.float32(1.0 / (1.0 - 0.999 ** adam.steps[0])),
        )
        _update(network, adam, step)
    return loss / max(batches * batch_size, 1)
