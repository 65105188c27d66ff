"""The network over positions as players evaluate it: compiled, without torch.

The tables of suits, piles and game are rounded to whole numbers of a small unit. Their sums are
therefore exact: a position's value does not depend on which position was evaluated before it.

In a dense layer, the order of a sum depends on its inputs alone, not on how many positions are
evaluated at once, on the number of threads or on the BLAS library that is installed. This matters
where two positions have the same value, such as two that differ in the order of their piles: the
last bit decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.sums import (
    SlotMap,
    Sums,
    Tables,
    Widths,
    new_sums,
    pool,
    slot_map_of,
    update_sums,
)
from four_seasons_env.agents.policy_files import PolicyFileError, Weights
from four_seasons_env.engine.jit import jit
from four_seasons_env.positions.features import (
    GAME_SLOTS,
    PILE_SLOTS,
    SUIT_SLOTS,
    TABLES,
    row_length,
)


class Dense(NamedTuple):
    """A dense layer, all float32."""

    weight: NDArray[np.float32]  # (inputs x outputs,), the weights of one input are contiguous
    bias: NDArray[np.float32]  # (outputs,)


class Network(NamedTuple):
    """The weights of a network."""

    tables: Tables  # int32, except for the pairs
    unit: np.float32  # value of 1 in the int32 tables
    hidden: Dense
    heads: Dense


class NetworkBuffers(NamedTuple):
    """Buffers for the evaluation of one position after another."""

    slot_map: SlotMap
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
    # 1. The tables, as float32 of the shapes that the widths say.
    widths = widths_of(layers)
    columns = {"suits": widths.suit, "piles": widths.pile, "game": widths.game}
    columns["pairs"] = widths.game
    tables = {
        name: tensor_of(weights, name, (rows, columns[name])) for name, rows in TABLES.items()
    }
    # 2. As int32: sums of integers are exact in any order, so a position's value does not depend on
    # the way to it. Pairs stay float32: they are summed anew for each waste.
    most = {"suits": SUIT_SLOTS, "piles": PILE_SLOTS, "game": GAME_SLOTS}  # rows in a sum
    largest = max(most[name] * float(np.abs(tables[name]).max()) for name in most)
    # The finest unit, a power of two, with which no sum reaches 2^31.
    shift = 30 - np.ceil(np.log2(max(largest, 1.0)))
    suits, piles, game = (
        np.rint(tables[name] * 2.0**shift).astype(np.int32).ravel() for name in most
    )
    return Network(
        Tables(suits, piles, game, tables["pairs"].ravel()),
        np.float32(2.0**-shift),
        dense_layer(weights, ["dense"], widths.pooled, widths.hidden),
        dense_layer(weights, heads, widths.hidden, 1),
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


def tensor_of(weights: Weights, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """A tensor by its name.

    Raises:
        PolicyFileError: if it is missing or has another shape.
    """
    tensor = weights.get(name)
    if tensor is None or tensor.shape != shape:
        found = "missing" if tensor is None else tensor.shape
        raise PolicyFileError(
            f"the weights do not fit their card: {name} must be of shape {shape}, not {found}"
        )
    return np.array(tensor)


def dense_layer(weights: Weights, names: Sequence[str], inputs: int, outputs: int) -> Dense:
    """A layer from tensors that are named and shaped as in torch, or several of them side by side.

    Args:
        weights: with `NAME.weight` of shape (outputs, inputs) and `NAME.bias` of shape (outputs,).
        names: of the layers.
        inputs: expected number of inputs of each.
        outputs: expected number of outputs of each.

    Raises:
        PolicyFileError: for a tensor that is missing or has another shape.
    """
    weight = [tensor_of(weights, f"{name}.weight", (outputs, inputs)) for name in names]
    bias = [tensor_of(weights, f"{name}.bias", (outputs,)) for name in names]
    # Transposed: the weights of one input are contiguous. So a zero input skips one stretch of
    # memory, and the loops over outputs read memory in order, which vector units need.
    return Dense(np.concatenate(weight).T.ravel(), np.concatenate(bias))


def new_network_buffers(network: Network, piles: int) -> NetworkBuffers:
    """Buffers for positions with this many piles."""
    tables, slots = network.tables, row_length(piles)
    a, b, c, _ = (len(each) // rows for each, rows in zip(tables, TABLES.values(), strict=True))
    widths = Widths(a, b, c, len(network.hidden.bias))
    slot_map = slot_map_of(slots, widths)
    return NetworkBuffers(
        slot_map,
        new_sums(slots, slot_map, np.int32),
        np.zeros(widths.pooled, np.float32),
        np.zeros(widths.hidden, np.float32),
        np.zeros(len(network.heads.bias), np.float32),
        np.zeros(slots, np.int16),
        np.zeros(max(widths.pooled, widths.hidden) + 1, np.int64),
    )


@jit
def apply_network(row, network, buffers):
    """Write the network's outputs for a position to ``buffers.outputs``.

    Args:
        row: int16 of shape (slots,); see `four_seasons_env.positions.features.write_row`.
        network: `Network`.
        buffers: `NetworkBuffers`, of the same network throughout.
    """
    # 1. The accumulator: only rows that differ from the position before.
    slot_map, sums, pooled, hidden, outputs, _, used = buffers
    height = update_sums(row, network.tables, slot_map, sums)
    # 2. ReLU, and the sums over suits and over piles.
    pool(sums, height, slot_map, network.unit, pooled)
    # 3. A dense layer with a ReLU, and the heads.
    apply_to_one(pooled, network.hidden, used, hidden)
    for k in range(len(hidden)):
        hidden[k] = max(hidden[k], np.float32(0))
    apply_to_one(hidden, network.heads, used, outputs)


@jit
def apply_network_to_all(rows, chosen, network, buffers, outputs):
    """Write the network's outputs for each chosen position.

    Args:
        rows: int16 of shape (n, slots).
        chosen: int64 of shape (m,), positions among the rows.
        network: `Network`.
        buffers: `NetworkBuffers`.
        outputs: float32 of shape (m, heads), written.
    """
    for i in range(len(chosen)):
        apply_network(rows[chosen[i]], network, buffers)
        outputs[i] = buffers.outputs


@jit
def apply_to_one(x, layer, used, out):
    """Write a layer's outputs for an input vector in which most numbers are zero.

    Zeros are skipped. The other inputs are added four at a time, so that each output is read and
    written a quarter as often. Weights are flat because a view of each row would take more time
    than its sum.

    Args:
        x: float32 of shape (inputs,).
        layer: `Dense`.
        used: int64 with room for the inputs and one more, overwritten.
        out: float32 of shape (outputs,), written.
    """
    weight, bias = layer
    # Unsigned, here and below: Numba then leaves out the test for negative indices.
    width = np.uintp(len(bias))
    out[:] = bias
    # 1. The indices of the inputs that are not zero.
    count = 0
    for i in range(len(x)):
        used[count] = i  # overwritten if the input is zero: there is no branch to mispredict
        count += x[i] != 0
    # 2. Four of them at a time, then the rest.
    fours = count - count % 4
    # The parentheses fix the order of the sum: the compiler must keep it, so the last bits do
    # not depend on how it vectorizes the loop.
    for j in range(0, fours, 4):
        i0, i1, i2, i3 = used[j], used[j + 1], used[j + 2], used[j + 3]
        x0, x1, x2, x3 = x[i0], x[i1], x[i2], x[i3]
        w0, w1 = np.uintp(i0) * width, np.uintp(i1) * width
        w2, w3 = np.uintp(i2) * width, np.uintp(i3) * width
        for k in range(width):
            out[k] += (x0 * weight[w0 + k] + x1 * weight[w1 + k]) + (
                x2 * weight[w2 + k] + x3 * weight[w3 + k]
            )
    for j in range(fours, count):
        value, w = x[used[j]], np.uintp(used[j]) * width
        for k in range(width):
            out[k] += value * weight[w + k]


@jit
def apply_to_all(x, layer, out):
    """`apply_to_one` for each of many vectors.

    Args:
        x: float32 of shape (n, inputs).
        layer: `Dense`.
        out: float32 of shape (n, outputs), written.
    """
    used = np.zeros(x.shape[1] + 1, np.int64)
    for i in range(len(x)):
        apply_to_one(x[i], layer, used, out[i])
