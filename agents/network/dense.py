"""Dense layers in compiled code.

The order of a sum depends on its inputs alone, not on how many positions are evaluated at once, on
the number of threads or on the BLAS library that is installed. This matters where two positions
have the same value, such as two that differ in the order of their piles: the last bit decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.policy_files import PolicyFileError
from four_seasons_env.engine.jit import jit


class Dense(NamedTuple):
    """A dense layer, all float32."""

    weight: NDArray[np.float32]  # (inputs x outputs,), the weights of one input are contiguous
    bias: NDArray[np.float32]  # (outputs,)


def tensor_of(
    weights: Mapping[str, NDArray[np.float32]], name: str, shape: tuple[int, ...]
) -> NDArray[np.float32]:
    """A tensor by its name.

    Raises:
        PolicyFileError: if it is missing or has another shape.
    """
    tensor = weights.get(name)
    if tensor is None or tensor.shape != shape:
        found = "missing" if tensor is None else f"of shape {tensor.shape}"
        raise PolicyFileError(
            f"the weights do not fit their card: {name} is {found}, not of shape {shape}"
        )
    return np.array(tensor)


def dense_layer(
    weights: Mapping[str, NDArray[np.float32]], name: str, inputs: int, outputs: int
) -> Dense:
    """A layer from tensors that are named and shaped as in torch.

    Args:
        weights: with `NAME.weight` of shape (outputs, inputs) and `NAME.bias` of shape (outputs,).
        name: of the layer.
        inputs: expected number of inputs.
        outputs: expected number of outputs.

    Raises:
        PolicyFileError: for a tensor that is missing or has another shape.
    """
    weight = tensor_of(weights, f"{name}.weight", (outputs, inputs))
    # Transposed: the weights of one input are contiguous. So a zero input skips one stretch of
    # memory, and the loops over outputs read memory in order, which vector units need.
    return Dense(weight.T.ravel(), tensor_of(weights, f"{name}.bias", (outputs,)))


@jit
def apply_to_one(x, layer, used, out):
    """Write a layer's outputs for an input vector most of whose numbers are zero.

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
    count = 0
    for i in range(len(x)):
        used[count] = i  # overwritten if the input is zero: there is no branch to mispredict
        count += x[i] != 0
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
