"""The network as players evaluate it: compiled, without torch.

The tables of suits, piles and game are rounded to whole numbers of a small unit. Their sums are
therefore exact: a position's value does not depend on which position was evaluated before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.dense import (
    Dense,
    apply_to_one,
    dense_layer,
    tensor_of,
)
from four_seasons_env.agents.network.sums import (
    Layout,
    Sums,
    Tables,
    Widths,
    layout_of,
    new_sums,
    pool,
    update_sums,
)
from four_seasons_env.agents.policy_files import PolicyFileError
from four_seasons_env.engine.jit import jit
from four_seasons_env.positions.features import (
    GAME_SLOTS,
    PILE_FEATURES,
    SUIT_SLOTS,
    TABLES,
    row_length,
)

Weights = Mapping[str, NDArray[np.float32]]
"""Tensors by their names in torch."""


class Network(NamedTuple):
    """The weights of a network."""

    tables: Tables  # int32, except for the pairs
    unit: np.float32  # value of 1 in the int32 tables
    hidden: Dense
    heads: Dense


class Evaluation(NamedTuple):
    """Buffers for the evaluation of one position after another."""

    layout: Layout
    sums: Sums
    pooled: NDArray[np.float32]  # (a + b + c,)
    hidden: NDArray[np.float32]  # (hidden,)
    outputs: NDArray[np.float32]  # (heads,)
    row: NDArray[np.int16]  # (slots,) for the caller to write the position
    used: NDArray[np.int64]  # for `apply_to_one`


def network_of(weights: Weights, layers: Sequence[int], heads: Sequence[str]) -> Network:
    """A network from its weights.

    Args:
        weights: `suits`, `piles`, `game` and `pairs`, of shapes (rows, width); the layers `dense`
            and those of ``heads`` as in torch.
        layers: the four `Widths`, as a policy's card has them.
        heads: names of the heads, in the order of the outputs.

    Raises:
        PolicyFileError: for a tensor that is missing or has another shape.
    """
    widths = widths_of(layers)
    columns = {"suits": widths.suit, "piles": widths.pile, "game": widths.game}
    columns["pairs"] = widths.game
    tables = {
        name: tensor_of(weights, name, (rows, columns[name])) for name, rows in TABLES.items()
    }
    most = {"suits": SUIT_SLOTS, "piles": PILE_FEATURES, "game": GAME_SLOTS}  # rows in a sum
    largest = max(most[name] * float(np.abs(tables[name]).max()) for name in most)
    # The finest unit, a power of two, with which no sum reaches 2^31.
    shift = 30 - np.ceil(np.log2(max(largest, 1.0)))
    suits, piles, game = (
        np.rint(tables[name] * 2.0**shift).astype(np.int32).ravel() for name in most
    )
    return Network(
        Tables(suits, piles, game, tables["pairs"].ravel()),
        np.float32(2.0**-shift),
        dense_layer(weights, "dense", widths.pooled, widths.hidden),
        heads_of(weights, widths.hidden, heads),
    )


def heads_of(weights: Weights, inputs: int, heads: Sequence[str]) -> Dense:
    """Layers with one output each, as one layer."""
    each = [dense_layer(weights, name, inputs, 1) for name in heads]
    return Dense(
        np.stack([head.weight for head in each], axis=1).ravel(),
        np.concatenate([head.bias for head in each]),
    )


def widths_of(layers: Sequence[int]) -> Widths:
    """The widths in the `layers` of a policy's card or of hyperparameters.

    Raises:
        PolicyFileError: if they are not four.
    """
    if len(layers) != len(Widths._fields):
        raise PolicyFileError(
            f"layers must be four numbers (suits, piles, game, dense), not {list(layers)}"
        )
    return Widths(*layers)


def new_evaluation(network: Network, piles: int) -> Evaluation:
    """Buffers for positions with this many piles."""
    tables, slots = network.tables, row_length(piles)
    a, b, c, _ = (len(each) // rows for each, rows in zip(tables, TABLES.values(), strict=True))
    widths = Widths(a, b, c, len(network.hidden.bias))
    layout = layout_of(slots, widths)
    return Evaluation(
        layout,
        new_sums(slots, layout, np.int32),
        np.zeros(widths.pooled, np.float32),
        np.zeros(widths.hidden, np.float32),
        np.zeros(len(network.heads.bias), np.float32),
        np.zeros(slots, np.int16),
        np.zeros(max(widths.pooled, widths.hidden) + 1, np.int64),
    )


@jit
def evaluate(row, network, evaluation):
    """Write the network's outputs for a position to ``evaluation.outputs``.

    Args:
        row: int16 of shape (slots,); see `four_seasons_env.positions.features.write_row`.
        network: `Network`.
        evaluation: `Evaluation`, of the same network throughout.
    """
    layout, sums, pooled, hidden, outputs, _, used = evaluation
    height = update_sums(row, network.tables, layout, sums)
    pool(sums, height, layout, network.unit, pooled)
    apply_to_one(pooled, network.hidden, used, hidden)
    for k in range(len(hidden)):
        hidden[k] = max(hidden[k], np.float32(0))
    apply_to_one(hidden, network.heads, used, outputs)


@jit
def evaluate_all(rows, chosen, network, evaluation, outputs):
    """Write the network's outputs for each chosen position.

    Args:
        rows: int16 of shape (n, slots).
        chosen: int64 of shape (m,), positions among the rows.
        network: `Network`.
        evaluation: `Evaluation`.
        outputs: float32 of shape (m, heads), written.
    """
    for i in range(len(chosen)):
        evaluate(rows[chosen[i]], network, evaluation)
        outputs[i] = evaluation.outputs
