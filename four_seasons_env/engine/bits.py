"""Bits in compiled code: sets of cards in a uint64, and rows of mask words.

`kernel.legal` writes a mask as words of eight moves, a byte each, 1 where a move is legal. The
functions here count, list and draw these moves a word at a time and do not branch on single moves.
Byte j of word k is move 8 k + j, and the lowest byte of a word is its first move:

    moves   0  1  2  3  4  5  6  7      deal, T1>F and W>T0 are legal
    bytes   1  0  0  1  0  0  0  1      the word 0x0100000001000001
    sums    1  1  1  2  2  2  2  3      the word times 0x0101010101010101: in each byte, the legal
                                        moves up to it; in the highest, all of them (`count_moves`)

`nth_move(words, 1)`, the move with one legal move before it, is 3: the sums of three bytes are at
most 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic as _intrinsic

from four_seasons_env.engine.jit import INTERPRETED, inlined, jit

ZERO, ONE = np.uint64(0), np.uint64(1)
"""As uint64: with any other integer, compiled code would make floats of words and keys."""
_EACH = np.uint64(0x0101010101010101)  # one in each byte
_HIGH = np.uint64(0x8080808080808080)  # the highest bit of each byte
_3, _7, _56 = np.uint64(3), np.uint64(7), np.uint64(56)
_31, _33 = np.uint64(31), np.uint64(33)

_MULTIPLIER = np.uint64(6364136223846793005)  # of Knuth's MMIX generator, as is the increment
_INCREMENT = np.uint64(1442695040888963407)


# --- words as sets -----------------------------------------------------------------------------


def intrinsic(number: Callable[[int], int]) -> Callable[..., Any]:
    """Numba's decorator, with types; compiled callers omit the typing context.

    Args:
        number: the same for an int, if the code runs as Python.
    """
    if INTERPRETED:
        return lambda _: lambda word: np.uint64(number(int(word)))
    made: Callable[..., Any] = _intrinsic
    return made


@intrinsic(int.bit_count)
def popcount(typing_context: Any, word: Any) -> Any:
    """How many bits of a uint64 are set, as a uint64."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic(lambda word: (word & -word).bit_length() - 1 if word else 64)
def lowest(typing_context: Any, word: Any) -> Any:
    """The number of the lowest bit that is set in a uint64, as a uint64; 64 for none."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, False))

    return types.uint64(types.uint64), generate


@inlined
def bit_set(numbers, first, last):
    """The bit set, as a uint64, of the numbers (each below 64) at indices first to last - 1."""
    word = ZERO
    for i in range(first, last):
        word |= ONE << np.uint64(numbers[i])
    return word


# --- words of a mask ---------------------------------------------------------------------------


@inlined
def count_moves(words):
    """How many moves are legal, as uint64."""
    count = ZERO
    for word in words:
        # The highest byte of the product is the sum of all bytes: 8 or less, so nothing overflows.
        count += (word * _EACH) >> _56
    return count


@inlined
def nth_move(words, n):
    """The number of the legal move that has n (uint64, less than their count) before it."""
    # Find the word of the move; then n counts the legal moves before it in that word.
    at = 0
    for i in range(len(words)):
        count = (words[i] * _EACH) >> _56
        if n < count:
            at = i
            break
        n -= count
    up_to = words[at] * _EACH  # in byte j: legal moves among 0 to j of this word
    # 1 in the bytes where that is <= n: these are the bytes before the move. The high bit of each
    # byte is set first, so no byte borrows from the next; it stays set where n is large enough.
    before = ((((n * _EACH) | _HIGH) - up_to) & _HIGH) >> _7
    return 8 * at + np.int64((before * _EACH) >> _56)


@inlined
def next_move(words, move):
    """The number of the first legal move after a move, or after -1; -1 if there is none."""
    past = np.uint64(8 * ((move + 1) & 7))  # bits of the first word that were there before
    for at in range((move + 1) >> 3, len(words)):
        left = (words[at] >> past) << past
        if left:
            return 8 * at + np.int64(lowest(left) >> _3)  # number of a bit / 8: the byte
        past = ZERO
    return -1


@inlined
def draw_move(words, state):
    """Draw a legal move, each as likely; ``state`` is a uint64 array of one, the random state."""
    state[0] = state[0] * _MULTIPLIER + _INCREMENT
    # The high bits of such a generator are the random ones: 31 of them times the count, / 2^31.
    return nth_move(words, ((state[0] >> _33) * count_moves(words)) >> _31)


@jit
def draw_moves(words, state, moves):
    """`draw_move` for each row of words (n, words) that has a legal move, into moves (n,) int64."""
    for i in range(len(words)):
        moves[i] = draw_move(words[i], state)
