"""The network as a torch module; `evaluation` evaluates the same weights without torch.

With torch's `EmbeddingBag`, the backward pass would take most of the training time. `sums` gives a
row that many positions of a decision share the sum of their gradients at once. They run on the
CPU, for tensors on any device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from four_seasons_env.agents.network.evaluation import widths_of
from four_seasons_env.agents.network.sums import (
    Candidates,
    Tables,
    Widths,
    backward,
    forward,
    new_sums,
    slot_map_of,
)
from four_seasons_env.positions.features import TABLES


class SumRows(torch.autograd.Function):
    """`sums.forward` and `sums.backward` for torch."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: torch.Tensor,
        decisions: torch.Tensor,
        chosen: torch.Tensor,
        *tables: torch.Tensor,
    ) -> torch.Tensor:
        """The pooled sums, float32 of shape (m, a + b + c).

        Args:
            ctx: of torch.
            rows: int16 of shape (n, slots).
            decisions: int64 of shape (m,), the decision of each chosen position.
            chosen: int64 of shape (m,), positions among the rows.
            *tables: suits, piles, game and pairs.
        """
        shapes, device = [each.shape for each in tables], tables[0].device
        weights = Tables(*(each.detach().cpu().numpy().ravel() for each in tables))
        slot_map = slot_map_of(rows.shape[1], Widths(*(shape[1] for shape in shapes)))
        candidates = Candidates(*(each.cpu().numpy() for each in (rows, decisions, chosen)))
        sums = new_sums(rows.shape[1], slot_map, np.float32)
        above = np.empty((len(chosen), len(sums.blocks)), np.bool_)
        pooled = np.empty((len(chosen), sum(slot_map.widths)), np.float32)
        forward(candidates, weights, slot_map, sums, above, pooled)
        ctx.saved = candidates, slot_map, sums, above, shapes, device
        return torch.from_numpy(pooled).to(device)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradients of the tables."""
        candidates, slot_map, sums, above, shapes, device = ctx.saved
        gradients = [np.zeros(shape, np.float32) for shape in shapes]
        slope = slopes[0].contiguous().cpu().numpy()
        backward(
            candidates, Tables(*(each.ravel() for each in gradients)), slot_map, sums, above, slope
        )
        return (None, None, None, *(torch.from_numpy(each).to(device) for each in gradients))


_SCALES = {"suits": 0.15, "piles": 0.3, "game": 0.15, "pairs": 0.0}
"""Scales of the first weights. Each sum then starts at about unit size: about thirty rows for a
suit, six for a pile and thirty for the game."""


class PositionNetwork(nn.Module):
    """Encodes positions, and applies linear heads.

    Args:
        layers: the four `Widths`, as a policy's card has them.
        heads: names of the heads; a caller that has its own gives none.
    """

    def __init__(self, layers: Sequence[int], heads: Sequence[str] = ()) -> None:
        super().__init__()
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

    def encode(
        self, rows: torch.Tensor, decisions: torch.Tensor, chosen: torch.Tensor
    ) -> torch.Tensor:
        """The units of the dense layer, float32 of shape (m, hidden); see `SumRows`."""
        tables = [self.get_parameter(name) for name in TABLES]
        pooled = SumRows.apply(rows, decisions, chosen, *tables)  # type: ignore[no-untyped-call]
        return torch.relu(self.dense(pooled))

    def forward(
        self, rows: torch.Tensor, decisions: torch.Tensor, chosen: torch.Tensor
    ) -> torch.Tensor:
        """The outputs of the heads, float32 of shape (m, heads); see `SumRows`."""
        encoded = self.encode(rows, decisions, chosen)
        return torch.cat([self.get_submodule(name)(encoded) for name in self.heads], dim=1)
