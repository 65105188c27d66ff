"""Sparse features of a position: row numbers of three tables, for networks that sum rows.

They hold only public information: where each dealt card lies, and which cards are unseen. All suits
share one table and all piles share another, so that what is learned about one holds for all; a
third table is for the game as a whole. Ranks are relative to the base. A card's *wait* is the
number of cards that must go up before it on its foundation.

As an observation (`write_row`) the features are `row_length` slots of int16. A slot holds the
number of a row in its table, counted from 1, or 0 for none:

=====================  ==================================================================
slots                  meaning
=====================  ==================================================================
4 x SUIT_SLOTS (28)    for each suit, rows of the suits' table: cards in the stock; the
                       level; then for each relative rank 0 to 12, unless that card is up,
                       where it lies, by its rank and by its wait
P x PILE_FEATURES (6)  for each pile that is not a space, rows of the piles' table: lowest
                       card, top card, height, the top card's wait, the least wait and the
                       cards on it, cards in the stock
GAME_SLOTS (74)        rows of the game's table: the waste's top card; spaces, cards in
                       the stock, cards in the waste, breaks in the waste, cards up, cards
                       blocked in the waste and in piles, cards on those that go up next,
                       unseen cards that a pile would take (9); piles with a top of each
                       rank (13); then, from the bottom of the waste up, the step in rank
                       from each card to the next, by depth (51)
=====================  ==================================================================

Each slot always has the same meaning, so that the candidates of a decision differ in few slots.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import lowest, popcount
from four_seasons_env.engine.cards import NO_CARD
from four_seasons_env.engine.jit import inlined, jit
from four_seasons_env.engine.kernel import relative_rank, stock_cards, stock_size
from four_seasons_env.engine.moves import WASTE

_PLACES = 16  # of a card: unseen; in the waste under 0, 1, 2 ... others; in a pile under 0 to 4+
_IN_WASTE, _IN_PILE = 1, 11
_STOCK_STEP, _STOCKS = 3, 18  # the stock, in steps of three cards
_ONE = np.uint64(1)


def _offsets(*sizes: int) -> list[int]:
    return list(accumulate(sizes, initial=0))


# of a suit: each card's rank and place, each card's wait and place, the stock, the level
_CARD, _WAIT, _STOCK, _LEVEL, SUIT_ROWS = _offsets(13 * _PLACES, 13 * _PLACES, _STOCKS, 14)

# of a pile: its lowest card, its top card, its height, the top card's wait; of its card with the
# least wait that and the cards on it; the stock
_LOWEST, _TOP, _HEIGHT, _TOP_WAIT, _NEXT, _PILE_STOCK, PILE_ROWS = _offsets(
    13, 13, 8, 14, 14 * 4, _STOCKS
)
PILE_FEATURES = 6

# of the game: spaces, cards in the stock, in the waste, breaks in the waste (a card on another than
# the one below it in rank), the step in rank between neighbours in the waste by depth, its top
# card, cards up, piles with a top of each rank; cards on one with less wait, in the waste and in
# piles; cards on those that go up next; unseen cards that a pile would take
(
    _SPACES,
    _CARDS_LEFT,
    _WASTE,
    _BREAKS,
    _STEPS,
    _WASTE_TOP,
    _CARDS_UP,
    _TOPS,
    _WASTE_BLOCKED,
    _BLOCKED,
    _BURIED,
    _HOSTED,
    GAME_ROWS,
) = _offsets(13, 53, 53, 53, 10 * 13, 14, 53, 13 * 3, 53, 26, 32, 53)


SUIT_SLOTS = 2 + 2 * 13
_NOT_STEPS = 1 + 9 + 13
GAME_SLOTS = _NOT_STEPS + 51


def row_length(piles: int) -> int:
    """Slots of the observation of a position with this many piles."""
    return 4 * SUIT_SLOTS + PILE_FEATURES * piles + GAME_SLOTS


COUNTS = np.dtype(
    [
        ("suits", "i8", (4,)),  # rows of each suit
        ("piles", "i8"),  # piles that hold cards
        ("game", "i8"),  # rows of the game
    ]
)


class Features(NamedTuple):
    """The row numbers of a position, as `write_features` writes them."""

    suits: NDArray[np.int64]  # (4, 40)
    piles: NDArray[np.int64]  # (12, PILE_FEATURES), those that hold cards first
    game: NDArray[np.int64]  # (128,)
    counts: NDArray[np.void]  # COUNTS (1,), how much of these is in use


def new_features() -> Features:
    """Buffers for `write_features`."""
    return Features(
        np.zeros((4, 40), np.int64),
        np.zeros((12, PILE_FEATURES), np.int64),
        np.zeros(128, np.int64),
        np.zeros(1, COUNTS),
    )


@inlined
def _depth(above):
    """A class, 0 to 9, of the number of cards above another in the waste; coarser as it grows."""
    if above < 5:
        return above
    if above < 7:
        return 5
    if above < 10:
        return 6
    if above < 14:
        return 7
    return 8 if above < 20 else 9


@inlined
def _add_card(card, rank, wait, place, suits, counts):
    """Add the rows of a card to those of its suit."""
    suit = card & 3
    count = counts.suits[suit]
    # Two rows for one fact: the wait shrinks as the suit's foundation grows, the rank does not.
    suits[suit, count] = _CARD + rank * _PLACES + place
    suits[suit, count + 1] = _WAIT + wait * _PLACES + place
    counts.suits[suit] = count + 2


@inlined
def _wait(g, rule, card):
    return relative_rank(g, rule, card) - np.int64(g.level[card & 3])


@jit
def _add_pile(g, rule, pile, stock, row, suits, counts):
    """The features of a pile that is not a space, and of its cards.

    Returns:
        Its cards that lie on one with less wait, and the cards on those that go up next.
    """
    card = g.top[pile]
    row[1] = _TOP + relative_rank(g, rule, card)
    row[3] = _TOP_WAIT + min(_wait(g, rule, card), 13)
    above = blocked = buried = least_above = 0
    least = 13  # more than any wait, so the first card replaces it
    lowest = card
    while card != NO_CARD:
        rank, wait = relative_rank(g, rule, card), _wait(g, rule, card)
        _add_card(card, rank, wait, _IN_PILE + min(above, 4), suits, counts)
        if wait < least:
            least, least_above = wait, above
        if wait == 0:
            buried += above
        host = g.below[card]
        if host != NO_CARD and wait > _wait(g, rule, host):
            blocked += 1
        lowest, card = card, host
        above += 1
    row[0] = _LOWEST + relative_rank(g, rule, lowest)
    row[2] = _HEIGHT + min(above - 1, 7)
    row[4] = _NEXT + 4 * least + min(least_above, 3)
    row[5] = _PILE_STOCK + stock
    return blocked, buried


@jit
def write_features(g, rule, features):
    """Write the row numbers of a position into `Features`."""
    suits, piles, game, counts = features.suits, features.piles, features.game, features.counts[0]
    left = stock_size(g)
    # Each suit and pile has the stock's size among its rows: what its cards are worth depends on
    # how much is still to come, and their rows are summed before the network's first ReLU.
    stock = min(left // _STOCK_STEP, _STOCKS - 1)
    for suit in range(4):
        suits[suit, 0] = _STOCK + stock
        suits[suit, 1] = _LEVEL + g.level[suit]
        counts.suits[suit] = 2
    spaces = standing = blocked = buried = 0
    takes = np.uint64(0)
    accepts = rule.accepts[g.base[0]]
    tops = np.uint64(0)  # two bits a rank: piles with such a top, 2 at most
    for pile in range(rule.piles):
        top = g.top[pile]
        if top == NO_CARD:
            spaces += 1
            continue
        takes |= accepts[top]
        # The two bits stop at 2, so the count never spills into the next rank.
        shift = np.uint64(2 * relative_rank(g, rule, top))
        if (tops >> shift) & np.uint64(3) < np.uint64(2):
            tops += _ONE << shift
        more = _add_pile(g, rule, pile, stock, piles[standing], suits, counts)
        blocked += more[0]
        buried += more[1]
        standing += 1

    card = g.top[WASTE]
    game[0] = _WASTE_TOP + (13 if card == NO_CARD else relative_rank(g, rule, card))
    count = 1
    above = breaks = waste_blocked = 0
    while card != NO_CARD:
        rank, wait, depth = relative_rank(g, rule, card), _wait(g, rule, card), _depth(above)
        _add_card(card, rank, wait, _IN_WASTE + depth, suits, counts)
        if wait == 0:
            buried += above
        host = g.below[card]
        if host != NO_CARD:
            step = rank - relative_rank(g, rule, host)
            step += 13 if step < 0 else 0
            breaks += step != 1  # one rank higher: the lower card can be packed on it later
            waste_blocked += wait >= _wait(g, rule, host)
            game[count] = _STEPS + 13 * depth + step
            count += 1
        card = host
        above += 1

    unseen = stock_cards(g)
    hosted = np.int64(popcount(takes & unseen))
    while unseen:  # in the order of the cards: sums are rounded by their order
        card = np.int64(lowest(unseen))
        unseen &= unseen - _ONE
        _add_card(card, relative_rank(g, rule, card), _wait(g, rule, card), 0, suits, counts)
    game[count] = _SPACES + spaces
    game[count + 1] = _CARDS_LEFT + left
    game[count + 2] = _WASTE + g.height[WASTE]
    game[count + 3] = _BREAKS + breaks
    game[count + 4] = _CARDS_UP + g.cards_up
    game[count + 5] = _WASTE_BLOCKED + waste_blocked
    game[count + 6] = _BLOCKED + min(blocked, 25)
    game[count + 7] = _BURIED + min(buried // 2, 31)
    game[count + 8] = _HOSTED + hosted
    count += 9
    for rank in range(13):
        piles_of = np.int64((tops >> np.uint64(2 * rank)) & np.uint64(3))
        game[count + rank] = _TOPS + 3 * rank + piles_of
    counts.game = count + 13
    counts.piles = standing


@jit
def write_row(g, rule, features, out):
    """Write the features of a position as an observation.

    Args:
        features: a `Features`, overwritten.
        out: int16 of shape (`row_length`,).
    """
    write_features(g, rule, features)
    suits, piles, game, counts = features.suits, features.piles, features.game, features.counts[0]
    out[:] = 0
    for suit in range(4):
        at = suit * SUIT_SLOTS
        out[at] = suits[suit, 0] + 1
        out[at + 1] = suits[suit, 1] + 1
        for i in range(2, counts.suits[suit], 2):
            # The rows come in the order of the walk; the slot is found from the rank that the first
            # of the two encodes.
            rank = (suits[suit, i] - _CARD) // _PLACES
            out[at + 2 + 2 * rank] = suits[suit, i] + 1
            out[at + 3 + 2 * rank] = suits[suit, i + 1] + 1
    at = 4 * SUIT_SLOTS
    for pile in range(counts.piles):
        for i in range(PILE_FEATURES):
            out[at + i] = piles[pile, i] + 1
        at += PILE_FEATURES
    at = 4 * SUIT_SLOTS + PILE_FEATURES * rule.piles
    out[at] = game[0] + 1
    steps = counts.game - _NOT_STEPS
    for i in range(1, _NOT_STEPS):
        out[at + i] = game[steps + i] + 1
    at += _NOT_STEPS
    # Reversed to run from the bottom up. Candidates differ at the top of the waste, so their cards
    # further down stay in the same slots.
    for i in range(steps):
        out[at + i] = game[steps - i] + 1
