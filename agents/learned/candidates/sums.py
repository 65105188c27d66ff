"""Sums of table rows, compiled: the first layer of a network over sparse features.

A candidate's features are row numbers (`four_seasons_env.next_deal.features`). The rows of a suit
are summed, and those of a pile, and those of the game; below zero a sum becomes zero; the suits'
are added up and so are the piles'. As dense layers over the same features these sums would cost
some fifteen times as much; as torch's `EmbeddingBag` the backward pass would take most of the time.

The candidates of one decision have most of their rows in common. So a candidate's sums are those of
the one before it, less the rows that it lacks, plus those that it has instead; and a row that many
candidates share gets the sum of their gradients at once. That is how chess programs keep the first
layer of their networks (Nasu 2018, "NNUE"), here with its gradients.

The candidates are shared among threads in a fixed number of parts, so that the results do not
depend on how many threads there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import torch

from four_seasons_env.engine.jit import vectorised
from four_seasons_env.next_deal.features import GAME_SLOTS, PILE_FEATURES, SUIT_SLOTS

PARTS = 4
"""In which the candidates are shared among threads."""


@vectorised
def _update(table, before, rows, at, end, sums, first, width):
    """Bring sums of rows up to date with slots ``at`` to ``end``; ``before`` is what they hold.

    The table is flat, and its rows are addressed by number: a view of each would cost more than
    the sum.
    """
    first, width = np.uintp(first), np.uintp(width)
    for i in range(at, end):
        old, new = np.int64(before[i]), np.int64(rows[i])
        if old == new:
            continue
        before[i] = new
        out, into = np.uintp(old - 1) * width, np.uintp(new - 1) * width
        if old == 0:
            for k in range(width):
                sums[first + k] += table[into + k]
        elif new == 0:
            for k in range(width):
                sums[first + k] -= table[out + k]
        else:
            for k in range(width):
                sums[first + k] += table[into + k] - table[out + k]


@vectorised
def _settle(table, before, rows, at, end, totals, first, width):
    """Bring gradients up to date; ``totals`` are the sums of the slopes so far of this decision.

    A row that joins the sums is charged with what has gone before; one that leaves gets it all.
    """
    first, width = np.uintp(first), np.uintp(width)
    for i in range(at, end):
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


@vectorised
def _pool(sums, above, first, pooled, at, width):
    """Add up sums that are above zero, and note which are."""
    first, at, width = np.uintp(first), np.uintp(at), np.uintp(width)
    for k in range(width):
        value = sums[first + k]
        above[first + k] = value > 0
        pooled[at + k] += max(value, np.float32(0))


@vectorised
def _add_passed(slopes, at, above, first, totals, width):
    """Add the slopes that pass where a sum was above zero."""
    first, at, width = np.uintp(first), np.uintp(at), np.uintp(width)
    for k in range(width):
        totals[first + k] += slopes[at + k] * np.float32(above[first + k])


@vectorised
def forward(rows, decisions, chosen, tables, widths, above, pooled):
    """Sum the rows of the chosen candidates.

    Args:
        rows: int16 of shape (n, slots), as the environment observes them.
        decisions: int64 of shape (m,): which decision each chosen candidate belongs to.
        chosen: int64 of shape (m,), the candidates among the rows.
        tables: of suits, piles and game, float32, flat.
        widths: of their rows: a, b and c.
        above: uint8 of shape (m, 4 a + P b + c), written: which sums are above zero.
        pooled: float32 of shape (m, a + b + c), written: suits and piles added up.
    """
    suits, piles, game = tables
    a, b, c = widths
    slots = rows.shape[1]
    count = (above.shape[1] - 4 * a - c) // b
    before = np.zeros(slots, np.int16)
    sums = np.zeros(above.shape[1], np.float32)
    for i in range(len(chosen)):
        if i == 0 or decisions[i] != decisions[i - 1]:
            before[:] = 0
            sums[:] = 0
        row, over, into = rows[chosen[i]], above[i], pooled[i]
        into[:] = 0
        at = first = 0
        for _ in range(4):
            _update(suits, before, row, at, at + SUIT_SLOTS, sums, first, a)
            _pool(sums, over, first, into, 0, a)
            at += SUIT_SLOTS
            first += a
        for _ in range(count):
            _update(piles, before, row, at, at + PILE_FEATURES, sums, first, b)
            _pool(sums, over, first, into, a, b)
            at += PILE_FEATURES
            first += b
        _update(game, before, row, at, slots, sums, first, c)
        _pool(sums, over, first, into, a + b, c)


@vectorised
def backward(rows, decisions, chosen, tables, widths, above, slopes):
    """Add the gradients of the tables to ``tables``.

    Args:
        rows: as in `forward`, and so are ``decisions``, ``chosen``, ``widths`` and ``above``.
        tables: of suits, piles and game, float32, flat.
        slopes: float32 of shape (m, a + b + c), the gradient of what was pooled.
    """
    a, b, c = widths
    count = (above.shape[1] - 4 * a - c) // b
    before = np.zeros(rows.shape[1], np.int16)
    nothing = np.zeros(rows.shape[1], np.int16)
    totals = np.zeros(above.shape[1], np.float32)
    for i in range(len(chosen) + 1):
        ends = i == len(chosen)
        if ends or (i > 0 and decisions[i] != decisions[i - 1]):
            _settle_all(before, nothing, totals, tables, widths, count)
            totals[:] = 0
        if ends:
            break
        _settle_all(before, rows[chosen[i]], totals, tables, widths, count)
        over, slope = above[i], slopes[i]
        first = 0
        for _ in range(4):
            _add_passed(slope, 0, over, first, totals, a)
            first += a
        for _ in range(count):
            _add_passed(slope, a, over, first, totals, b)
            first += b
        _add_passed(slope, a + b, over, first, totals, c)


@vectorised
def _settle_all(before, row, totals, tables, widths, count):
    """`_settle` for each list of rows of a candidate."""
    suits, piles, game = tables
    a, b, c = widths
    at = first = 0
    for _ in range(4):
        _settle(suits, before, row, at, at + SUIT_SLOTS, totals, first, a)
        at += SUIT_SLOTS
        first += a
    for _ in range(count):
        _settle(piles, before, row, at, at + PILE_FEATURES, totals, first, b)
        at += PILE_FEATURES
        first += b
    _settle(game, before, row, at, len(row), totals, first, c)


@cache
def _pool_of(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


def _share_out(call: Any, count: int) -> None:
    """Call a function for each part of so many candidates, in torch's number of threads."""
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
        tables = tuple(each.detach().numpy().ravel() for each in (suits, piles, game))
        widths = tuple(shape[1] for shape in shapes)
        read = rows.numpy(), decisions.numpy(), chosen.numpy()
        count = (rows.shape[1] - 4 * SUIT_SLOTS - GAME_SLOTS) // PILE_FEATURES
        sums = 4 * widths[0] + count * widths[1] + widths[2]
        above = np.empty((len(chosen), sums), np.uint8)
        pooled = np.empty((len(chosen), sum(widths)), np.float32)

        def run(_: int, part: slice) -> None:
            of_part = read[0], read[1][part], read[2][part]
            forward(*of_part, tables, widths, above[part], pooled[part])

        _share_out(run, len(chosen))
        ctx.kept = read, above, shapes
        return torch.from_numpy(pooled)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradients of the tables."""
        (rows, decisions, chosen), above, shapes = ctx.kept
        slope = slopes[0].contiguous().numpy()
        widths = tuple(shape[1] for shape in shapes)
        gradients = [np.zeros((PARTS, *shape), np.float32) for shape in shapes]

        def run(i: int, part: slice) -> None:
            own = tuple(each[i].ravel() for each in gradients)
            backward(rows, decisions[part], chosen[part], own, widths, above[part], slope[part])

        _share_out(run, len(chosen))
        return (None, None, None, *(torch.from_numpy(each.sum(axis=0)) for each in gradients))
