"""Dense layers in compiled code.

The order of a sum depends on its inputs alone, not on how many positions are evaluated at once, on
the number of threads or on the BLAS library that is installed. This matters where positions are
worth the same, such as two that differ in the order of their piles: the last bit decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit


class Dense(NamedTuple):
    """A dense layer, all float32."""

    weight: NDArray[np.float32]  # (inputs x outputs,), an input's weights side by side
    bias: NDArray[np.float32]  # (outputs,)


class ShapeError(ValueError):
    """Weights that are missing, or of another shape than expected."""


def dense_layer(
    weights: Mapping[str, NDArray[np.float32]], name: str, inputs: int, outputs: int
) -> Dense:
    """A layer from tensors that are named and shaped as in torch.

    Args:
        weights: with `NAME.weight` of shape (outputs, inputs) and `NAME.bias` of shape (outputs,).
        name: of the layer.
        inputs: expected number of them.
        outputs: likewise.

    Raises:
        ShapeError: for a tensor that is missing or has another shape.
    """
    shapes: dict[str, tuple[int, ...]] = {"weight": (outputs, inputs), "bias": (outputs,)}
    for part, shape in shapes.items():
        tensor = weights.get(f"{name}.{part}")
        if tensor is None or tensor.shape != shape:
            found = "missing" if tensor is None else f"of shape {tensor.shape}"
            raise ShapeError(f"{name}.{part} is {found}, not of shape {shape}")
    # Transposed: the weights of one input lie side by side. So a zero input skips one stretch of
    # memory, and the loops over outputs read the others in order, as vector units want it.
    return Dense(weights[f"{name}.weight"].T.ravel(), np.array(weights[f"{name}.bias"]))


@jit
def apply_sparse(x, layer, out):
    """Write a layer's outputs for input vectors most of whose numbers are zero, one by one.

    Zeros are skipped. The other inputs are added four at a time, so that each output is read and
    written a quarter as often. Weights are flat because a view of each row would take more time
    than its sum.

    Args:
        x: float32 of shape (n, inputs).
        layer: `Dense`.
        out: float32 of shape (n, outputs), written.
    """
    weight, bias = layer
    # Unsigned, here and below: Numba then leaves out the test for negative indices.
    width = np.uintp(len(bias))
    used = np.zeros(x.shape[1] + 1, np.int64)
    for row in range(len(x)):
        y, z = x[row], out[row]
        z[:] = bias
        count = 0
        for i in range(len(y)):
            used[count] = i  # overwritten unless the count goes on: no branch to mispredict
            count += y[i] != 0
        fours = count - count % 4
        # The parentheses fix the order of the sum: the compiler must keep it, so the last bits do
        # not depend on how it vectorizes the loop.
        for j in range(0, fours, 4):
            i0, i1, i2, i3 = used[j], used[j + 1], used[j + 2], used[j + 3]
            y0, y1, y2, y3 = y[i0], y[i1], y[i2], y[i3]
            w0, w1 = np.uintp(i0) * width, np.uintp(i1) * width
            w2, w3 = np.uintp(i2) * width, np.uintp(i3) * width
            for k in range(width):
                z[k] += (y0 * weight[w0 + k] + y1 * weight[w1 + k]) + (
                    y2 * weight[w2 + k] + y3 * weight[w3 + k]
                )
        for j in range(fours, count):
            value, w = y[used[j]], np.uintp(used[j]) * width
            for k in range(width):
                z[k] += value * weight[w + k]


@jit
def apply_to_four(x, layer, out):
    """Write a layer's outputs for four input vectors at once.

    Each weight is read once for all of them: a layer is larger than the fastest cache.

    Args:
        x: float32 of shape (4, inputs).
        layer: `Dense`.
        out: float32 of shape (4, outputs), written.
    """
    weight, bias = layer
    width = np.uintp(len(bias))
    a, b, c, d = x[0], x[1], x[2], x[3]
    to_a, to_b, to_c, to_d = out[0], out[1], out[2], out[3]
    for z in out:
        z[:] = bias
    # Four inputs of four vectors: sixteen products for four weights read.
    fours = len(a) - len(a) % 4
    for i in range(0, fours, 4):
        a0, a1, a2, a3 = a[i], a[i + 1], a[i + 2], a[i + 3]
        b0, b1, b2, b3 = b[i], b[i + 1], b[i + 2], b[i + 3]
        c0, c1, c2, c3 = c[i], c[i + 1], c[i + 2], c[i + 3]
        d0, d1, d2, d3 = d[i], d[i + 1], d[i + 2], d[i + 3]
        at0 = np.uintp(i) * width
        at1 = at0 + width
        at2 = at1 + width
        at3 = at2 + width
        for k in range(width):
            w0, w1, w2, w3 = weight[at0 + k], weight[at1 + k], weight[at2 + k], weight[at3 + k]
            to_a[k] += (a0 * w0 + a1 * w1) + (a2 * w2 + a3 * w3)
            to_b[k] += (b0 * w0 + b1 * w1) + (b2 * w2 + b3 * w3)
            to_c[k] += (c0 * w0 + c1 * w1) + (c2 * w2 + c3 * w3)
            to_d[k] += (d0 * w0 + d1 * w1) + (d2 * w2 + d3 * w3)
    for i in range(fours, len(a)):
        first = np.uintp(i) * width
        for y, z in ((a, to_a), (b, to_b), (c, to_c), (d, to_d)):
            for k in range(width):
                z[k] += y[i] * weight[first + k]
