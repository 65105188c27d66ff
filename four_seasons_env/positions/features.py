"""Sparse features of a position: row numbers of three tables, for networks that sum rows.

They hold only public information: where each dealt card lies, and which cards are unseen. All suits
share one table and all piles share another, so that what is learned about one holds for all; a
third table is for the game as a whole. Ranks are relative to the base. A card's *wait* is the
number of cards that must go up before it on its foundation.

A position is `row_length` slots of int16 (`write_row`). All slots but the last 52 hold the number
of a row in a table, counted from 1, or 0 for none:

- 4 x SUIT_SLOTS (28): for each suit, rows of the suits' table: cards in the stock; the level; then
  for each relative rank 0 to 12, unless that card is up, where it lies, by its rank and by its wait
- P x PILE_FEATURES (6): for each pile that is not a space, rows of the piles' table: lowest card,
  top card, height, the top card's wait, the least wait and the cards on it, cards in the stock
- GAME_SLOTS (74): rows of the game's table: the waste's top card; spaces, cards in the stock, cards
  in the waste, breaks in the waste, cards up, cards blocked in the waste and in piles, cards on
  those that go up next, unseen cards that a pile would take (9); piles with a top of each rank
  (13); then, from the bottom of the waste up, the step in rank from each card to the next, by depth
  (51)
- WASTE_SLOTS (52): the cards of the waste from the bottom up: 1 + 4 x relative rank + suit, or 0
  for none. Pairs of them are rows of a fourth table (`pair_row`)

Each slot always has the same meaning, so that positions that follow one another differ in few
slots.

A pair of cards in the waste says which card must leave it before which. A card is out of reach
until all that lie on it have left. What that costs depends on both cards: a nine that lies on an
eight leaves first, and can take it; a six on the five of its suit waits for what it covers. So each
card of the waste has a row with each card under it, by both ranks, whether they are of one suit,
and how far apart they lie.
"""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from four_seasons_env.engine.bits import lowest, popcount
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import inlined, internal, jit
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
WASTE_SLOTS = 52

_NEAR = 6  # cards apart: 1; fewer than this; more
PAIR_ROWS = 3 * 2 * 13 * 13

TABLES = {"suits": SUIT_ROWS, "piles": PILE_ROWS, "game": GAME_ROWS, "pairs": PAIR_ROWS}
"""The tables and their numbers of rows."""


def row_length(piles: int) -> int:
    """Slots of the observation of a position with this many piles."""
    return 4 * SUIT_SLOTS + PILE_FEATURES * piles + GAME_SLOTS + WASTE_SLOTS


def pile_count(slots: int) -> int:
    """How many piles a row with this many slots describes."""
    return (slots - row_length(0)) // PILE_FEATURES


@jit
def pair_row(upper, lower, apart):
    """The row of a pair of cards in the waste, counted from 0.

    Args:
        upper: the slot of the upper card, not 0.
        lower: the slot of the other card.
        apart: how many cards under the upper one the other lies.
    """
    distance = 0 if apart == 1 else 1 if apart < _NEAR else 2
    a, b = np.int64(upper) - 1, np.int64(lower) - 1
    one_suit = np.int64((a & 3) == (b & 3))
    return 169 * (2 * distance + one_suit) + 13 * (a >> 2) + (b >> 2)


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
def _add_card(card, rank, wait, place, out):
    """Write the rows of a card to the slots of its suit."""
    at = (card & 3) * SUIT_SLOTS + 2 + 2 * rank
    # Two rows for one fact: the wait shrinks as the suit's foundation grows, the rank does not.
    out[at] = 1 + _CARD + rank * _PLACES + place
    out[at + 1] = 1 + _WAIT + wait * _PLACES + place


@inlined
def _wait(g, rule, card):
    return relative_rank(g, rule, card) - np.int64(g.level[card & 3])


@internal
def _add_pile(g, rule, pile, stock, at, out):
    """Write the rows of a pile that is not a space, from slot ``at`` on, and of its cards.

    Returns:
        Its cards that lie on one with less wait, and the cards on those that go up next.
    """
    card = g.top[pile]
    out[at + 1] = 1 + _TOP + relative_rank(g, rule, card)
    out[at + 3] = 1 + _TOP_WAIT + min(_wait(g, rule, card), 13)
    above = blocked = buried = least_above = 0
    least = 13  # more than any wait, so the first card replaces it
    lowest = card
    while card != NO_CARD:
        rank, wait = relative_rank(g, rule, card), _wait(g, rule, card)
        _add_card(card, rank, wait, _IN_PILE + min(above, 4), out)
        if wait < least:
            least, least_above = wait, above
        if wait == 0:
            buried += above
        host = g.below[card]
        if host != NO_CARD and wait > _wait(g, rule, host):
            blocked += 1
        lowest, card = card, host
        above += 1
    out[at] = 1 + _LOWEST + relative_rank(g, rule, lowest)
    out[at + 2] = 1 + _HEIGHT + min(above - 1, 7)
    out[at + 4] = 1 + _NEXT + 4 * least + min(least_above, 3)
    out[at + 5] = 1 + _PILE_STOCK + stock
    return blocked, buried


@jit
def write_row(g, rule, out):
    """Write the features of a position.

    Args:
        g: the position.
        rule: the compiled rule set.
        out: int16 of shape (`row_length`,).
    """
    out[:] = 0
    left = stock_size(g)
    # Each suit and pile has the stock's size among its rows: what its cards are worth depends on
    # how much is still to come, and their rows are summed before the network's first ReLU.
    stock = min(left // _STOCK_STEP, _STOCKS - 1)
    for suit in range(4):
        out[suit * SUIT_SLOTS] = 1 + _STOCK + stock
        out[suit * SUIT_SLOTS + 1] = 1 + _LEVEL + g.level[suit]
    spaces = blocked = buried = 0
    at = 4 * SUIT_SLOTS
    takes = np.uint64(0)
    accepts = rule.accepts[g.base[0]]
    tops = np.uint64(0)  # two bits a rank: piles with such a top, up to 2
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
        more = _add_pile(g, rule, pile, stock, at, out)
        blocked += more[0]
        buried += more[1]
        at += PILE_FEATURES

    game = 4 * SUIT_SLOTS + PILE_FEATURES * rule.piles
    steps = game + _NOT_STEPS
    waste = game + GAME_SLOTS
    height = np.int64(g.height[WASTE])
    card = g.top[WASTE]
    out[game] = 1 + _WASTE_TOP + (13 if card == NO_CARD else relative_rank(g, rule, card))
    breaks = waste_blocked = 0
    for above in range(height):
        i = height - 1 - above
        rank, wait, depth = relative_rank(g, rule, card), _wait(g, rule, card), _depth(above)
        _add_card(card, rank, wait, _IN_WASTE + depth, out)
        # From the bottom up: positions of a decision differ at the top of the waste, so the cards
        # further down stay in the same slots.
        out[waste + i] = 1 + 4 * rank + (card & 3)
        if wait == 0:
            buried += above
        host = g.below[card]
        if i > 0:
            step = rank - relative_rank(g, rule, host)
            step += 13 if step < 0 else 0
            breaks += step != 1  # one rank higher: the lower card can be packed on it later
            waste_blocked += wait >= _wait(g, rule, host)
            out[steps + i - 1] = 1 + _STEPS + 13 * depth + step
        card = host

    unseen = stock_cards(g)
    hosted = np.int64(popcount(takes & unseen))
    while unseen:
        card = np.int64(lowest(unseen))
        unseen &= unseen - _ONE
        _add_card(card, relative_rank(g, rule, card), _wait(g, rule, card), 0, out)
    out[game + 1] = 1 + _SPACES + spaces
    out[game + 2] = 1 + _CARDS_LEFT + left
    out[game + 3] = 1 + _WASTE + height
    out[game + 4] = 1 + _BREAKS + breaks
    out[game + 5] = 1 + _CARDS_UP + g.cards_up
    out[game + 6] = 1 + _WASTE_BLOCKED + waste_blocked
    out[game + 7] = 1 + _BLOCKED + min(blocked, 25)
    out[game + 8] = 1 + _BURIED + min(buried // 2, 31)
    out[game + 9] = 1 + _HOSTED + hosted
    for rank in range(13):
        piles_of = np.int64((tops >> np.uint64(2 * rank)) & np.uint64(3))
        out[game + 10 + rank] = 1 + _TOPS + 3 * rank + piles_of
