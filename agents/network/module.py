"""The network over positions as a torch module; `evaluation` plays the same weights without torch.

With torch's `EmbeddingBag`, the backward pass would take most of the training time. The compiled
`sums` gives a row that many positions of a decision share the sum of their gradients at once. It
runs on the CPU, for tensors on any device.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from four_seasons_env.agents.network import sums as compiled
from four_seasons_env.agents.network.checks import UNSCALED, check_array
from four_seasons_env.agents.network.evaluation import widths_of
from four_seasons_env.positions.features import TABLES, pile_count, row_length


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor()


def check_tensor(name: str, value: Any) -> Tensor:
    """An argument that is a tensor of real numbers, each of them stored.

    Raises:
        TypeError: if it is not, such as an array of NumPy.
    """
    if not isinstance(value, Tensor):
        hint = ": pass torch.from_numpy(array)" if isinstance(value, np.ndarray) else ""
        raise TypeError(f"{name} must be a torch.Tensor, not a {type(value).__name__}{hint}")
    if value.is_complex() or value.layout != torch.strided:
        raise TypeError(
            f"{name} must be a dense tensor of real numbers, not {value.dtype}, {value.layout}"
        )
    return value


def as_array(tensor: Tensor) -> NDArray[np.float32]:
    """A tensor for compiled code: float32 on the CPU, also where torch uses another dtype."""
    array: NDArray[np.float32] = tensor.detach().float().contiguous().cpu().numpy()
    return array


def refuse_graph() -> None:
    """Refuse a second derivative, in a backward pass of compiled code, which has none.

    Without this, its part of the derivative would silently be 0.

    Raises:
        RuntimeError: if the backward pass was called with ``create_graph=True``.
    """
    if torch.is_grad_enabled():
        raise RuntimeError(
            "networks with compiled code have first derivatives only: leave out create_graph=True"
        )


class SumRows(torch.autograd.Function):
    """`sums.forward` and `sums.backward` for torch."""

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, decisions: Tensor, chosen: Tensor, parts: int, *tables: Tensor
    ) -> Tensor:
        """The pooled sums, float32 of shape (m, a + b + c).

        Args:
            ctx: of torch.
            rows: int16 of shape (n, slots).
            decisions: int64 of shape (m,), the decision of each chosen position.
            chosen: int64 of shape (m,), positions among the rows.
            parts: how many parts of the chosen positions are summed at once, by threads. The last
                bits of the gradients depend on it, not on the number of threads.
            *tables: suits, piles, game and pairs, float of shape (rows, width) each
                (`four_seasons_env.positions.features.TABLES`).

        Raises:
            TypeError: for arrays of NumPy, and tensors of other dtypes.
            ValueError: for other shapes, or values that are out of range.
        """
        # 1. The arguments as arrays, checked: compiled code uses their values as indices.
        given = {"rows": rows, "decisions": decisions, "chosen": chosen}
        arrays = [check_tensor(name, each).cpu().numpy() for name, each in given.items()]
        slots = rows.shape[1] if rows.ndim == 2 else 0
        if slots < row_length(1) or slots != row_length(pile_count(slots)):
            raise ValueError(f"rows must be features of positions, not of shape {(*rows.shape,)}")
        _check_tables(tables)
        slot_map = compiled.slot_map_of(slots, compiled.Widths(*(each.shape[1] for each in tables)))
        weights = compiled.Tables(*(as_array(each).ravel() for each in tables))
        check_array("chosen", arrays[2], (np.int64,), (None,), len(rows) - 1)
        check_array("decisions", arrays[1], (np.int64,), arrays[2].shape)
        largest = compiled.largest_rows(slots)
        check_array("rows", arrays[0], (np.int16,), arrays[0].shape, largest, arrays[2])
        # 2. Room for the results: the sums, and for the backward pass which are above zero.
        pooled = np.empty((len(chosen), sum(slot_map.widths)), np.float32)
        first, _, width = slot_map.blocks[-1]
        above = np.empty((len(chosen), first + width), np.bool_)

        # 3. Each part by a thread, with sums of its own.
        def sum_part(place: slice) -> tuple[slice, compiled.Candidates, compiled.Sums]:
            candidates = compiled.Candidates(arrays[0], arrays[1][place], arrays[2][place])
            sums = compiled.new_sums(slots, slot_map, np.float32)
            compiled.forward(candidates, weights, slot_map, sums, above[place], pooled[place])
            return place, candidates, sums

        size = max(-(-len(chosen) // parts), 1)
        places = [slice(at, at + size) for at in range(0, len(chosen), size)]
        summed = list(_threads().map(sum_part, places))
        ctx.saved = summed, slot_map, above, [each.shape for each in tables], tables[0].device
        return torch.from_numpy(pooled).to(tables[0])

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        """The gradients of the tables."""
        refuse_graph()
        summed, slot_map, above, shapes, device = ctx.saved
        slope = as_array(slopes[0])

        def sum_part(
            part: tuple[slice, compiled.Candidates, compiled.Sums],
        ) -> list[NDArray[np.float32]]:
            place, candidates, sums = part
            gradients = [np.zeros(shape, np.float32) for shape in shapes]
            tables = compiled.Tables(*(each.ravel() for each in gradients))
            compiled.backward(candidates, tables, slot_map, sums, above[place], slope[place])
            return gradients

        totals = [np.zeros(shape, np.float32) for shape in shapes]
        for gradients in _threads().map(sum_part, summed):  # added up in their order
            for total, gradient in zip(totals, gradients, strict=True):
                np.add(total, gradient, out=total)
        return (None, None, None, None, *(torch.from_numpy(each).to(device) for each in totals))


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _sum_rows(*arguments: Any) -> Any:
    """`SumRows`, into which torch's compiler cannot look."""
    return SumRows.apply(*arguments)  # type: ignore[no-untyped-call]


def _check_tables(tables: Sequence[Tensor]) -> None:
    """Check the tables of `SumRows`, whose rows compiled code reads without a look at their number.

    Raises:
        ValueError: unless they have the shapes of `TABLES`, with equal widths of game and pairs.
    """
    shapes = [tuple(each.shape) for each in tables]
    widths = [shape[-1] if shape else 0 for shape in shapes]
    needed = [(rows, width) for rows, width in zip(TABLES.values(), widths, strict=False)]
    if shapes != needed or len(shapes) != len(TABLES) or widths[2] != widths[3]:
        raise ValueError(
            f"tables must have {list(TABLES.values())} rows, those of game and pairs of one width, "
            f"not the shapes {shapes}"
        )


_SCALES = {"suits": 0.15, "piles": 0.3, "game": 0.15, "pairs": 0.0}
"""Standard deviations of the first weights. Each sum then starts at about unit size: about thirty
rows for a suit (0.15 x sqrt(30) = 0.8), six for a pile and thirty for the game."""


def as_whole(observations: Tensor, dtype: torch.dtype) -> Tensor:
    """Observations as whole numbers of a dtype, on the CPU; libraries keep some as floats.

    Raises:
        TypeError: see `check_tensor`.
        ValueError: for other numbers.
    """
    check_tensor("observations", observations)
    whole = observations.to("cpu", dtype)
    if observations.dtype != dtype and not torch.equal(whole.to(observations), observations):
        raise ValueError(
            f"observations must be whole numbers from the environment, not scaled: use {UNSCALED}"
        )
    return whole


class PositionNetwork(nn.Module):
    """Encodes positions, and applies linear heads.

    Args:
        layers: the four `Widths`, as a policy's card has them.
        heads: names of the heads; a caller that has its own gives none.

    Attributes:
        parts: how many parts of a batch are summed at once; see `SumRows`.
    """

    def __init__(self, layers: Sequence[int], heads: Sequence[str] = ()) -> None:
        super().__init__()
        self.parts = 1
        self.widths = widths = widths_of(layers)
        columns = {"suits": widths.suit, "piles": widths.pile}
        for name, rows in TABLES.items():
            table = _SCALES[name] * torch.randn(rows, columns.get(name, widths.game))
            self.register_parameter(name, nn.Parameter(table))
        self.dense = nn.Linear(widths.pooled, widths.hidden)
        self.heads = list(heads)
        for name in heads:
            self.add_module(name, nn.Linear(widths.hidden, 1))
        for layer in self.children():
            assert isinstance(layer, nn.Linear)
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
            nn.init.zeros_(layer.bias)

    def encode(self, rows: Tensor, decisions: Tensor, chosen: Tensor) -> Tensor:
        """The units of the dense layer, float32 of shape (m, hidden); see `SumRows.forward`."""
        tables = [self.get_parameter(name) for name in TABLES]
        return torch.relu(self.dense(_sum_rows(rows, decisions, chosen, self.parts, *tables)))

    def forward(self, rows: Tensor, decisions: Tensor, chosen: Tensor) -> Tensor:
        """The outputs of the heads, float32 of shape (m, heads); see `SumRows.forward`."""
        encoded = self.encode(rows, decisions, chosen)
        return torch.cat([self.get_submodule(name)(encoded) for name in self.heads], dim=1)
