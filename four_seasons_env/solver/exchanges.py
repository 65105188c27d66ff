"""An easier game: cards of one class may change places in the tableau whenever the player likes.

Cards of a class are of one rank and pack alike, so only one thing changes by an exchange: which of
them goes up when one is uncovered. A position is then the shape of its piles; which card lies where
does not matter. What cannot be won so cannot be won at all. The more cards are in a class of their
own, the nearer this is to the game itself.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import lowest
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.rules import Rules
from four_seasons_env.solver.relaxation import ONE, ZERO
from four_seasons_env.solver.safe_moves import WASTE_UP

EXCHANGE = 200
"""Code of the first move that plays a card up after an exchange: plus 4 * pile + suit. Codes below
are the numbers of moves; games with more moves than that have no exchanges."""
MOST_CODES = 320
"""Moves and exchanges that a position has at most."""
_3 = np.uint64(3)


def make_classes(rules: Rules, record: Any, apart: Container[int] = ()) -> NDArray[np.uint8]:
    """[card] -> its class: the number of a card; those of one class may change places.

    Args:
        record: a GAME record; only its bases matter.
        apart: cards that keep their places.
    """
    classes = np.arange(53, dtype=np.uint8)
    rule = kernel.compile_rules(rules)[0]
    if rule["actions"] > EXCHANGE:
        return classes
    hosts = rule["accepts"][record["base"][0]]
    first: dict[tuple[int, int, int], int] = {}
    for card in range(4 * rules.ranks):
        if card not in apart:
            alike = card >> 2, int(rule["key"][card]), int(hosts[card])
            classes[card] = first.setdefault(alike, card)
    return classes


@jit
def list_moves(g, rule, tableau, frame, classes, words, codes):
    """The codes of all moves from a position, and how many there are.

    Args:
        tableau: bit set of the cards in the tableau.
        classes: [card] -> its class.
        words: a row of mask words, to be written.
        codes: int64 (MOST_CODES,), to be written.
    """
    kernel.legal(g, rule, True, words)
    count = 0
    for w in range(len(words)):
        flags = words[w]
        while flags:
            codes[count] = 8 * w + np.int64(lowest(flags) >> _3)
            count += 1
            flags &= flags - ONE
    for suit in range(4):
        if g.level[suit] == rule.ranks:
            continue
        card = next_of_suit(g, rule, suit)
        if tableau & (ONE << np.uint64(frame.place[card])) == ZERO:
            continue
        for pile in range(rule.piles):
            top = g.top[pile]
            if top != card and classes[top] == classes[card]:
                codes[count] = EXCHANGE + 4 * pile + suit
                count += 1
    return count


@jit
def move_of(code):
    """The number of the move that a code stands for, without its exchange."""
    return code if code < EXCHANGE else WASTE_UP + 1 + ((code - EXCHANGE) >> 2)


@jit
def play_code(g, rule, code):
    """Play a move, after its exchange if it has one."""
    if code >= EXCHANGE:
        _exchange(g, rule, *exchanged(g, rule, code))
    kernel.play(g, rule, move_of(code))


@jit
def exchanged(g, rule, code):
    """The card that an exchange moves to the top of a pile, and the card that lies there."""
    card = next_of_suit(g, rule, (code - EXCHANGE) & 3)
    return card, np.int64(g.top[(code - EXCHANGE) >> 2])


@jit
def next_of_suit(g, rule, suit):
    """The card that the foundation of a suit takes next."""
    return 4 * ((np.int64(g.base[suit]) + np.int64(g.level[suit])) % rule.ranks) + suit


@jit
def _exchange(g, rule, card, other):
    """Let two cards of the tableau change places; neither lies on the other."""
    over_card, over_other = _over(g, rule, card), _over(g, rule, other)
    _put(g, over_card, other)
    _put(g, over_other, card)
    g.below[card], g.below[other] = g.below[other], g.below[card]


@jit
def _over(g, rule, card):
    """The card that lies on a card of the tableau; if none does, -1 less its pile."""
    for pile in range(rule.piles):
        over, here = np.int64(-1 - pile), np.int64(g.top[pile])
        while here != NO_CARD:
            if here == card:
                return over
            over, here = here, np.int64(g.below[here])
    raise AssertionError("no such card in the tableau")


@jit
def _put(g, over, card):
    """Let a card lie below another, or be the top of a pile (-1 less its number)."""
    if over < 0:
        g.top[-1 - over] = card
    else:
        g.below[over] = card
