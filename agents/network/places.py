"""`PlacesEncoder`: the first layer of networks over `places`, as a torch module.

`four_seasons_env.agents.network.rows` computes the same without torch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from four_seasons_env.agents.network.rows import ROWS, add_slopes, rows_of, sum_rows
from four_seasons_env.rules import Rules


class _SumRows(torch.autograd.Function):
    """`sum_rows` and `add_slopes` for torch, on the CPU."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        """The sums, float32 of shape (n, width), of rows, int16 of shape (n, MOST_ROWS)."""
        ctx.rows, ctx.shape = rows.numpy(), table.shape
        sums = torch.empty(len(rows), table.shape[1])
        sum_rows(ctx.rows, table.detach().numpy(), sums.numpy())
        return sums

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradient of the table."""
        gradient = torch.zeros(ctx.shape)
        add_slopes(ctx.rows, slopes[0].contiguous().numpy(), gradient.numpy())
        return None, gradient


class PlacesEncoder(nn.Module):
    """The sums of the rows of positions.

    >>> encoder = PlacesEncoder(RULES["four-seasons"], 128)
    >>> encoder(torch.from_numpy(observations))  # float32 of shape (n, 128)

    Args:
        rules: the rule set of the observations.
        width: numbers in a row of the table.
    """

    def __init__(self, rules: Rules, width: int = 128) -> None:
        super().__init__()
        self.rules, self.width = rules, width
        self.table = nn.Parameter(0.1 * torch.randn(ROWS, width))

    def forward(self, places: torch.Tensor) -> torch.Tensor:
        """The sums, float32 of shape (n, width).

        On the CPU, compiled code adds up the rows: torch's `EmbeddingBag`, which sums them on other
        devices, takes several times as long for the gradient.

        Args:
            places: observations of shape (n, slots), uint8 or as Stable-Baselines3 converts them.
        """
        observed = places.to("cpu", torch.uint8).contiguous().numpy()
        rows = torch.from_numpy(rows_of(observed, self.rules))
        if self.table.device.type == "cpu":
            sums: torch.Tensor = _SumRows.apply(rows, self.table)  # type: ignore[no-untyped-call]
            return sums
        on_device = rows.to(self.table.device, torch.long)
        return nn.functional.embedding_bag(on_device, self.table, mode="sum", padding_idx=0)
