"""Networks over `places` as torch modules: `PlacesEncoder` and `MoveNetwork`.

On the CPU, compiled code adds up the rows of positions and moves: torch's `EmbeddingBag` takes
several times as long for the gradient. On other devices, a product of matrices adds them up.
`four_seasons_env.agents.network.rows` has the same functions for players without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from four_seasons_env.agents.network.checks import check_array
from four_seasons_env.agents.network.module import as_whole
from four_seasons_env.agents.network.rows import (
    MOST_ROWS,
    MOVE_ROWS,
    ROWS,
    add_move_slopes,
    add_slopes,
    kinds_of,
    move_rows_of,
    move_widths_of,
    rows_of,
    score_moves,
    sum_rows,
)
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.rules import Rules


class _SumRows(torch.autograd.Function):
    """`sum_rows` and `add_slopes` for torch, on the CPU."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        """The sums, float32 of shape (n, width), of rows, int16 of shape (n, MOST_ROWS)."""
        ctx.rows, ctx.shape = rows.numpy(), table.shape
        check_array("rows", ctx.rows, (np.int16,), (None, MOST_ROWS), ROWS - 1)
        sums = torch.empty(len(rows), table.shape[1], dtype=torch.float32)
        sum_rows(ctx.rows, _as_array(table), sums.numpy())
        return sums.to(table.dtype)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradient of the table."""
        gradient = torch.zeros(ctx.shape, dtype=torch.float32)
        add_slopes(ctx.rows, _as_array(slopes[0]), gradient.numpy())
        return None, gradient


class _ScoreMoves(torch.autograd.Function):
    """`score_moves` and `add_move_slopes` for torch, on the CPU."""

    @staticmethod
    def forward(
        ctx: Any, marked: torch.Tensor, rows: torch.Tensor, *inputs: torch.Tensor
    ) -> torch.Tensor:
        """The scores, float32 of shape (m,); the inputs are hidden, table and weights."""
        hidden, table, weights = map(_as_array, inputs)
        ctx.arguments = hidden, marked.numpy(), rows.numpy(), table, weights
        scores = torch.empty(len(marked), dtype=torch.float32)
        score_moves(*ctx.arguments, scores.numpy())
        return scores

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradients of the inputs."""
        hidden, _, _, table, weights = ctx.arguments
        gradients = tuple(np.zeros_like(each) for each in (hidden, table, weights))
        add_move_slopes(*ctx.arguments, _as_array(slopes[0]), gradients)
        return None, None, *map(torch.from_numpy, gradients)


def _as_array(tensor: torch.Tensor) -> NDArray[np.float32]:
    """A tensor for compiled code: float32, also where torch uses another dtype."""
    array: NDArray[np.float32] = tensor.detach().float().contiguous().numpy()
    return array


class CardTable(nn.Module):
    """A table of rows: each is the sum of a row of its own and of one that its kind shares.

    What is learned of a card of one suit so helps the same cards of the others from the start, and
    the rows of their own learn what differs: factored features, as in the networks of chess engines
    (NNUE).

    Args:
        kinds: the kind of each row, from `kinds_of`; int64 of shape (rows,).
        width: numbers in a row.
        scale: standard deviation of the first weights.
    """

    kinds: torch.Tensor

    def __init__(self, kinds: NDArray[np.int64], width: int, scale: float) -> None:
        super().__init__()
        self.rows = nn.Parameter(scale * torch.randn(len(kinds), width))
        self.shared = nn.Parameter(torch.zeros(int(kinds.max()) + 1, width))
        self.register_buffer("kinds", torch.from_numpy(kinds), persistent=False)
        with torch.no_grad():
            self.rows[0] = 0

    def forward(self) -> torch.Tensor:
        """The table, float32 of shape (rows, width)."""
        return self.rows + self.shared.index_select(0, self.kinds)


class PlacesEncoder(nn.Module):
    """The sums of the rows of positions.

    Args:
        width: numbers in a row of the table.
        ranks: of a suit, by the rule set.
    """

    def __init__(self, width: int, ranks: int = 13) -> None:
        super().__init__()
        self.table = CardTable(kinds_of(ranks)[0], width, 0.1)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The sums, float32 of shape (n, width), of rows as `rows_of` returns them.

        Raises:
            TypeError: on the CPU, for rows that are not int16.
            ValueError: on the CPU, for another shape, or rows that the table does not have.
        """
        table = self.table()
        if table.device.type == "cpu":
            sums: torch.Tensor = _SumRows.apply(rows, table)  # type: ignore[no-untyped-call]
            return sums
        return _sums(rows, table)


class MoveNetwork(nn.Module):
    """Scores the moves of positions, and values the positions.

    The actor's sum of a position's rows goes through a dense layer, whose units meet the rows of
    each move and give its score. The critic has a table of its own: its sum gives the value.

    Args:
        rules: the rule set.
        layers: the three `MoveWidths`.
    """

    def __init__(self, rules: Rules, layers: Sequence[int] = (128, 64, 64)) -> None:
        super().__init__()
        widths = move_widths_of(layers)
        self.rules = rules
        self.encoder = PlacesEncoder(widths.position, rules.ranks)
        self.dense = nn.Linear(widths.position, widths.move)
        self.moves = CardTable(kinds_of(rules.ranks)[1], widths.move, 0.3)
        self.score = nn.Parameter(0.02 * torch.randn(widths.move))
        self.critic = PlacesEncoder(widths.critic, rules.ranks)
        self.value = nn.Linear(widths.critic, 1)
        with torch.no_grad():
            nn.init.normal_(self.dense.weight, std=(2 / widths.position) ** 0.5)
            nn.init.normal_(self.value.weight, std=0.02)
            nn.init.zeros_(self.dense.bias)
            nn.init.zeros_(self.value.bias)

    def forward(
        self, places: torch.Tensor, masks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Scores, float32 of shape (n, A), and values, of shape (n,).

        Args:
            places: observations of shape (n, slots).
            masks: bool of shape (n, A); the scores of other moves are -1e8.

        Raises:
            TypeError: for masks of another dtype.
            ValueError: for observations of other rules, or scaled, or another shape.
        """
        observed: NDArray[np.uint8] = as_whole(places, torch.uint8).contiguous().numpy()
        rows = rows_of(observed, self.rules)
        moves = move_rows_of(observed, masks.cpu().contiguous().numpy(), self.rules)
        return self.score_rows(torch.from_numpy(rows), torch.from_numpy(moves), masks)

    def score_rows(
        self, rows: torch.Tensor, moves: torch.Tensor, masks: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """`forward` for the rows of positions and of moves, which may be kept for several epochs.

        Args:
            rows: int16 of shape (n, MOST_ROWS), as `rows_of` returns them.
            moves: int16 of shape (n, A, 4), as `move_rows_of` returns them.
            masks: bool of shape (n, A).

        Raises:
            TypeError: on the CPU, for other dtypes.
            ValueError: on the CPU, for other shapes, or rows that the tables do not have.
        """
        device = self.score.device
        rows, moves, masks = rows.to(device), moves.to(device), masks.to(device)
        if device.type == "cpu":
            shape = (len(rows), len(all_moves(self.rules)))
            check_array("masks", masks.numpy(), (np.bool_, np.int8), shape)
            check_array("moves", moves.numpy(), (np.int16,), (*shape, 4), MOVE_ROWS - 1)
        values = self.value(torch.relu(self.critic(rows))).squeeze(1).float()
        hidden, table = self.dense(torch.relu(self.encoder(rows))), self.moves()
        marked = masks.flatten().nonzero().squeeze(1)
        if device.type == "cpu":
            each = _ScoreMoves.apply(marked, moves, hidden, table, self.score)  # type: ignore[no-untyped-call]
        else:
            sums = _sums(moves.view(-1, 4).index_select(0, marked), table)
            sums = sums + hidden.index_select(0, marked // masks.shape[1])
            each = (torch.relu(sums) @ self.score).float()  # autocast may have made it bfloat16
        scores = torch.full((masks.numel(),), -1e8, dtype=torch.float32, device=device)
        return scores.index_copy(0, marked, each).view(masks.shape), values


def _sums(rows: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """The sums of rows of a table on another device; row 0 counts as zero.

    Rows become ones among zeros, so the sums and their gradient are products. `EmbeddingBag`
    sorts all rows for that.
    """
    kind = rows.device.type
    narrow = kind == "cuda" and torch.is_autocast_enabled(kind)
    dtype = torch.bfloat16 if narrow else table.dtype
    missing = -len(table) % 64  # tensor cores want lines of memory that are multiples of 16 bytes
    chosen = torch.zeros((len(rows), len(table) + missing), dtype=dtype, device=table.device)
    chosen.scatter_(1, rows.long(), 1)
    chosen[:, 0] = 0
    return chosen @ nn.functional.pad(table, (0, 0, 0, missing))
