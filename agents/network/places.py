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
from torch import Tensor, nn

from four_seasons_env.agents.network import rows as compiled
from four_seasons_env.agents.network.checks import check_array
from four_seasons_env.agents.network.module import as_array, as_whole, check_tensor, refuse_graph
from four_seasons_env.agents.network.rows import MOST_ROWS, MOVE_ROWS, ROWS, kinds_of
from four_seasons_env.arguments import check_positive
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.rules import Rules, get_rules


class _Compiled(torch.autograd.Function):
    """A compiled function for torch, with its gradient, on the CPU."""

    @staticmethod
    def forward(ctx: Any, functions: Any, shape: Any, fixed: Any, *inputs: Tensor) -> Tensor:
        """The result, float32.

        Args:
            ctx: of torch.
            functions: two; `f(*fixed, *inputs, result)` writes the result, and
                `g(*fixed, *inputs, slopes, gradients)` adds to the gradients of the inputs.
            shape: of the result.
            fixed: a tuple of arrays that have no gradient.
            *inputs: tensors that have one.
        """
        write, ctx.add = functions
        ctx.fixed, ctx.inputs = fixed, tuple(map(as_array, inputs))
        result = torch.empty(shape, dtype=torch.float32)
        write(*ctx.fixed, *ctx.inputs, result.numpy())
        return result

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        """The gradients of the inputs."""
        refuse_graph()
        gradients = tuple(np.zeros_like(each) for each in ctx.inputs)
        ctx.add(*ctx.fixed, *ctx.inputs, as_array(slopes[0]), gradients)
        return None, None, None, *map(torch.from_numpy, gradients)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _compiled(write: Any, add: Any, shape: Any, fixed: Any, *inputs: Tensor) -> Tensor:
    """The result of a compiled function of tensors, which torch cannot look into.

    Args:
        write: `write(*fixed, *inputs, result)`.
        add: of its gradient, `add(*fixed, *inputs, slopes, gradients)`.
        shape: of the result.
        fixed: a tuple of arrays that have no gradient.
        *inputs: tensors that have one.
    """
    result: Tensor = _Compiled.apply((write, add), shape, fixed, *inputs)  # type: ignore[no-untyped-call]
    return result


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

    kinds: Tensor

    def __init__(self, kinds: NDArray[np.int64], width: int, scale: float) -> None:
        super().__init__()
        self.rows = nn.Parameter(scale * torch.randn(len(kinds), width))
        self.shared = nn.Parameter(torch.zeros(int(kinds.max()) + 1, width))
        self.register_buffer("kinds", torch.from_numpy(kinds), persistent=False)
        with torch.no_grad():
            self.rows[0] = 0

    def forward(self) -> Tensor:
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

    def forward(self, rows: Tensor) -> Tensor:
        """The sums, float32 of shape (n, width), of rows as `rows_of` returns them.

        Raises:
            TypeError: for an array of NumPy; on the CPU, for rows that are not int16.
            ValueError: on the CPU, for another shape, or rows that the table does not have.
        """
        check_tensor("rows", rows)
        table = self.table()
        if table.device.type != "cpu":
            return _sums(rows, table)
        array = rows.numpy()
        check_array("rows", array, (np.int16,), (None, MOST_ROWS), ROWS - 1)
        shape = len(rows), table.shape[1]
        sums: Tensor = _compiled(compiled.sum_rows, compiled.add_slopes, shape, (array,), table)
        return sums.to(table.dtype)


class MoveNetwork(nn.Module):
    """Scores the moves of positions, and values the positions.

    The actor's sum of a position's rows goes through a dense layer, whose units meet the rows of
    each move and give its score. The critic has a table of its own: its sum gives the value.

    Args:
        rules: a rule set's name or a `Rules`.
        layers: the three `MoveWidths`.
        outputs: numbers for each move, such as the quantiles of a distribution, or the members of
            an ensemble. They share all rows.

    Examples:
        >>> network = MoveNetwork("four-seasons", outputs=8)
        >>> places, masks = torch.from_numpy(observations), torch.from_numpy(masks).bool()
        >>> quantiles, values = network(places, masks)
        >>> quantiles.shape, values.shape
        (torch.Size([4, 32, 8]), torch.Size([4]))
    """

    def __init__(
        self, rules: str | Rules, layers: Sequence[int] = (128, 64, 64), outputs: int = 1
    ) -> None:
        super().__init__()
        widths, self.outputs = compiled.move_widths_of(layers), check_positive("outputs", outputs)
        self.rules = rules = get_rules(rules)
        self._actions = len(all_moves(rules))
        self.encoder = PlacesEncoder(widths.position, rules.ranks)
        self.dense = nn.Linear(widths.position, widths.move)
        self.moves = CardTable(kinds_of(rules.ranks)[1], widths.move, 0.3)
        several = () if outputs == 1 else (outputs,)
        self.score = nn.Parameter(0.02 * torch.randn(*several, widths.move))
        self.critic = PlacesEncoder(widths.critic, rules.ranks)
        self.value = nn.Linear(widths.critic, 1)
        with torch.no_grad():
            nn.init.normal_(self.dense.weight, std=(2 / widths.position) ** 0.5)
            nn.init.normal_(self.value.weight, std=0.02)
            nn.init.zeros_(self.dense.bias)
            nn.init.zeros_(self.value.bias)

    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def _rows(self, places: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """The rows of positions and of their moves; see `score_rows`."""
        observed: NDArray[np.uint8] = as_whole(places, torch.uint8).contiguous().numpy()
        rows = compiled.rows_of(observed, self.rules)
        moves = compiled.move_rows_of(observed, masks.cpu().contiguous().numpy(), self.rules)
        return torch.from_numpy(rows), torch.from_numpy(moves)

    def forward(self, places: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Scores, float32 of shape (n, A), and values, of shape (n,).

        With several outputs, scores are of shape (n, A, outputs).

        Args:
            places: observations of shape (n, slots).
            masks: bool or int8 of shape (n, A); the scores of other moves are -1e8.

        Raises:
            TypeError: for arrays of NumPy, or masks of another dtype.
            ValueError: for observations of other rules, or scaled, or another shape.
        """
        rows, moves = self._rows(places, check_tensor("masks", masks))
        return self.score_rows(rows, moves, masks)

    def score_rows(self, rows: Tensor, moves: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """`forward` for the rows of positions and of moves, which may be kept for several epochs.

        Args:
            rows: int16 of shape (n, MOST_ROWS), as `rows_of` returns them.
            moves: int16 of shape (n, A, 4), as `move_rows_of` returns them.
            masks: bool of shape (n, A).

        Raises:
            TypeError: for arrays of NumPy; on the CPU, for other dtypes.
            ValueError: on the CPU, for other shapes, or rows that the tables do not have.
        """
        # 1. The arguments, checked where compiled code uses their values as indices.
        device = self.score.device
        given = {"rows": rows, "moves": moves, "masks": masks}
        rows, moves, masks = (check_tensor(name, each).to(device) for name, each in given.items())
        if device.type == "cpu":
            shape = len(rows), self._actions
            check_array("masks", masks.numpy(), (np.bool_, np.int8), shape)
            check_array("moves", moves.numpy(), (np.int16,), (*shape, 4), MOVE_ROWS - 1)
        # 2. The critic.
        values = self.value(torch.relu(self.critic(rows))).squeeze(1).float()
        # 3. The actor: the position's units meet the rows of each marked move.
        hidden, table = self.dense(torch.relu(self.encoder(rows))), self.moves()
        marked = masks.flatten().nonzero().squeeze(1)
        if device.type != "cpu":
            sums = _sums(moves.view(-1, 4).index_select(0, marked), table)
            units = torch.relu(sums + hidden.index_select(0, marked // masks.shape[1]))
            # Autocast may have made it bfloat16.
            each = nn.functional.linear(units, self.score).float()
        elif self.outputs == 1:
            write, add = compiled.score_moves, compiled.add_move_slopes
            fixed = marked.numpy(), moves.numpy()
            each = _compiled(write, add, marked.shape, fixed, hidden, table, self.score)
        else:
            write, add = compiled.move_units, compiled.add_unit_slopes
            fixed, shape = (marked.numpy(), moves.numpy()), (len(marked), hidden.shape[1])
            units = _compiled(write, add, shape, fixed, hidden, table)
            each = nn.functional.linear(units.to(self.score), self.score).float()
        # 4. The scores in their places; what is not marked is as good as impossible.
        several = each.shape[1:]
        scores = torch.full((masks.numel(), *several), -1e8, dtype=torch.float32, device=device)
        return scores.index_copy(0, marked, each).view(*masks.shape, *several), values


def _sums(rows: Tensor, table: Tensor) -> Tensor:
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
