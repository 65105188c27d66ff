"""Sparse features of a position: row numbers of three tables, for networks that sum rows.

They hold only public information: where each dealt card lies, and which cards are unseen. All suits
share one table and all piles share another, so that what is learned about one holds for all; a
third table is for the game as a whole. Ranks are relative to the base. A card's *wait* is the
number of cards that must go up before it on its foundation.

A position is `row_length` slots of int16 (`write_row`): for each suit the slots of `OF_SUIT`, for
each pile those of `OF_PILE`, once those of `OF_GAME`, then `WASTE_SLOTS`. All slots but the last 52
hold the number of a row in a table, counted from 1, or 0 for none. Each slot always has the same
meaning, so that positions that follow one another differ in few slots.

The last 52 slots are the cards of the waste from the bottom up: 1 + 4 x relative rank + suit, or 0
for none. Pairs of them are rows of a fourth table (`pair_row`). A pair of cards in the waste says
which card must leave it before which. A card is out of reach until all that lie on it have left.
What that costs depends on both cards: a nine that lies on an eight leaves first, and can take it; a
six on the five of its suit waits for what it covers. So each card of the waste has a row with each
card under it, by both ranks, whether they are of one suit, and how far apart they lie.

Slots and rows are frozen: weights depend on them (`tests/reference/golden/next_deal_features.txt`).

A position of four-seasons with base 8, of which only the 8C is up; 43 cards are in the stock:

    T0: --   T1: QH   T2: 2D AC   T3: QS   T4: 2H      waste: 7H 3C TS

>>> from four_seasons_env.engine.kernel import compile_rules
>>> from four_seasons_env.game import Game
>>> game = Game(deal=2**32 + 37)
>>> for move in ("deal", "deal", "deal", "T0>T2"):
...     game.play(move)
>>> out = np.zeros(row_length(5), np.int16)
>>> write_row(game.record[0], compile_rules(game.rules)[0], out)
>>> row = out.tolist()

Of the clubs: 43 cards in the stock are class 14, in steps of three; one is up. The AC has relative
rank 6 and wait 5, and lies as the top card of a pile, which is place 11:

>>> row[SUIT_AT.STOCK] - SUIT_ROW.STOCK, row[SUIT_AT.LEVEL] - SUIT_ROW.LEVEL
(14, 1)
>>> [each - SUIT_ROW.CARDS for each in row[SUIT_AT.CARDS :][2 * 6 : 2 * 7]]
[107, 299]
>>> 6 * 16 + 11, 208 + 5 * 16 + 11
(107, 299)

Of the game: one space; in the waste, no card lies on the one that is a rank lower: two breaks:

>>> of_game = row[4 * SUIT_SLOTS + 5 * PILE_SLOTS :]
>>> of_game[GAME_AT.SPACES] - GAME_ROW.SPACES, of_game[GAME_AT.BREAKS] - GAME_ROW.BREAKS
(1, 2)
>>> row[-WASTE_SLOTS:][:3]  # the 7H first: relative rank 12, hearts, so 1 + 4 * 12 + 2
[51, 33, 10]
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from four_seasons_env.engine.bits import ONE, ZERO, lowest, popcount
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import inlined, internal, jit
from four_seasons_env.engine.kernel import relative_rank, stock_cards, stock_size
from four_seasons_env.engine.moves import WASTE

_PLACES = 16  # of a card: unseen; in the waste under 0, 1, 2 ... others; in a pile under 0 to 4+
_IN_WASTE, _IN_PILE = 1, 11
_WAITS = 13 * _PLACES  # rows of cards by their rank, before those by their wait
_STOCK_STEP, _STOCKS = 3, 18  # the stock, in steps of three cards


class Feature(NamedTuple):
    """Slots that say one thing about a suit, a pile or the game, and the rows that they name."""

    name: str
    slots: int
    classes: int  # rows of the table
    meaning: str


OF_SUIT = (
    Feature("STOCK", 1, _STOCKS, "cards in the stock, in steps of three"),
    Feature("LEVEL", 1, 14, "cards on the foundation"),
    Feature("CARDS", 2 * 13, 2 * _WAITS, "of each rank not up: its rank and place, wait and place"),
)
OF_PILE = (  # of a pile that is not a space
    Feature("LOWEST", 1, 13, "the lowest card"),
    Feature("TOP", 1, 13, "the top card"),
    Feature("HEIGHT", 1, 8, "cards, up to 8"),
    Feature("TOP_WAIT", 1, 14, "the top card's wait"),
    Feature("NEXT", 1, 14 * 4, "the least wait of a card, and the cards on it, up to 3"),
    Feature("STOCK", 1, _STOCKS, "cards in the stock, in steps of three"),
)
OF_GAME = (
    Feature("WASTE_TOP", 1, 14, "the waste's top card, or none"),
    Feature("SPACES", 1, 13, "spaces"),
    Feature("CARDS_LEFT", 1, 53, "cards in the stock"),
    Feature("WASTE", 1, 53, "cards in the waste"),
    Feature("BREAKS", 1, 53, "cards in the waste that lie on another than the one a rank lower"),
    Feature("CARDS_UP", 1, 53, "cards up"),
    Feature("WASTE_BLOCKED", 1, 53, "cards in the waste that lie on one with less wait"),
    Feature("BLOCKED", 1, 26, "cards in piles that lie on one with less wait"),
    Feature("BURIED", 1, 32, "cards on those that go up next, in steps of two"),
    Feature("HOSTED", 1, 53, "unseen cards that a pile would take"),
    Feature("TOPS", 13, 13 * 3, "for each rank, piles with such a top card: 0, 1, more"),
    Feature("STEPS", 51, 10 * 13, "from each card of the waste to the next, the step in rank"),
)

_ROWS = {
    "suits": ["CARDS", "STOCK", "LEVEL"],
    "game": [
        *("SPACES", "CARDS_LEFT", "WASTE", "BREAKS", "STEPS", "WASTE_TOP"),
        *("CARDS_UP", "TOPS", "WASTE_BLOCKED", "BLOCKED", "BURIED", "HOSTED"),
    ],
}
"""The order of rows in a table where it differs from that of the slots; later features follow."""


def _numbers(first: int, sizes: Iterable[tuple[str, int]]) -> Any:
    """The numbers at which the features of these sizes begin, by name, and the END."""
    names, lengths = zip(*sizes, strict=True)
    return namedtuple("Numbers", [*names, "END"])(*accumulate(lengths, initial=first))


def _slots(features: tuple[Feature, ...]) -> Any:
    """The first slot of each feature, counted from 0; END is how many there are."""
    return _numbers(0, ((each.name, each.slots) for each in features))


def _rows(features: tuple[Feature, ...], table: str) -> Any:
    """The first row of each feature, counted from 1; END is one more than there are."""
    order = [*_ROWS.get(table, []), *(each.name for each in features)]
    in_order = sorted(features, key=lambda each: order.index(each.name))
    return _numbers(1, ((each.name, each.classes) for each in in_order))


SUIT_AT, PILE_AT, GAME_AT = _slots(OF_SUIT), _slots(OF_PILE), _slots(OF_GAME)
SUIT_SLOTS: int = SUIT_AT.END
PILE_SLOTS: int = PILE_AT.END
GAME_SLOTS: int = GAME_AT.END
SUIT_ROW, PILE_ROW, GAME_ROW = (
    _rows(OF_SUIT, "suits"),
    _rows(OF_PILE, "piles"),
    _rows(OF_GAME, "game"),
)
SUIT_ROWS, PILE_ROWS, GAME_ROWS = SUIT_ROW.END - 1, PILE_ROW.END - 1, GAME_ROW.END - 1
WASTE_SLOTS = 52

_NEAR = 6  # cards apart: 1; fewer than this; more
PAIR_ROWS = 3 * 2 * 13 * 13

TABLES = {"suits": SUIT_ROWS, "piles": PILE_ROWS, "game": GAME_ROWS, "pairs": PAIR_ROWS}
"""The tables and their numbers of rows."""


def row_length(piles: int) -> int:
    """Slots of the observation of a position with this many piles."""
    return 4 * SUIT_SLOTS + PILE_SLOTS * piles + GAME_SLOTS + WASTE_SLOTS


def pile_count(slots: int) -> int:
    """How many piles a row with this many slots describes.

    >>> pile_count(row_length(5))
    5
    """
    return (slots - row_length(0)) // PILE_SLOTS


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
    at = (card & 3) * SUIT_SLOTS + SUIT_AT.CARDS + 2 * rank
    # Two rows for one fact: the wait shrinks as the suit's foundation grows, the rank does not.
    out[at] = SUIT_ROW.CARDS + rank * _PLACES + place
    out[at + 1] = SUIT_ROW.CARDS + _WAITS + wait * _PLACES + place


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
    out[at + PILE_AT.TOP] = PILE_ROW.TOP + relative_rank(g, rule, card)
    out[at + PILE_AT.TOP_WAIT] = PILE_ROW.TOP_WAIT + min(_wait(g, rule, card), 13)
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
    out[at + PILE_AT.LOWEST] = PILE_ROW.LOWEST + relative_rank(g, rule, lowest)
    out[at + PILE_AT.HEIGHT] = PILE_ROW.HEIGHT + min(above - 1, 7)
    out[at + PILE_AT.NEXT] = PILE_ROW.NEXT + 4 * least + min(least_above, 3)
    out[at + PILE_AT.STOCK] = PILE_ROW.STOCK + stock
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
    # 1. The suits, all but where their cards lie.
    left = stock_size(g)
    # Each suit and pile has the stock's size among its rows: what its cards are worth depends on
    # how much is still to come, and their rows are summed before the network's first ReLU.
    stock = min(left // _STOCK_STEP, _STOCKS - 1)
    for suit in range(4):
        at = suit * SUIT_SLOTS
        out[at + SUIT_AT.STOCK] = SUIT_ROW.STOCK + stock
        out[at + SUIT_AT.LEVEL] = SUIT_ROW.LEVEL + g.level[suit]
    # 2. The piles and their cards.
    spaces = blocked = buried = 0
    at = 4 * SUIT_SLOTS
    takes = ZERO
    accepts = rule.accepts[g.base[0]]
    tops = ZERO  # two bits a rank: piles with such a top, up to 2
    for pile in range(rule.piles):
        top = g.top[pile]
        if top == NO_CARD:
            spaces += 1
            continue
        takes |= accepts[top]
        # The two bits stop at 2, so the count never spills into the next rank.
        shift = np.uint64(2 * relative_rank(g, rule, top))
        if (tops >> shift) & np.uint64(3) < np.uint64(2):
            tops += ONE << shift
        more = _add_pile(g, rule, pile, stock, at, out)
        blocked += more[0]
        buried += more[1]
        at += PILE_SLOTS

    # 3. The waste, from the top down.
    game = 4 * SUIT_SLOTS + PILE_SLOTS * rule.piles
    steps = game + GAME_AT.STEPS
    waste = game + GAME_SLOTS
    height = np.int64(g.height[WASTE])
    card = g.top[WASTE]
    top_class = 13 if card == NO_CARD else relative_rank(g, rule, card)
    out[game + GAME_AT.WASTE_TOP] = GAME_ROW.WASTE_TOP + top_class
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
        if i > 0:  # there is a card below, the host
            step = rank - relative_rank(g, rule, host)
            step += 13 if step < 0 else 0
            breaks += step != 1  # one rank higher: the lower card can be packed on it later
            waste_blocked += wait >= _wait(g, rule, host)
            out[steps + i - 1] = GAME_ROW.STEPS + 13 * depth + step
        card = host

    # 4. The unseen cards.
    unseen = stock_cards(g)
    hosted = np.int64(popcount(takes & unseen))
    while unseen:
        card = np.int64(lowest(unseen))
        unseen &= unseen - ONE
        _add_card(card, relative_rank(g, rule, card), _wait(g, rule, card), 0, out)
    # 5. What was counted on the way.
    out[game + GAME_AT.SPACES] = GAME_ROW.SPACES + spaces
    out[game + GAME_AT.CARDS_LEFT] = GAME_ROW.CARDS_LEFT + left
    out[game + GAME_AT.WASTE] = GAME_ROW.WASTE + height
    out[game + GAME_AT.BREAKS] = GAME_ROW.BREAKS + breaks
    out[game + GAME_AT.CARDS_UP] = GAME_ROW.CARDS_UP + g.cards_up
    out[game + GAME_AT.WASTE_BLOCKED] = GAME_ROW.WASTE_BLOCKED + waste_blocked
    out[game + GAME_AT.BLOCKED] = GAME_ROW.BLOCKED + min(blocked, 25)
    out[game + GAME_AT.BURIED] = GAME_ROW.BURIED + min(buried // 2, 31)
    out[game + GAME_AT.HOSTED] = GAME_ROW.HOSTED + hosted
    for rank in range(13):
        piles_of = np.int64((tops >> np.uint64(2 * rank)) & np.uint64(3))
        out[game + GAME_AT.TOPS + rank] = GAME_ROW.TOPS + 3 * rank + piles_of
