"""Sums of table rows, compiled: the first layer of a network over sparse features.

A candidate's features are row numbers (`four_seasons_env.next_deal.features`). The rows of each
suit are summed, those of each pile, and those of the game. After a ReLU, the suits' sums are added
up, and so are the piles'. Dense layers over the same features would take about fifteen times as
long, and with torch's `EmbeddingBag` the backward pass would take most of the time.

The candidates of one decision have most of their rows in common. A candidate's sums are therefore
computed from those of the one before it: rows that it lacks are subtracted, its own are added. In
the backward pass, a row that many candidates share receives the sum of their gradients at once.
Chess programs update the first layer of their networks like this (Nasu 2018, "NNUE"); here its
gradients are computed so as well.

Threads share the candidates in a fixed number of parts, so that results do not depend on the number
of threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch

from four_seasons_env.engine.jit import jit
from four_seasons_env.next_deal.features import GAME_SLOTS, PILE_FEATURES, SUIT_SLOTS

PARTS = 4
"""Into which the candidates are divided for threads."""


class Choice(NamedTuple):
    """The candidates to read."""

    rows: Any  # int16 (n, slots) of all candidates, as the environment observes them
    decisions: Any  # int64 (m,) the decision of each chosen candidate
    chosen: Any  # int64 (m,) the candidates to read, among the rows

    def part(self, which: slice) -> Choice:
        """Some of the chosen candidates."""
        return Choice(self.rows, self.decisions[which], self.chosen[which])


class Tables(NamedTuple):
    """Rows of suits, piles and the game, float32: weights, or their gradients."""

    suits: Any  # flat
    piles: Any  # flat
    game: Any  # flat


class Widths(NamedTuple):
    """Numbers in a row of each table."""

    suit: int
    pile: int
    game: int


class _Block(NamedTuple):
    """One suit, one pile, or the game: where it stands in the observation and in the sums."""

    start: int  # its slots
    end: int
    first: int  # its sums
    width: int


@jit
def _update(table, before, rows, block, sums):
    """Bring the sums of a block up to date.

    The table is flat, and its rows are addressed by number: a view of each would take more time
    than the sum.

    Args:
        before: the rows that are in the sums; set to ``rows``.
    """
    first, width = np.uintp(block.first), np.uintp(block.width)
    for i in range(block.start, block.end):
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
def _pool(sums, above, first, pooled, at, width):
    """Add the positive sums to ``pooled``, and write to ``above`` which they are."""
    first, at, width = np.uintp(first), np.uintp(at), np.uintp(width)
    for k in range(width):
        value = sums[first + k]
        above[first + k] = value > 0
        pooled[at + k] += max(value, np.float32(0))


@jit
def _add_passed(slopes, at, above, first, totals, width):
    """Add the slopes of positive sums to the totals."""
    first, at, width = np.uintp(first), np.uintp(at), np.uintp(width)
    for k in range(width):
        totals[first + k] += slopes[at + k] * np.float32(above[first + k])


@jit
def forward(choice, tables, widths, above, pooled):
    """Sum the rows of the chosen candidates.

    Args:
        choice: `Choice` of m candidates.
        tables: `Tables` of weights.
        widths: `Widths`, here a, b and c.
        above: uint8 of shape (m, 4 a + P b + c), written: which sums are above zero.
        pooled: float32 of shape (m, a + b + c), written: suits and piles added up.
    """
    rows, decisions, chosen = choice
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
            _update(suits, before, row, _Block(at, at + SUIT_SLOTS, first, a), sums)
            _pool(sums, over, first, into, 0, a)
            at += SUIT_SLOTS
            first += a
        for _ in range(count):
            _update(piles, before, row, _Block(at, at + PILE_FEATURES, first, b), sums)
            _pool(sums, over, first, into, a, b)
            at += PILE_FEATURES
            first += b
        _update(game, before, row, _Block(at, slots, first, c), sums)
        _pool(sums, over, first, into, a + b, c)


@jit
def backward(choice, gradients, widths, above, slopes):
    """Add the gradients of the tables.

    Args:
        choice: as in `forward`, and so are ``widths`` and ``above``.
        gradients: `Tables`, added to.
        slopes: float32 of shape (m, a + b + c), the gradient of what was pooled.
    """
    rows, decisions, chosen = choice
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
        _settle(suits, before, row, _Block(at, at + SUIT_SLOTS, first, a), totals)
        at += SUIT_SLOTS
        first += a
    for _ in range(count):
        _settle(piles, before, row, _Block(at, at + PILE_FEATURES, first, b), totals)
        at += PILE_FEATURES
        first += b
    _settle(game, before, row, _Block(at, len(row), first, c), totals)


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
        choice = Choice(rows.numpy(), decisions.numpy(), chosen.numpy())
        count = (rows.shape[1] - 4 * SUIT_SLOTS - GAME_SLOTS) // PILE_FEATURES
        sums = 4 * widths.suit + count * widths.pile + widths.game
        above = np.empty((len(chosen), sums), np.uint8)
        pooled = np.empty((len(chosen), sum(widths)), np.float32)

        def run(_: int, part: slice) -> None:
            forward(choice.part(part), tables, widths, above[part], pooled[part])

        _share_out(run, len(chosen))
        ctx.saved = choice, above, shapes
        return torch.from_numpy(pooled)

    @staticmethod
    def backward(ctx: Any, *slopes: torch.Tensor) -> Any:
        """The gradients of the tables."""
        choice, above, shapes = ctx.saved
        slope = slopes[0].contiguous().numpy()
        widths = Widths(*(shape[1] for shape in shapes))
        gradients = [np.zeros((PARTS, *shape), np.float32) for shape in shapes]

        def run(i: int, part: slice) -> None:
            own = Tables(*(each[i].ravel() for each in gradients))
            backward(choice.part(part), own, widths, above[part], slope[part])

        _share_out(run, len(choice.chosen))
        return (None, None, None, *(torch.from_numpy(each.sum(axis=0)) for each in gradients))
