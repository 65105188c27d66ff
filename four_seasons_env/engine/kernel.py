"""The game itself, compiled: the GAME record, the opening, legal moves, play.

The engine has the shape of a Markov decision process:

    start(g, rule, deal)                    the opening of a deal
    legal(g, rule, distinct, words)         which moves are legal, and whether the game continues
    play(g, rule, move)                     the next position
    encode(g, rule, kind, shown, out)       what the player sees of it    (`observations`)
    reward_of(kind, rule, put_up, won)      what the move earns           (`rewards`)

This is the only place where a rule is enforced. A game is one small record. The functions below
work on one record each and never allocate, so searches, environments and agents call them by the
million. ``rule`` is a RULE record, which `compile_rules` makes from a `Rules`.

`rules.py` names the sources of the rules, row by row. The compiled code reads the fields of the
RULE record, and never the name of a rule set.

The GAME record, 160 bytes (the four counts are dealt, deck_size, redeals and cards_up):

    byte 0      8      60      112   125      138     142    146      152     160
         | deal | deck | below | top | height | level | base | counts | moves |

    offset  size  field      meaning
    ------  ----  ---------  ----------------------------------------------------------------
         0     8  deal       the deal's number; -1 for a custom deck
         8    52  deck       cards in dealing order; deck[dealt:deck_size] is the stock
        60    52  below      [card] -> the card that it lies on, in a pile or the waste
       112    13  top        [place] -> top card of piles 0-11 and of the waste (12)
       125    13  height     [place] -> cards in piles 0-11 and in the waste (12)
       138     4  level      [suit] -> cards on its foundation
       142     4  base       [suit] -> rank that its foundation starts from
       146     1  dealt      cards dealt from the deck
       147     1  deck_size  cards in the deck: fewer after a redeal
       148     1  redeals    redeals left
       149     1  cards_up   cards on all foundations
       150     2             (padding)
       152     4  moves      moves played
       156     4             (padding)

A card is the number 4 * rank + suit, from 0 to 51; 52 is "no card". A pile is a chain from its top
card down. Pile 2 with 6H on 7C, and an empty pile 3:

    top[2] = 6H    below[6H] = 7C    below[7C] = 52    height[2] = 2
    top[3] = 52                                        height[3] = 0

A card in the stock or on a foundation has below[card] = 52. Everything is public except the order
of deck[dealt:], which is hidden until a redeal. The record is frozen: a new field needs a new
version of the format (`tests/reference/golden/frozen.txt`).

Python plays arrays of games. A deal to the waste is move 0:

>>> rules = compile_rules(RULES["four-seasons"])
>>> games = np.zeros(2, GAME)
>>> start_all(games, rules, np.array([2**32, 2**32 + 1]))
>>> play_each(games, rules, np.array([0, 0]))
>>> games["top"][:, WASTE].tolist(), games["moves"].tolist()  # 31 is 4 * 7 + 3, the 8D
([31, 23], [1, 1])
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.bits import ONE, ZERO, bit_set, popcount
from four_seasons_env.engine.deals import GAMMA, NO_CARD, draw_below, shuffle
from four_seasons_env.engine.jit import inlined, internal, jit, merged
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, all_moves
from four_seasons_env.rules import BASE_FROM, OPENINGS, SPACES, Rules

GAME = np.dtype(
    [
        ("deal", "i8"),
        ("deck", "u1", (52,)),
        ("below", "u1", (52,)),
        ("top", "u1", (13,)),
        ("height", "u1", (13,)),
        ("level", "u1", (4,)),
        ("base", "u1", (4,)),
        ("dealt", "u1"),
        ("deck_size", "u1"),
        ("redeals", "u1"),
        ("cards_up", "u1"),
        ("moves", "u4"),
    ],
    align=True,
)
"""One position; the table above says what each field means."""

_MAX_MOVES = 224  # at least the 220 moves of twelve piles with every kind of move
NO_PILE = -1
"""Means "no pile"."""

RULE = np.dtype(
    [
        ("accepts", "u8", (13, 53)),  # [base rank, top card] -> bit set of cards that may go on it
        ("wants", "u1", (13, 53)),  # [base rank, top card] -> key of the cards that may go on it
        ("key", "u1", (53,)),  # [card] -> what `wants` compares: all that matters for packing
        ("source", "u1", (_MAX_MOVES,)),  # [move number] -> place that a card leaves
        ("target", "u1", (_MAX_MOVES,)),  # [move number] -> place that it goes to
        ("share", "f4"),  # 1 / cards in the deck
        ("actions", "i8"),  # size of the action space
        ("ranks", "i8"),
        ("cards", "i8"),
        ("piles", "i8"),
        ("base_from", "i8"),  # index into BASE_FROM
        ("opening", "i8"),  # index into OPENINGS
        ("spaces", "i8"),  # index into SPACES
        ("redeals", "i8"),
        ("first_waste", "i8"),
        ("reserve", "i8"),  # number of the reserve pile, or NO_PILE
        ("runs", "b1"),
        ("limited_redeal", "b1"),
        ("worrying_back", "b1"),
        ("more_moves", "b1"),  # there are redeals or moves from foundations
        ("refills", "b1"),  # a move may also move cards that the player did not choose
    ],
    align=True,
)
"""A rule set as the compiled functions take it."""

BASE_SIXTH, BASE_FIRST, BASE_PER_SUIT, BASE_ACES = range(len(BASE_FROM))
OPENING_FIXED, OPENING_AS_DEALT, OPENING_EMPTY = range(len(OPENINGS))
OPTIONAL, BEFORE_DEALING, AUTO_STOCK, AUTO_WASTE = range(len(SPACES))

_7, _8, _BYTE = np.uint64(7), np.uint64(8), np.uint64(0xFF)
_EACH = np.uint64(0x0101010101010101)  # one in each byte
_LOW = np.uint64(0x7F7F7F7F7F7F7F7F)  # all but the highest bit of each byte
_FACTORIALS = np.array([math.factorial(n) for n in range(21)], np.int64)
_FIRST_SUIT = np.uint64(0x1111111111111)  # bit set of the cards of suit 0
# Two different bytes, so that "no card" does not fit a place that wants nothing.
_NO_KEY = 0xFE
_WANTS_NONE = 0xFF


# --- rule sets for compiled functions ---------------------------------------------------------


def _packing_table(rules: Rules) -> NDArray[np.uint64]:
    """``accepts`` of a rule set: which cards may go on a top card; on a space (52), any card."""
    base = np.arange(13)[:, None, None]
    host = np.arange(52)[None, :, None]
    card = np.arange(52)[None, None, :]
    # Cards are packed downward: one rank below the host, or the highest rank on the lowest.
    fits = (card >> 2) + 1 == host >> 2
    wraps = (card >> 2 == rules.ranks - 1) & (host >> 2 == 0)
    if rules.wrap == "never":
        wraps = np.zeros_like(wraps)
    elif rules.wrap == "unless_ace_base":
        wraps = wraps & (base != 0)
    packs = fits | wraps
    if rules.wrap == "linear":  # the order ends at the base card, so no card goes on it
        packs = packs & (host >> 2 != base)
    # Suits are C, S, H, D: bit 1 of a card is its colour.
    if rules.build == "alternate_colour":
        packs = packs & ((card & 2) != (host & 2))
    elif rules.build == "none":
        packs = np.zeros_like(packs)
    packs = np.broadcast_to(packs, (13, 52, 52))  # only some of the rules depend on the base
    accepts = np.zeros((13, 53), np.uint64)
    # As bit sets. A space, which is host 52, takes any card.
    bits = ONE << np.arange(52, dtype=np.uint64)
    # The sum of different powers of two is their bit set.
    accepts[:, :52] = np.where(packs, bits, ZERO).sum(axis=2, dtype=np.uint64)
    accepts[:, NO_CARD] = bits.sum(dtype=np.uint64)
    return accepts


def _packing_keys(
    rules: Rules, accepts: NDArray[np.uint64]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """``wants`` and ``key``: the packing table again, as numbers to compare for equality.

    Packing depends on a card's rank, and on its colour in some rule sets: together its key. A top
    card takes all cards of one key, or none.
    """
    card = np.arange(52)
    key = np.full(53, _NO_KEY, np.uint8)
    by_colour = rules.build == "alternate_colour"
    key[:52] = 2 * (card >> 2) + ((card & 2) >> 1) if by_colour else card >> 2
    # A space wants nothing here: its rules differ from those of packing (`_write_legal`).
    wants = np.full((13, 53), _WANTS_NONE, np.uint8)
    for base, host in np.argwhere(accepts[:, :NO_CARD]):
        taken = (accepts[base, host] >> card.astype(np.uint64)) & ONE == 1
        (wanted,) = set(key[:52][taken])  # one key, or the two tables would disagree
        assert (taken == (key[:52] == wanted)).all()
        wants[base, host] = wanted
    return wants, key


@functools.cache
def compile_rules(rules: Rules) -> NDArray[np.void]:
    """A rule set as a read-only RULE array of shape (1,), as compiled functions take it.

    >>> compile_rules(RULES["four-seasons"])["actions"].tolist()
    [32]
    """
    table = np.zeros(1, RULE)
    rule = table[0]
    # 1. Packing: which cards go on which.
    rule["accepts"] = _packing_table(rules)
    rule["wants"], rule["key"] = _packing_keys(rules, rule["accepts"])
    # 2. The places that each move names.
    moves = all_moves(rules)
    rule["source"][: len(moves)] = [move.source for move in moves]
    rule["target"][: len(moves)] = [move.target for move in moves]
    # 3. Names of choices as numbers, and combinations that compiled code asks for.
    rule["share"] = 1 / rules.cards
    rule["actions"] = len(moves)
    rule["base_from"] = BASE_FROM.index(rules.base_from)
    rule["opening"] = OPENINGS.index(rules.opening)
    rule["spaces"] = SPACES.index(rules.spaces)
    rule["reserve"] = NO_PILE if rules.reserve_pile is None else rules.reserve_pile
    # A limited redeal is a redeal too, so this covers the moves of the card on the stock.
    rule["more_moves"] = rules.redeals > 0 or rules.worrying_back
    rule["refills"] = (
        rules.spaces in ("auto_stock", "auto_waste") or rules.reserve or rules.limited_redeal
    )
    # 4. The fields that are the same here and there.
    for field in ("ranks", "cards", "piles", "redeals", "first_waste"):
        rule[field] = getattr(rules, field)
    for field in ("runs", "limited_redeal", "worrying_back"):
        rule[field] = getattr(rules, field)
    table.flags.writeable = False  # the cache gives the same array to every caller
    return table


# --- cards in place ---------------------------------------------------------------------------


@internal
def _take(g, place):
    """Lift the top card of a pile or of the waste."""
    card = g.top[place]
    # The card's own entry in `below` is stale now; the code that lays the card down writes it.
    g.top[place] = g.below[card]
    g.height[place] -= 1
    return card


@internal
def _put(g, card, place):
    """Lay a card on a pile or on the waste."""
    g.below[card] = g.top[place]
    g.top[place] = card
    g.height[place] += 1


@internal
def _put_up(g, card):
    """Lay a card on its foundation."""
    g.below[card] = NO_CARD  # as for every card in neither pile nor waste; `validation` checks it
    g.level[card & 3] += 1
    g.cards_up += 1


@internal
def _draw(g):
    """Take the next card of the stock."""
    card = g.deck[g.dealt]
    g.dealt += 1
    return card


@internal
def _turn(g):
    """Turn the next card of the stock to the waste."""
    _put(g, _draw(g), WASTE)


@jit
def stock_size(g):
    """Cards left in the stock."""
    # Signed, as in `relative_rank`.
    return np.int64(g.deck_size) - np.int64(g.dealt)


@jit
def stock_cards(g):
    """Bit set of the cards left in the stock: the unseen ones, before a redeal."""
    return bit_set(g.deck, g.dealt, g.deck_size)


@jit
def unseen_cards(g, rule):
    """Bit set of the cards that the player has not seen."""
    return ZERO if stock_is_known(g, rule) else stock_cards(g)


@jit
def relative_rank(g, rule, card):
    """A card's place in its foundation's order: 0 for the base card, up to ranks - 1."""
    # Signed, because Numba subtracts unsigned numbers modulo 2^64.
    rank = np.int64(card >> 2) - np.int64(g.base[card & 3])
    return rank + rule.ranks if rank < 0 else rank


@jit
def goes_up(g, rule, card):
    """Whether a card (or no card) is the next that its foundation takes."""
    return card != NO_CARD and relative_rank(g, rule, card) == g.level[card & 3]


@jit
def is_won(g, rule):
    """Whether all cards are up."""
    return g.cards_up == rule.cards


@jit
def stock_is_known(g, rule):
    """Whether the player knows the stock, because it is the waste turned over by a redeal."""
    return g.redeals != rule.redeals


@jit
def face_up_card(g, rule):
    """The card that lies face up on the stock after a limited redeal, or no card."""
    shows = rule.limited_redeal and stock_is_known(g, rule) and stock_size(g) > 0
    return g.deck[g.dealt] if shows else np.uint8(NO_CARD)


@jit
def nothing_hidden(g, rule):
    """Whether the player knows every card: the stock is known, or has no more than one card."""
    return stock_size(g) <= 1 or stock_is_known(g, rule)


# --- the opening ------------------------------------------------------------------------------


@merged
def _bring_bases_forward(g, rule):
    """`one_per_suit`: move the base of each suit to the front of the deck.

    A suit's base is the first of its cards from the last-dealt end. The last suit goes first, so
    that in the end the bases are in the order of the suits.
    """
    for suit in range(3, -1, -1):
        found = rule.cards - 1
        # Bases of later suits are already at the front: 3 - suit cards, not to be taken again.
        while g.deck[found] & 3 != suit or found < 3 - suit:
            found -= 1
        card = g.deck[found]
        # The other cards keep their order.
        for i in range(found, 0, -1):
            g.deck[i] = g.deck[i - 1]
        g.deck[0] = card


@merged
def _open_foundations(g):
    """Deal the base card; all foundations start from its rank."""
    card = _draw(g)
    g.base[:] = card >> 2
    _put_up(g, card)


@jit
def lay_out(g, rule):
    """Set up the opening from ``g.deck``; ``g.deal`` stays as it is."""
    # 1. An empty table and a full stock.
    g.below[:] = NO_CARD
    g.top[:] = NO_CARD
    g.height[:] = 0
    g.level[:] = 0
    g.base[:] = 0
    g.dealt = 0
    g.deck_size = rule.cards
    g.redeals = rule.redeals
    g.cards_up = 0
    g.moves = 0
    # 2. The bases, unless the sixth card is one (step 4). BASE_ACES needs no step: the zeros in
    # `base` are aces.
    if rule.base_from == BASE_PER_SUIT:
        _bring_bases_forward(g, rule)
        for suit in range(4):
            card = _draw(g)
            g.base[suit] = card >> 2
            _put_up(g, card)
    elif rule.base_from == BASE_FIRST:
        _open_foundations(g)
    # 3. The piles. A card that goes up at once (`as_dealt`) fills no pile, so more cards than piles
    # may be dealt.
    pile = rule.piles if rule.opening == OPENING_EMPTY else 0
    while pile < rule.piles and stock_size(g) > 0:
        card = _draw(g)
        if rule.opening == OPENING_AS_DEALT and goes_up(g, rule, card):
            _put_up(g, card)
        else:
            _put(g, card, pile)
            pile += 1
    # 4. The sixth card of the deal is the first one after five piles.
    if rule.base_from == BASE_SIXTH:
        _open_foundations(g)
    if rule.first_waste and stock_size(g) > 0:
        _turn(g)


@jit
def start(g, rule, deal):
    """Set up the opening of a deal by its number (int64)."""
    # The shuffle starts from a sorted deck, so the deal depends on its number alone. NO_CARD fills
    # the room that a short deck leaves.
    for card in range(52):
        g.deck[card] = card if card < rule.cards else NO_CARD
    shuffle(g.deck, 0, rule.cards, np.uint64(deal))
    g.deal = deal
    lay_out(g, rule)


# --- what a player cannot know ----------------------------------------------------------------


@jit
def sort_unseen(g, rule):
    """Sort the cards of the stock that the player has not seen by their numbers.

    Positions that look the same to the player are then equal to the byte.
    """
    if stock_is_known(g, rule):
        return
    unseen = stock_cards(g)
    at = np.int64(g.dealt)
    for card in range(NO_CARD):
        if (unseen >> np.uint64(card)) & ONE:
            g.deck[at] = card
            at += 1


@jit
def equally_likely(rule):
    """Whether all orders of the unseen cards are equally likely.

    They are, unless the bases were taken from the end of the deck.
    """
    return rule.base_from != BASE_PER_SUIT


@jit
def suit_weight(rule, cards):
    """How likely a suit is to come next, by the number of its unseen cards (or an array of them).

    All that is said of how likely hidden cards are follows from this function: one of n unseen
    cards of a suit is next with the probability suit_weight(n) / n, divided by the sum of the
    suits' weights.

    Where all orders are equally likely, a suit's weight is its unseen cards. In a `one_per_suit`
    opening the base of each suit lay behind the suit's other cards. Put back there, the unseen
    cards and these bases are in an order that is uniform except for that, and a suit's share of the
    next places is its share of them: one more than its unseen cards, unless it has none.
    """
    return cards + (cards > 0) * (not equally_likely(rule))


@inlined
def _of_suit(cards, suit):
    """How many cards of a bit set are of a suit."""
    return np.int64(popcount((cards >> np.uint64(suit)) & _FIRST_SUIT))


@internal
def _sum_of_weights(rule, unseen):
    """The sum of the suits' weights, by the bit set of the unseen cards."""
    weights = 0
    for suit in range(4):
        weights += suit_weight(rule, _of_suit(unseen, suit))
    return weights


@jit
def reshuffle_unseen(g, rule, seed):
    """Shuffle the cards of the stock that the player has not seen, by a uint64 seed.

    An order has the probability that it has for a player who knows the moves (`suit_weight`).
    """
    if stock_is_known(g, rule):
        return
    if equally_likely(rule):
        shuffle(g.deck, g.dealt, g.deck_size, seed)
    else:
        _shuffle_suits(g, rule, seed)


@internal
def _shuffle_suits(g, rule, seed):
    """Shuffle the stock: draw the suit of each place by its weight, then one of its cards."""
    state, unseen = np.uint64(seed), stock_cards(g)
    # Place by place. With 3 clubs and a heart unseen the weights are 4, 0, 2 and 0.
    for i in range(np.int64(g.dealt), np.int64(g.deck_size)):
        # The suit of this place, in proportion to the weights.
        state = state + GAMMA
        left = draw_below(state, _sum_of_weights(rule, unseen))
        suit = 0
        while left >= suit_weight(rule, _of_suit(unseen, suit)):
            left -= suit_weight(rule, _of_suit(unseen, suit))
            suit += 1
        # The card of the suit: each is equally likely. It trades places with the card here.
        state = state + GAMMA
        left = draw_below(state, _of_suit(unseen, suit))
        j = i
        while g.deck[j] & 3 != suit or left:
            left -= g.deck[j] & 3 == suit
            j += 1
        g.deck[i], g.deck[j] = g.deck[j], g.deck[i]
        unseen ^= ONE << np.uint64(g.deck[i])


@jit
def count_orders(rule, unseen):
    """How many orders, all equally likely, the unseen cards may be in.

    In most rule sets n cards may be in n! orders. In a `one_per_suit` opening these are orders of
    the unseen cards and of the bases of their suits, each base behind its suit: with 3 clubs and a
    heart unseen, (3 + 1 + 2)! / (4 * 2) = 90.

    Args:
        unseen: bit set of at most 20 cards, or of 18 in a `one_per_suit` opening.

    Returns:
        int64, less than 2^62.
    """
    if equally_likely(rule):  # what follows would count the same, but searches ask at every card
        return _FACTORIALS[popcount(unseen)]
    orders, places = 1, 0
    for suit in range(4):
        cards = _of_suit(unseen, suit)
        for _ in range(cards):  # each goes to any place among the cards before
            places += 1
            orders *= places
        weight = suit_weight(rule, cards)
        if weight > cards:  # so does the base, which is behind its suit in one of `weight` orders
            places += 1
            # orders * places / weight, though the product may not fit into 64 bits
            orders = orders // weight * places + orders % weight * places // weight
    return orders


@jit
def order_factor(rule, unseen, card):
    """For how many orders before a card is turned one order after it stands (`count_orders`).

    It is 1 in most rule sets. In a `one_per_suit` opening it is more if the card is the last unseen
    one of its suit, because its base may have been in any place behind it.

    Example: with 3 clubs and a heart unseen, it is 5 for the heart, whose base was in front of one
    of the clubs or of their base, or at the end; and 1 for a club.

    Args:
        unseen: bit set of the unseen cards, with the card.
    """
    if equally_likely(rule) or _of_suit(unseen, card & 3) > 1:
        return 1
    return _sum_of_weights(rule, unseen) - 1


@jit
def order_weight(g, rule):
    """For how many of the orders that `count_orders` counts the order of the unseen cards stands.

    It is in proportion to the order's probability, and 1 where all orders are equally likely.

    Example: 3 clubs and a heart are unseen. The orders H C C C, C H C C, C C H C and C C C H stand
    for 5, 4, 3 and 3 orders, and 3! * (5 + 4 + 3 + 3) = 90.
    """
    weight, unseen = 1, stock_cards(g)
    for i in range(np.int64(g.dealt), np.int64(g.deck_size)):
        weight *= order_factor(rule, unseen, g.deck[i])
        unseen ^= ONE << np.uint64(g.deck[i])
    return weight


# --- legal moves ------------------------------------------------------------------------------


@inlined
def _takers(wanted, key):
    """Which of eight piles take a card: byte j is 1 where byte j of ``wanted`` is the card's key.

    With top cards 9H, QC, 9S, KD and a space, and packing by rank alone, the piles want ranks 8, J,
    8, Q and nothing: numbers 7, 10, 7, 11 and 0xFF. The 8D, of rank number 7, has takers 0 and 2.

    The bytes of the difference that are zero are found for all eight at once: adding 0x7F to the
    low seven bits sets the high bit of a byte unless those bits are zero.
    """
    differ = wanted ^ (np.uint64(key) * _EACH)
    # No byte of the sum exceeds 0x7F + 0x7F = 0xFE, so nothing is carried into the next byte.
    return ~(((differ & _LOW) + _LOW) | differ | _LOW) >> _7


@internal
def _run_takers(g, rule, wanted, card):
    """`_takers` of any card of the packed sequence whose top card is a pile's top card."""
    accepts = rule.accepts[g.base[0]]
    # Any part of the sequence that ends at its top card may move, so each card of it may be the one
    # that lands on the target.
    takers = _takers(wanted, rule.key[card])
    # By rank alone, with 5C on 6D on 7S: piles with a top 6, 7 and 8 take the 5C, 6D and 7S.
    host = g.below[card]
    while host != NO_CARD and (accepts[host] >> np.uint64(card)) & ONE:
        takers |= _takers(wanted, rule.key[host])
        card, host = host, g.below[host]
    return takers


@inlined
def _next_up(g, rule):
    """Bit set of the cards that the foundations take next."""
    cards = ZERO
    for suit in range(4):
        level = np.int64(g.level[suit])
        if level < rule.ranks:  # a full foundation would wrap round and ask for its base again
            rank = g.base[suit] + level
            rank -= rule.ranks if rank >= rule.ranks else 0  # the lowest follows the highest
            cards |= ONE << np.uint64(4 * rank + suit)
    return cards


@inlined
def _append(words, word, at, flags, count):
    """Append ``count`` bytes, 0 or 1 each, to a row of words that is written from left to right.

    Args:
        word: the word being filled, at byte ``at`` of the row; it is stored when it is full.
        flags: 0 from byte ``count`` on; anything else would set moves that come later in the row.

    Returns:
        The word being filled and the byte of the row to continue at.
    """
    fill = at & 7  # bytes of the word that are taken
    word |= flags << np.uint64(8 * fill)
    if fill + count >= 8:
        words[at >> 3] = word
        # What did not fit. Two shifts, because a shift by 64 (fill 0) is undefined.
        word = (flags >> np.uint64(8 * (7 - fill))) >> _8
    return word, at + count


@inlined
def _without(flags, byte):
    """A word without one of its bytes; the bytes after it move down by one."""
    # Bytes are numbered from the lowest, so "before" is the low end of the word. Without byte 1,
    # 0x0D0C0B0A becomes 0x000D0C0A.
    before = (ONE << np.uint64(8 * byte)) - ONE
    return (flags & before) | ((flags >> _8) & ~before)


@internal
def legal(g, rule, distinct, words):
    """Write a position's legal moves; returns whether the game continues.

    Args:
        distinct: leave out the moves that only rename spaces: a lone card to a space, and any
            card to another space than the first.
        words: a row of `new_masks`: a byte for each move, 1 where the rules allow it. All 0 in a
            won game.

    Returns:
        False when the game is over: won, or only moves that rename spaces are left.
    """
    if is_won(g, rule):
        words[:] = 0
        return False
    reserve = rule.reserve
    # Most rule sets: with these constants the compiler unrolls the loops and drops the branches.
    if rule.piles == 5 and reserve == NO_PILE and not (rule.runs or rule.more_moves):
        return _write_legal(g, rule, distinct, words, 5, False, NO_PILE, False)
    return _write_legal(g, rule, distinct, words, rule.piles, rule.runs, reserve, rule.more_moves)


@inlined
def _write_legal(g, rule, distinct, words, piles, runs, reserve, more_moves):
    """`legal` of a game that is not won; the last four arguments may be known when compiled.

    The tableau is read in words of eight piles, a byte each: what each pile's top card wants, and
    which piles are spaces. One comparison shows which piles take a card, and its result is appended
    to the mask as it is, in the order of the move numbers (`engine.moves`). There are few branches,
    because a branch that depends on the cards costs more than the work that it saves.

    Two results are collected side by side. The words get every move that the rules (and
    ``distinct``) allow; ``useful`` gets a bit for every move that changes more than the names of
    the spaces. A game with no useful move is at a standstill even where its mask is not empty.
    """
    low = min(piles, 8)  # piles in the first word; the others are in the second
    high = piles - low
    next_up = _next_up(g, rule)
    wanted, spaces, up = _look(g, rule, next_up, 0, low)
    wanted_2, spaces_2, up_2 = _look(g, rule, next_up, low, piles)
    if reserve != NO_PILE:  # it stands among the first eight, takes no card and refills itself
        wanted |= _BYTE << np.uint64(8 * reserve)
        spaces &= ~(_BYTE << np.uint64(8 * reserve))
    has_space = spaces | spaces_2 != ZERO
    # Spaces are all alike, so one move to the first of them stands for the moves to the others.
    if distinct:  # x & -x keeps the lowest bit: the first space only
        spaces_2 = ZERO if spaces else spaces_2 & (~spaces_2 + ONE)
        spaces &= ~spaces + ONE

    # deal, W>F, Ti>F: all of them are useful.
    stock = stock_size(g)
    waste_card = g.top[WASTE]
    has_waste = waste_card != NO_CARD
    # `before_dealing`: the player must fill the spaces first, while the waste has a card.
    may_deal = stock > 0 and not (rule.spaces == BEFORE_DEALING and has_space and has_waste)
    if more_moves and rule.limited_redeal and stock_is_known(g, rule):
        may_deal = False  # the next card is turned automatically
    waste_up = (next_up >> np.uint64(waste_card)) & ONE  # 0 for no card: bit 52 is never set
    useful = np.uint64(may_deal) | waste_up | up | up_2
    word, at = _append(words, ZERO, 0, np.uint64(may_deal) | (waste_up << _8), 2)
    word, at = _append(words, word, at, up, low)
    if high:
        word, at = _append(words, word, at, up_2, high)

    # W>Tj. Without a waste card the key is _NO_KEY, which no pile wants. A space takes any card, so
    # it is added apart. All these moves are useful: they shorten the waste.
    key = rule.key[waste_card]
    targets = _takers(wanted, key) | (spaces if has_waste else ZERO)
    useful |= targets
    word, at = _append(words, word, at, targets, low)
    if high:
        targets = _takers(wanted_2, key) | (spaces_2 if has_waste else ZERO)
        useful |= targets
        word, at = _append(words, word, at, targets, high)

    # Ti>Tj, source by source. ``keep`` selects the spaces to which a move is useful, ``lone`` those
    # to which the mask shows it. They differ for a pile of one card: its move to a space only
    # renames spaces, but the rules allow it. Both are 0 for an empty pile.
    for source in range(piles):
        card = g.top[source]
        height = g.height[source]
        keep = ~ZERO if height > 1 else ZERO
        lone = ~ZERO if height == 1 and not distinct else keep
        if reserve != NO_PILE:  # of the piles' cards, only the reserve's may fill a space
            keep = lone = ~ZERO if source == reserve and height else ZERO
        is_run = runs and height > 1
        key = rule.key[card]
        own = source < low
        targets = _run_takers(g, rule, wanted, card) if is_run else _takers(wanted, key)
        # A pile has no move to itself. Its byte is cleared before it could count as useful, and
        # removed (`_without`) before the flags are appended, because the moves are numbered so.
        if own:
            targets &= ~(_BYTE << np.uint64(8 * source))
        if source == reserve:  # its card goes on no other
            targets = ZERO
        useful |= targets | (spaces & keep)
        targets |= spaces & lone
        if own:
            targets = _without(targets, source)
        word, at = _append(words, word, at, targets, low - own)
        if high:
            targets = _run_takers(g, rule, wanted_2, card) if is_run else _takers(wanted_2, key)
            if not own:
                targets &= ~(_BYTE << np.uint64(8 * (source - low)))
            if source == reserve:
                targets = ZERO
            useful |= targets | (spaces_2 & keep)
            targets |= spaces_2 & lone
            if not own:
                targets = _without(targets, source - low)
            word, at = _append(words, word, at, targets, high - (not own))

    # redeal, F:s>Tj, S>F and S>Tj, in the rule sets that have them.
    # All of them are useful, too.
    if more_moves and rule.redeals:
        may_redeal = np.uint64(stock == 0 and has_waste and g.redeals > 0)
        useful |= may_redeal
        word, at = _append(words, word, at, may_redeal, 1)
    if more_moves and rule.worrying_back:
        for suit in range(4):
            card = foundation_top(g, rule, suit) if g.level[suit] else NO_CARD
            key = rule.key[card]
            fills = card != NO_CARD and reserve == NO_PILE  # only the reserve fills spaces
            targets = _takers(wanted, key) | (spaces if fills else ZERO)
            useful |= targets
            word, at = _append(words, word, at, targets, low)
            if high:
                targets = _takers(wanted_2, key) | (spaces_2 if fills else ZERO)
                useful |= targets
                word, at = _append(words, word, at, targets, high)
    if more_moves and rule.limited_redeal:
        card = face_up_card(g, rule)
        key = rule.key[card]
        up = (next_up >> np.uint64(card)) & ONE
        targets = _takers(wanted, key) | (spaces if card != NO_CARD else ZERO)
        useful |= up | targets
        word, at = _append(words, word, at, up, 1)
        word, at = _append(words, word, at, targets, low)
        if high:
            targets = _takers(wanted_2, key) | (spaces_2 if card != NO_CARD else ZERO)
            useful |= targets
            word, at = _append(words, word, at, targets, high)
    # The last word, if it is not full. Every word of the row has been written then, so the caller
    # does not clear it first.
    if at & 7:
        words[at >> 3] = word
    return useful != ZERO


@inlined
def _look(g, rule, next_up, first, last):
    """Piles first to last - 1 in a word: what each wants, which are spaces, whose card goes up."""
    wants = rule.wants[g.base[0]]  # where packing matters, all foundations have one base rank
    wanted = ~ZERO  # bytes without a pile stay _WANTS_NONE
    spaces = ZERO
    up = ZERO
    # From the last pile to the first, each shift makes room below: the first ends in byte 0.
    for pile in range(last - 1, first - 1, -1):
        top = g.top[pile]
        wanted = (wanted << _8) | np.uint64(wants[top])
        spaces = (spaces << _8) | np.uint64(top == NO_CARD)
        up = (up << _8) | ((next_up >> np.uint64(top)) & ONE)
    return wanted, spaces, up


@jit
def foundation_top(g, rule, suit):
    """The top card of a suit's foundation that is not empty."""
    rank = (np.int64(g.base[suit]) + np.int64(g.level[suit]) - 1) % rule.ranks
    return 4 * rank + suit


# --- play -------------------------------------------------------------------------------------


@jit
def moved_card(g, rule, source, target):
    """The card that a legal move takes from a pile or a foundation.

    If a run moves, it is the bottom card of the shortest packed part that fits the target.
    """
    if source >= FOUNDATION:
        return np.uint8(foundation_top(g, rule, source - FOUNDATION))
    card = g.top[source]
    if rule.runs and target < WASTE and g.top[target] != NO_CARD:  # to a space: one card only
        host = g.top[target]
        accepts = rule.accepts[g.base[0]]
        # The move is legal, so a card that fits is found before the packed sequence ends.
        while not (accepts[host] >> np.uint64(card)) & ONE:
            card = g.below[card]
    return card


@merged
def _move_run(g, rule, source, target):
    """Move the shortest packed part of a pile whose bottom card fits the target, as a unit."""
    top = card = g.top[source]
    bottom = moved_card(g, rule, source, target)
    cards = 1
    while card != bottom:
        card = g.below[card]
        cards += 1
    # Only the ends of the run change: its cards stay chained to each other. From 7D 6H 5C, the 6H
    # and the 5C go to a 7S: below[6H] becomes 7S, and the tops become 7D and 5C.
    g.top[source] = g.below[bottom]
    g.below[bottom] = g.top[target]
    g.top[target] = top
    g.height[source] -= cards
    g.height[target] += cards


@merged
def _redeal(g):
    """Turn the waste over to be the stock again, in the order in which it was dealt."""
    g.deck[:] = NO_CARD
    g.deck_size = g.height[WASTE]  # cards that were played from the waste have left the deck
    g.dealt = 0
    # The waste's top card was dealt last, and will be dealt last again.
    for i in range(g.deck_size - 1, -1, -1):
        card = _take(g, WASTE)
        g.below[card] = NO_CARD
        g.deck[i] = card
    g.redeals -= 1


@merged
def _fill_from_stock(g, rule):
    """`auto_stock`: fill every space from the stock, while there is a card."""
    # In the order of the piles: the first space gets the next card.
    for pile in range(rule.piles):
        if g.top[pile] == NO_CARD and stock_size(g) > 0:
            _put(g, _draw(g), pile)


@merged
def _fill_from_waste(g, source):
    """`auto_waste`: a pile that the move has emptied gets the waste's top card.

    If that, or the move itself, empties the waste, the waste gets a card from the stock. So the
    waste is empty with cards in the stock only just after a redeal. A pile that is emptied then
    stays a space, for the player to fill, as in PySolFC's code (`fillStack`).
    """
    if source < WASTE and g.top[source] == NO_CARD and g.top[WASTE] != NO_CARD:
        _put(g, _take(g, WASTE), source)
        source = WASTE
    if source == WASTE and g.top[WASTE] == NO_CARD and stock_size(g) > 0:
        _turn(g)


@merged
def _refill(g, rule, source, target):
    """Do what follows a move automatically: fill spaces, turn a card in a limited redeal.

    Each step may draw from the stock, so their order is part of the rules.
    """
    if rule.spaces == AUTO_STOCK:
        _fill_from_stock(g, rule)
    elif rule.spaces == AUTO_WASTE and target != STOCK:
        _fill_from_waste(g, source)
    if rule.reserve != NO_PILE and g.top[rule.reserve] == NO_CARD and stock_size(g) > 0:
        _put(g, _draw(g), rule.reserve)
    # In a limited redeal the card on the stock is face up, and joins an empty waste at once.
    if g.top[WASTE] == NO_CARD and face_up_card(g, rule) != NO_CARD:
        _turn(g)


@jit
def play(g, rule, move):
    """Play a legal move by its number. Does not check that the move is legal: see `legal`."""
    source = np.int64(rule.source[move])
    target = np.int64(rule.target[move])
    g.moves += 1
    # The card on the stock: a deal, or after a limited redeal a move of the card that is face up.
    if source == STOCK:
        if target == WASTE:
            _turn(g)
            return  # a deal empties no place, so nothing has to be filled
        if target == FOUNDATION:
            _put_up(g, _draw(g))
        else:
            _put(g, _draw(g), target)
    elif target == STOCK:
        _redeal(g)
    elif target == FOUNDATION:
        _put_up(g, _take(g, source))
    elif source >= FOUNDATION:  # not the stock, which the first branch has handled
        suit = source - FOUNDATION
        card = foundation_top(g, rule, suit)  # before the level falls
        g.level[suit] -= 1
        g.cards_up -= 1
        _put(g, card, target)
    elif rule.runs and source != WASTE and g.top[target] != NO_CARD:  # to a space: one card only
        _move_run(g, rule, source, target)
    else:
        _put(g, _take(g, source), target)
    # What the rules do by themselves, such as filling a space from the stock.
    if rule.refills:
        _refill(g, rule, source, target)


@inlined
def ends_decision(g, rule, move, dealt):
    """Whether a move that has been played turned a card of the stock, or the waste over.

    Args:
        g: the position after the move.
        dealt: ``g.dealt`` before it.
    """
    return g.dealt != dealt or rule.target[move] == STOCK


# --- arrays of games, for Python callers ------------------------------------------------------


@jit
def start_all(games, rules, deals):
    """`start` for each game: GAME (n,), RULE (1,), int64 (n,)."""
    for i in range(len(games)):
        start(games[i], rules[0], deals[i])


def new_masks(count: int, rules: Rules) -> tuple[NDArray[np.uint64], NDArray[np.int8]]:
    """Zeroed masks of ``count`` games, in two views: words as `legal` writes them, and int8.

    >>> words, masks = new_masks(4, RULES["four-seasons"])
    >>> words.shape, masks.shape, np.shares_memory(words, masks)
    ((4, 4), (4, 32), True)

    Returns:
        uint64 of shape (count, words) and, over the same memory, int8 of shape (count, actions).
    """
    actions = len(all_moves(rules))
    words = np.zeros((count, -(-actions // 8)), "<u8")
    return words, words.view(np.int8)[:, :actions]


@jit
def legal_all(games, rules, distinct, words, continues):
    """`legal` for each game into words of `new_masks` and continues (n,) bool."""
    for i in range(len(games)):
        continues[i] = legal(games[i], rules[0], distinct, words[i])


@jit
def play_each(games, rules, moves):
    """`play` for each game; moves (n,) int64."""
    for i in range(len(games)):
        play(games[i], rules[0], moves[i])


def public_copy(
    games: NDArray[np.void], rules: NDArray[np.void], seeds: NDArray[np.uint64]
) -> NDArray[np.void]:
    """Copies of positions that an agent may see: nothing in them depends on what is hidden.

    The deal's number is forgotten, because every card follows from it. The unseen cards are in the
    order of `reshuffle_unseen`.

    >>> from four_seasons_env.game import Game
    >>> record = Game(deal=17).record
    >>> copy = public_copy(record, compile_rules(RULES["four-seasons"]), np.array([0], np.uint64))
    >>> copy["deal"].tolist(), [bool((copy[it] == record[it]).all()) for it in ("top", "deck")]
    ([-1], [True, False])

    Args:
        games: GAME (n,).
        rules: RULE (1,).
        seeds: (n,), of the reshuffles.
    """
    shown = games.copy()
    _forget_all(shown, rules, seeds)
    return shown


@jit
def _forget_all(games, rules, seeds):
    """See `public_copy`."""
    for i in range(len(games)):
        games[i].deal = -1
        # Sorted first: who knows the seed could undo a shuffle of the true order.
        sort_unseen(games[i], rules[0])
        reshuffle_unseen(games[i], rules[0], seeds[i])
