"""Sums of table rows in compiled code: the first layer of a network over sparse features.

A candidate's features are row numbers (`four_seasons_env.next_deal.features`). The rows of each
suit are summed, those of each pile, and those of the game. After a ReLU, the suits' sums are added
up, and so are the piles'. A dense layer over the same features would take about fifteen times as
long.

The candidates of one decision have most of their rows in common. A candidate's sums are therefore
computed from those of the one before it: rows that it lacks are subtracted, its own are added.
Chess programs update the first layer of their networks like this (Nasu 2018, "NNUE").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.dense import Dense, ShapeError, apply_to_four
from four_seasons_env.engine.jit import jit
from four_seasons_env.next_deal.features import (
    GAME_ROWS,
    GAME_SLOTS,
    PILE_FEATURES,
    PILE_ROWS,
    SUIT_ROWS,
    SUIT_SLOTS,
)


class Candidates(NamedTuple):
    """The candidates to read."""

    rows: NDArray[np.int16]  # (n, slots) of all places, as the environment observes them
    decisions: NDArray[np.int64]  # (m,) the decision of each chosen candidate
    chosen: NDArray[np.int64]  # (m,) the candidates to read, among the rows

    def part(self, which: slice) -> Candidates:
        """Some of the chosen candidates."""
        return Candidates(self.rows, self.decisions[which], self.chosen[which])


class Tables(NamedTuple):
    """Rows of suits, piles and the game, float32 and flat: weights, or their gradients."""

    suits: NDArray[np.float32]
    piles: NDArray[np.float32]
    game: NDArray[np.float32]


class Widths(NamedTuple):
    """Numbers in a row of each table."""

    suit: int
    pile: int
    game: int


def tables_of(weights: Mapping[str, NDArray[np.float32]], prefix: str, widths: Widths) -> Tables:
    """The tables among named weights.

    Args:
        weights: with PREFIXsuits, PREFIXpiles and PREFIXgame.
        prefix: of their names.
        widths: of their rows.

    Raises:
        ShapeError: for a table that is missing or has another shape.
    """
    shapes = {
        "suits": (SUIT_ROWS, widths.suit),
        "piles": (PILE_ROWS, widths.pile),
        "game": (GAME_ROWS, widths.game),
    }
    for name, shape in shapes.items():
        table = weights.get(f"{prefix}{name}")
        if table is None or table.shape != shape:
            found = "missing" if table is None else f"of shape {table.shape}"
            raise ShapeError(f"{prefix}{name} is {found}, not of shape {shape}")
    return Tables(*(np.array(weights[f"{prefix}{name}"]).ravel() for name in shapes))


def pile_count(slots: int) -> int:
    """How many piles a row with this many slots describes."""
    return (slots - 4 * SUIT_SLOTS - GAME_SLOTS) // PILE_FEATURES


def sums_length(slots: int, widths: Widths) -> int:
    """How many sums a row with this many slots has: of four suits, the piles and the game."""
    return 4 * widths.suit + pile_count(slots) * widths.pile + widths.game


class Block(NamedTuple):
    """One suit, one pile, or the game: where it stands in the observation and in the sums."""

    start: int  # its slots
    end: int
    first: int  # its sums
    width: int


@jit
def _update_block(table, before, rows, block, sums):
    """Bring the sums of a block up to date.

    The table is flat, and its rows are addressed by number: a view of each would take more time
    than the sum.

    Args:
        before: the rows that are in the sums; set to ``rows``.
    """
    first, width = np.uintp(block.first), np.uintp(block.width)
    for i in range(block.start, block.end):
        old, new = np.int64(before[i]), np.int64(rows[i])  # counted from 1; 0 for no row
        if old == new:  # most slots of two candidates of a decision: this is what makes it fast
            continue
        before[i] = new
        out, into = np.uintp(old - 1) * width, np.uintp(new - 1) * width
        # Unsigned indices save Numba's test for negative ones. Where there is no row they are
        # meaningless, and the branches do not use them.
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
def update_sums(row, tables, widths, before, sums):
    """Bring the sums up to date for the next candidate of a decision.

    Args:
        row: int16 of shape (slots,), the candidate.
        tables: `Tables` of weights.
        widths: `Widths`, here a, b and c.
        before: int16 of shape (slots,), the candidate that the sums are of; set to ``row``.
        sums: float32 of shape (4 a + P b + c,): of each suit, each pile and the game.
    """
    suits, piles, game = tables
    a, b, c = widths
    # The observation's order: four suits, the piles, the game. The number of sums tells how many
    # piles there are.
    at = first = 0
    for _ in range(4):
        _update_block(suits, before, row, Block(at, at + SUIT_SLOTS, first, a), sums)
        at += SUIT_SLOTS
        first += a
    while first + c < len(sums):
        _update_block(piles, before, row, Block(at, at + PILE_FEATURES, first, b), sums)
        at += PILE_FEATURES
        first += b
    _update_block(game, before, row, Block(at, len(row), first, c), sums)


@jit
def _add_positive(sums, first, pooled, at, width):
    """Add the positive sums of a block to a part of ``pooled``."""
    first, at, width = np.uintp(first), np.uintp(at), np.uintp(width)
    for k in range(width):
        pooled[at + k] += max(sums[first + k], np.float32(0))


@jit
def pool(sums, widths, pooled):
    """Add up the positive sums of the suits, and of the piles; append those of the game.

    Args:
        sums: see `update_sums`.
        widths: `Widths`, here a, b and c.
        pooled: float32 of shape (a + b + c,), written.
    """
    a, b, c = widths
    # The order of suits, and of piles, has no meaning in the game. So their sums are added up, not
    # set side by side.
    pooled[:] = 0
    first = 0
    for _ in range(4):
        _add_positive(sums, first, pooled, 0, a)
        first += a
    while first + c < len(sums):
        _add_positive(sums, first, pooled, a, b)
        first += b
    _add_positive(sums, first, pooled, a + b, c)


class TableNetwork(NamedTuple):
    """Tables, a dense layer with a ReLU, and linear outputs."""

    tables: Tables
    widths: Widths
    hidden: Dense
    output: Dense


@jit
def evaluate(candidates, network, length, outputs):
    """The network's outputs for each candidate.

    Args:
        candidates: `Candidates`.
        network: `TableNetwork`.
        length: `sums_length` of the rows.
        outputs: float32 of shape (m, outputs), written.
    """
    rows, decisions, chosen = candidates
    widths, zero = network.widths, np.float32(0)
    before = np.zeros(rows.shape[1], np.int16)
    sums = np.zeros(length, np.float32)
    pooled = np.zeros((4, widths.suit + widths.pile + widths.game), np.float32)
    hidden = np.zeros((4, len(network.hidden.bias)), np.float32)
    output = np.zeros((4, outputs.shape[1]), np.float32)
    for first in range(0, len(chosen), 4):
        end = min(first + 4, len(chosen))  # the last four may have room for more than there are
        for i in range(first, end):
            # Each decision starts from zero, for two reasons. Its candidates share few rows with
            # those of another. And rounding errors add up from one update to the next, so values
            # would depend on which other decisions are in the batch.
            if i == 0 or decisions[i] != decisions[i - 1]:
                before[:] = 0
                sums[:] = 0
            update_sums(rows[chosen[i]], network.tables, widths, before, sums)
            pool(sums, widths, pooled[i - first])
        # Always four at once, also for the last candidates, so every candidate is summed in the
        # same way. Rows that are left over hold old numbers; their outputs are dropped.
        apply_to_four(pooled, network.hidden, hidden)
        for i in range(4):
            for k in range(hidden.shape[1]):
                hidden[i, k] = max(hidden[i, k], zero)
        apply_to_four(hidden, network.output, output)
        outputs[first:end] = output[: end - first]
