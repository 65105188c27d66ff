"""Sums of table rows in compiled code, and their gradients: the first layer over positions.

Positions that follow one another have most of their rows in common. So the sums of a position are
computed from those of the previous one: missing rows are subtracted, new rows are added. Chess
engines call this an incrementally updated accumulator (Nasu 2018, "NNUE").

The pairs of cards in the waste are summed again for each height of the waste. Between two deals the
waste only loses cards from its top, so these sums hold for all positions of a decision.

An example: in deal 17 of four-seasons, T4>T1 moves the queen of clubs, alone in its pile, onto the
king of diamonds, and leaves a space. The row of the position before has 163 rows of tables:

    >>> from four_seasons_env.engine.kernel import compile_rules
    >>> from four_seasons_env.positions.features import row_length, write_row
    >>> before, after = np.zeros((2, row_length(5)), np.int16)
    >>> write_row(game.record[0], compile_rules(game.rules)[0], before)
    >>> write_row(game.after("T4>T1").record[0], compile_rules(game.rules)[0], after)
    >>> len(before), sum(before > 0), sum(after > 0)
    (268, np.int64(163), np.int64(157))
    >>> np.flatnonzero(before != after).tolist()
    [98, 99, 119, 120, 121, 122, 136, 137, 138, 139, 140, 141, 143, 151, 158]
    >>> before[98], after[98]
    (np.int16(108), np.int16(109))

Slots 98 and 99 are the king's: it now lies under one card. 119 to 122 are its pile, 136 to 141 the
pile that has become a space, and three are of the game: spaces and the tops of piles. So 15 rows
are subtracted and 9 added, where 157 would be summed anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.jit import jit
from four_seasons_env.positions.features import (
    GAME_ROWS,
    GAME_SLOTS,
    PILE_ROWS,
    PILE_SLOTS,
    SUIT_ROWS,
    SUIT_SLOTS,
    WASTE_SLOTS,
    pair_row,
    pile_count,
)


class Widths(NamedTuple):
    """Widths of the network."""

    suit: int  # numbers in a row of the suits' table
    pile: int  # numbers in a row of the piles' table
    game: int  # numbers in a row of the game's table, and of the pairs' table
    hidden: int  # units of the dense layer

    @property
    def pooled(self) -> int:
        """Inputs of the dense layer."""
        return self.suit + self.pile + self.game


class Tables(NamedTuple):
    """The tables or their gradients, flat: a view of each row would take more time than its sum."""

    suits: NDArray[Any]
    piles: NDArray[Any]
    game: NDArray[Any]
    pairs: NDArray[np.float32]


class SlotMap(NamedTuple):
    """Which sums a row's slots belong to, and where the sums are pooled."""

    widths: Sequence[int]  # of the rows of suits, piles and game
    ends: Sequence[int]  # of the slots of suits, piles and game
    # A block is the sums of one suit, one pile or the game.
    first: NDArray[np.int64]  # (slots,) the first sum of the block that a slot belongs to
    blocks: NDArray[np.int64]  # (blocks, 3) its first sum, its place in the pooled sums, its width


def slot_map_of(slots: int, widths: Widths) -> SlotMap:
    """The layout of rows with this many slots."""
    piles = pile_count(slots)
    a, b, c, _ = widths
    # Blocks of a kind, slots of each, its width, and its place in the pooled sums.
    kinds = [(4, SUIT_SLOTS, a, 0), (piles, PILE_SLOTS, b, a), (1, GAME_SLOTS, c, a + b)]
    first: list[int] = []
    blocks = []
    at = 0
    for count, size, width, place in kinds:
        for _ in range(count):
            first += [at] * size
            blocks.append((at, place, width))
            at += width
    ends = (4 * SUIT_SLOTS, len(first) - GAME_SLOTS, len(first))
    return SlotMap((a, b, c), ends, np.array(first), np.array(blocks))


def largest_rows(slots: int) -> NDArray[np.int64]:
    """The largest number in each slot of a row, int64 of shape (slots,)."""
    lengths = (4 * SUIT_SLOTS, pile_count(slots) * PILE_SLOTS, GAME_SLOTS, WASTE_SLOTS)
    return np.repeat([SUIT_ROWS, PILE_ROWS, GAME_ROWS, WASTE_SLOTS], lengths)


class Sums(NamedTuple):
    """The sums of a position, and the rows that are in them."""

    before: NDArray[np.int16]  # (slots,) the position
    blocks: NDArray[Any]  # sums of each suit, each pile and the game; dtype of the tables
    pairs: NDArray[np.float32]  # (53, game's width) sums of the waste's pairs, for each height
    summed: NDArray[np.int64]  # (1,) `pairs` is up to date for heights up to this one


def new_sums(slots: int, slot_map: SlotMap, dtype: Any) -> Sums:
    """Sums of zero, for tables of this dtype."""
    first, _, width = slot_map.blocks[-1]
    return Sums(
        np.zeros(slots, np.int16),
        np.zeros(first + width, dtype),
        np.zeros((WASTE_SLOTS + 1, width), np.float32),
        np.zeros(1, np.int64),
    )


@jit
def _update(table, width, begin, end, row, slot_map, sums):
    """Update the sums of one table's slots."""
    width = np.uintp(width)
    before, out = sums.before, sums.blocks
    for i in range(begin, end):
        old, new = np.int64(before[i]), np.int64(row[i])  # counted from 1; 0 for no row
        if old == new:  # true for most slots of consecutive positions: this makes it fast
            continue
        before[i] = new
        # Unsigned indices save Numba's test for negative ones. Where there is no row they are
        # meaningless, and the branches do not use them.
        first = np.uintp(slot_map.first[i])
        leaves, enters = np.uintp(old - 1) * width, np.uintp(new - 1) * width
        if old == 0:
            for k in range(width):
                out[first + k] += table[enters + k]
        elif new == 0:
            for k in range(width):
                out[first + k] -= table[leaves + k]
        else:
            for k in range(width):
                out[first + k] += table[enters + k] - table[leaves + k]


@jit
def _height(row, begin, before, summed):
    """The height of a row's waste, and how many cards from its bottom are summed already."""
    height = same = 0
    while begin + height < len(row) and row[begin + height] != 0:
        if same == height and height < summed and row[begin + height] == before[begin + height]:
            same += 1
        height += 1
    return height, same


@jit
def _update_pairs(table, row, begin, sums):
    """Update the sums of the waste's pairs; returns the height of the waste."""
    before, pairs = sums.before, sums.pairs
    # 1. Up to this height the sums are those of the waste before.
    height, same = _height(row, begin, before, sums.summed[0])
    if same == height:
        return height  # a waste whose sums are known
    # 2. Each card above it adds its pairs to the sums of the height below.
    width = np.uintp(pairs.shape[1])
    for upper in range(same, height):
        before[begin + upper] = row[begin + upper]
        into = pairs[upper + 1]
        into[:] = pairs[upper]
        for lower in range(upper):
            cards = row[begin + upper], row[begin + lower]
            at = np.uintp(pair_row(cards[0], cards[1], upper - lower)) * width
            for k in range(width):
                into[k] += table[at + k]
    sums.summed[0] = height
    return height


@jit
def update_sums(row, tables, slot_map, sums):
    """Update the sums for a position.

    Args:
        row: int16 of shape (slots,), the position.
        tables: `Tables` of weights.
        slot_map: `SlotMap`.
        sums: `Sums` of the position before.

    Returns:
        The height of its waste: ``sums.pairs`` has a row for each.
    """
    a, b, c = slot_map.widths
    suits_end, piles_end, game_end = slot_map.ends
    _update(tables.suits, a, 0, suits_end, row, slot_map, sums)
    _update(tables.piles, b, suits_end, piles_end, row, slot_map, sums)
    _update(tables.game, c, piles_end, game_end, row, slot_map, sums)
    return _update_pairs(tables.pairs, row, game_end, sums)


@jit
def pool(sums, height, slot_map, unit, pooled):
    """Add up the positive sums of the suits, and of the piles; append those of the game.

    Args:
        sums: `Sums`.
        height: of the waste.
        slot_map: `SlotMap`.
        unit: float32, by which the sums of blocks are multiplied.
        pooled: float32 of shape (a + b + c,), written.
    """
    zero, blocks = np.float32(0), sums.blocks
    # The order of suits, and of piles, has no meaning in the game. So their sums are added up, not
    # concatenated.
    pooled[:] = zero
    last = len(slot_map.blocks) - 1
    for block in range(last):
        first, at = np.uintp(slot_map.blocks[block, 0]), np.uintp(slot_map.blocks[block, 1])
        for k in range(np.uintp(slot_map.blocks[block, 2])):
            pooled[at + k] += max(np.float32(blocks[first + k]) * unit, zero)
    first, at = np.uintp(slot_map.blocks[last, 0]), np.uintp(slot_map.blocks[last, 1])
    pairs = sums.pairs[height]
    for k in range(np.uintp(len(pairs))):
        pooled[at + k] = max(np.float32(blocks[first + k]) * unit + pairs[k], zero)


@jit
def clear(sums):
    """Set all sums to zero, which removes accumulated rounding errors."""
    sums.before[:] = 0
    sums.blocks[:] = 0
    sums.summed[0] = 0


class Candidates(NamedTuple):
    """Positions to learn from; those of one decision follow one another."""

    rows: NDArray[np.int16]  # (n, slots)
    decisions: NDArray[np.int64]  # (m,) the decision of each chosen position
    chosen: NDArray[np.int64]  # (m,) the positions, among the rows


@jit
def forward(candidates, tables, slot_map, sums, above, pooled):
    """Sum the rows of the chosen positions.

    Args:
        candidates: `Candidates`, m of them.
        tables: `Tables` of weights, float32.
        slot_map: `SlotMap`.
        sums: `Sums`, overwritten.
        above: bool of shape (m, sums), written: which sums are above zero.
        pooled: float32 of shape (m, a + b + c), written: suits and piles added up.
    """
    rows, decisions, chosen = candidates
    game = slot_map.blocks[len(slot_map.blocks) - 1, 0]
    for i in range(len(chosen)):
        # Positions of different decisions share few rows, and rounding errors add up from one
        # update to the next.
        if i == 0 or decisions[i] != decisions[i - 1]:
            clear(sums)
        height = update_sums(rows[chosen[i]], tables, slot_map, sums)
        pool(sums, height, slot_map, np.float32(1), pooled[i])
        # The ReLU passes slopes back only where its input is above zero.
        over, blocks, pairs = above[i], sums.blocks, sums.pairs[height]
        for k in range(game):
            over[k] = blocks[k] > 0
        for k in range(len(pairs)):
            over[game + k] = blocks[game + k] + pairs[k] > 0


@jit
def _settle(table, width, begin, end, row, slot_map, sums):
    """Update the gradients of one table's slots.

    The gradient of a table row is the sum of the slopes while the row is in the sums. `backward`
    adds up all slopes of a decision. Their total so far is subtracted when a row enters the sums,
    and added when it leaves them, so a row is written to twice however many positions share it.
    """
    width = np.uintp(width)
    before, slopes = sums.before, sums.blocks
    for i in range(begin, end):
        old, new = np.int64(before[i]), np.int64(row[i])
        if old == new:
            continue
        before[i] = new
        first = np.uintp(slot_map.first[i])
        leaves, enters = np.uintp(old - 1) * width, np.uintp(new - 1) * width
        if old != 0:
            for k in range(width):
                table[leaves + k] += slopes[first + k]
        if new != 0:
            for k in range(width):
                table[enters + k] -= slopes[first + k]


@jit
def _settle_pairs(table, begin, sums):
    """Add the slopes of each height to the gradients of the pairs in a waste of that height.

    A pair is in every waste that reaches its upper card, so the slopes are added up from the
    highest waste down.
    """
    before, slopes = sums.before, sums.pairs
    width = np.uintp(slopes.shape[1])
    total = slopes[0]  # a waste without cards has no pairs
    total[:] = 0
    for upper in range(sums.summed[0] - 1, -1, -1):
        at_height = slopes[upper + 1]
        for k in range(width):
            total[k] += at_height[k]
        at_height[:] = 0
        for lower in range(upper):
            cards = before[begin + upper], before[begin + lower]
            at = np.uintp(pair_row(cards[0], cards[1], upper - lower)) * width
            for k in range(width):
                table[at + k] += total[k]
    sums.summed[0] = 0


@jit
def _settle_all(row, gradients, slot_map, sums):
    """`_settle` for each table; returns the height of the waste."""
    a, b, c = slot_map.widths
    suits_end, piles_end, game_end = slot_map.ends
    _settle(gradients.suits, a, 0, suits_end, row, slot_map, sums)
    _settle(gradients.piles, b, suits_end, piles_end, row, slot_map, sums)
    _settle(gradients.game, c, piles_end, game_end, row, slot_map, sums)
    height, same = _height(row, game_end, sums.before, sums.summed[0])
    # Another card lies where one was: the slopes of the pairs so far belong to the waste before. A
    # waste that only lost or gained cards on its top goes on to collect slopes by height.
    if same < min(height, sums.summed[0]):
        _settle_pairs(gradients.pairs, game_end, sums)
    if same < height:
        sums.before[game_end : game_end + height] = row[game_end : game_end + height]
        sums.summed[0] = height
    return height


@jit
def backward(candidates, gradients, slot_map, sums, above, slopes):
    """Add the gradients of the tables.

    Args:
        candidates: as in `forward`.
        gradients: `Tables`, added to.
        slot_map: `SlotMap`.
        sums: `Sums`, overwritten; here they are sums of slopes.
        above: as `forward` wrote it.
        slopes: float32 of shape (m, a + b + c), the gradient of the pooled sums.
    """
    rows, decisions, chosen = candidates
    nothing = np.zeros(rows.shape[1], np.int16)
    last = len(slot_map.blocks) - 1
    clear(sums)
    sums.pairs[:] = 0
    for i in range(len(chosen) + 1):
        # 1. At the end of a decision all rows leave the sums.
        if i == len(chosen) or (i > 0 and decisions[i] != decisions[i - 1]):
            _settle_all(nothing, gradients, slot_map, sums)
            _settle_pairs(gradients.pairs, slot_map.ends[2], sums)
            clear(sums)
        if i == len(chosen):
            break
        # 2. The rows that differ from the position before take, or give back, the slopes so far.
        height = _settle_all(rows[chosen[i]], gradients, slot_map, sums)
        # 3. The slopes of this position are added to the totals, where the ReLU lets them through.
        over, slope, totals = above[i], slopes[i], sums.blocks
        for block in range(len(slot_map.blocks)):
            first, at = np.uintp(slot_map.blocks[block, 0]), np.uintp(slot_map.blocks[block, 1])
            for k in range(np.uintp(slot_map.blocks[block, 2])):
                totals[first + k] += slope[at + k] * np.float32(over[first + k])
        first, at = slot_map.blocks[last, 0], slot_map.blocks[last, 1]
        pairs = sums.pairs[height]
        for k in range(len(pairs)):
            pairs[k] += slope[at + k] * np.float32(over[first + k])
