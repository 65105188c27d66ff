"""Rows of mask words in compiled code: count and list the legal moves, draw one at random.

`kernel.legal` writes a mask as words of eight moves, a byte each, 1 where a move is legal. The
functions read a word at a time and do not branch on single moves.
"""

from __future__ import annotations

import numpy as np

from four_seasons_env.engine.bits import lowest
from four_seasons_env.engine.jit import inlined, jit

_EACH = np.uint64(0x0101010101010101)  # one in each byte
_HIGH = np.uint64(0x8080808080808080)  # the highest bit of each byte
_3, _7, _56 = np.uint64(3), np.uint64(7), np.uint64(56)
_31, _33 = np.uint64(31), np.uint64(33)

_MULTIPLIER = np.uint64(6364136223846793005)  # of Knuth's MMIX generator, as is the increment
_INCREMENT = np.uint64(1442695040888963407)


@inlined
def count_moves(words):
    """How many moves are legal, as uint64."""
    count = np.uint64(0)
    for word in words:
        # The product has in its highest byte the sum of all bytes: 8 at most, so nothing overflows.
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
        past = np.uint64(0)
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
