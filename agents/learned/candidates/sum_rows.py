"""`SumRows`: sums of table rows for torch, with a compiled backward pass.

Playing evaluates the same sums without torch (`four_seasons_env.agents.network.tables`). With
torch's `EmbeddingBag` the backward pass would take most of the training time. Here, a row that many
candidates of a decision share receives the sum of their gradients at once.

Threads share the candidates in a fixed number of parts, so that results do not depend on the number
of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch

from four_seasons_env.agents.network.tables import (
    Block,
    Candidates,
    Tables,
    Widths,
    pool,
    sums_length,
    update_sums,
)
from four_seasons_env.engine.jit import jit
from four_seasons_env.next_deal.features import PILE_FEATURES, SUIT_SLOTS

PARTS = 4
"""Into which the candidates are divided for threads."""


@jit
def forward(candidates, tables, widths, above, pooled):
    """Sum the rows of the chosen candidates.

    Args:
        candidates: `Candidates`, m of them.
        tables: `Tables` of weights.
        widths: `Widths`, here a, b and c.
        above: uint8 of shape (m, 4 a + P b + c), written: which sums are above zero.
        pooled: float32 of shape (m, a + b + c), written: suits and piles added up.
    """
    rows, decisions, chosen = candidates
    before = np.zeros(rows.shape[1], np.int16)
    sums = np.zeros(above.shape[1], np.float32)
    for i in range(len(chosen)):
        if i == 0 or decisions[i] != decisions[i - 1]:
            before[:] = 0
            sums[:] = 0
        update_sums(rows[chosen[i]], tables, widths, before, sums)
        pool(sums, widths, pooled[i])
        over = above[i]
        for k in range(len(sums)):
            over[k] = sums[k] > 0


@jit
def _settle(table, before, rows, block, totals):
    """Bring the gradients of a block up to date.

    The totals so far are subtracted from the gradient of a row that enters the sums, and added to
    that of a row that leaves them.

    Args:
        before: the rows that are in the sums; set to ``rows``.
        totals: sums of the slopes of this decision's candidates so far.
    """
    first, width = np.uintp(block.first), np.uintp(block.width)
    for i in range(block.start, block.end):
        old, new = np.int64(before[i]), np.int64(rows[i])
        if old == new:
            continue
        before[i] = new
        out, into = np.uintp(old - 1) * width, np.uintp(new - 1) * width
        if old != 0:
            for k in range(width):
                table[out + k] += totals[first + k]
        if new != 0:
            for k in range(width):
                table[into + k] -= totals[first + k]


@jit
def _add_passed(slopes, at, above, first, totals, width):
    """Add the slopes of positive sums to the totals."""
    first, at, width = np.uintp(first), np.uintp(at), np.uintp(width)
    for k in range(width):
        totals[first + k] += slopes[at + k] * np.float32(above[first + k])


@jit
def backward(candidates, gradients, widths, above, slopes):
    """Add the gradients of the tables.

    Args:
        candidates: as in `forward`, and so are ``widths`` and ``above``.
        gradients: `Tables`, added to.
        slopes: float32 of shape (m, a + b + c), the gradient of what was pooled.
    """
    rows, decisions, chosen = candidates
    a, b, c = widths
    count = (above.shape[1] - 4 * a - c) // b
    before = np.zeros(rows.shape[1], np.int16)
    nothing = np.zeros(rows.shape[1], np.int16)
    totals = np.zeros(above.shape[1], np.float32)
    for i in range(len(chosen) + 1):
        ends = i == len(chosen)
        if ends or (i > 0 and decisions[i] != decisions[i - 1]):
            _settle_all(before, nothing, totals, gradients, widths)
            totals[:] = 0
        if ends:
            break
        _settle_all(before, rows[chosen[i]], totals, gradients, widths)
        over, slope = above[i], slopes[i]
        first = 0
        for _ in range(4):
            _add_passed(slope, 0, over, first, totals, a)
            first += a
        for _ in range(count):
            _add_passed(slope, a, over, first, totals, b)
            first += b
        _add_passed(slope, a + b, over, first, totals, c)


@jit
def _settle_all(before, row, totals, gradients, widths):
    """`_settle` for each block of a candidate."""
    suits, piles, game = gradients
    a, b, c = widths
    count = (len(totals) - 4 * a - c) // b
    at = first = 0
    for _ in range(4):
        _settle(suits, before, row, Block(at, at + SUIT_SLOTS, first, a), totals)
        at += SUIT_SLOTS
        first += a
    for _ in range(count):
        _settle(piles, before, row, Block(at, at + PILE_FEATURES, first, b), totals)
        at += PILE_FEATURES
        first += b
    _settle(game, before, row, Block(at, len(row), first, c), totals)


@cache
def _pool_of(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


def _share_out(call: Any, count: int) -> None:
    """Call a function for each part of the candidates, in as many threads as torch uses."""
    edges = np.linspace(0, count, PARTS + 1).astype(int)
    parts = [(i, slice(edges[i], edges[i + 1])) for i in range(PARTS)]
    threads = min(torch.get_num_threads(), PARTS)
    if threads == 1:
        for part in parts:
            call(*part)
    else:
        list(_pool_of(threads).map(lambda part: call(*part), parts))


class SumRows(torch.autograd.Function):
    """`forward` and `backward` for torch."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: torch.Tensor,
        decisions: torch.Tensor,
        chosen: torch.Tensor,
        suits: torch.Tensor,
        piles: torch.Tensor,
        game: torch.Tensor,
    ) -> torch.Tensor:
        """What was pooled, float32 of shape (m, a + b + c); see the function of this name."""
        shapes = [each.shape for each in (suits, piles, game)]
        tables = Tables(*(each.detach().numpy().ravel() for each in (suits, piles, game)))
        widths = Widths(*(shape[1] for shape in shapes))
        candidates = Candidates(rows.numpy(), decisions.numpy(), chosen.numpy())
        above = np.empty((len(chosen), sums_length(rows.shape[1], widths)), np.uint8)
        pooled = np.empty((len(chosen), sum(widths)), np.float32)

        def run(_: int, part: slice) -> None:
            forward(candidates.part(part), tables, widths, above[part], pooled[part])

        _share_out(run, len(chosen))
        ctx.saved = candidates, above, shapes
        return torch.from_numpy(pooled)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradients of the tables."""
        candidates, above, shapes = ctx.saved
        slope = slopes[0].contiguous().numpy()
        widths = Widths(*(shape[1] for shape in shapes))
        gradients = [np.zeros((PARTS, *shape), np.float32) for shape in shapes]

        def run(i: int, part: slice) -> None:
            own = Tables(*(each[i].ravel() for each in gradients))
            backward(candidates.part(part), own, widths, above[part], slope[part])

        _share_out(run, len(candidates.chosen))
        return (None, None, None, *(torch.from_numpy(each.sum(axis=0)) for each in gradients))
