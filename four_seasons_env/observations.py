"""Observations: what a player knows of a position, as a vector of float32 in [0, 1].

Batches of games keep counts of cards, in a quarter of the memory, and write the vectors from them.

There are two encoders. A rule set has R ranks, P piles and N = 4 R cards. Ranks are *relative*: 0
is the base card's rank, 1 is the next that its foundation takes, and so on up to R - 1. Spaces, an
empty waste and unknown cards are all zeros. Neither encoder reads the order of a stock that the
player has not seen.

`tops` shows the table without the covered cards. Its length is
(P + 1)(R + 4) + 4 (R + 1) + P + R + 3, plus R + 4 where a redeal is limited:

=====================  ===============================================================
slots                  meaning
=====================  ===============================================================
(P + 1) x (R + 4)      for each pile in turn, then for the waste: its top card, as a
                       one-hot relative rank (R) and a one-hot suit (4: C, S, H, D)
4 x (R + 1)            for each suit: foundation level 0 to R, one-hot
P                      height of each pile / N
R                      base rank (of clubs, where suits differ), one-hot
1                      cards left in the stock / N
1                      cards in the waste / N
1                      redeals left / 2
R + 4 if limited       the card that lies face up on the stock, as the piles' top cards
=====================  ===============================================================

`cards` is everything that a player with perfect memory knows: `tops` followed by N x (P + 5) slots,
for each card in the order of its suit and then its relative rank:

=====================  ===============================================================
slots                  meaning
=====================  ===============================================================
1                      it is in the stock (before a redeal: unseen)
1                      it is on its foundation
1                      it is in the waste
P                      it is in pile 0, 1, ...
1                      cards that lie on it / N (piles and waste)
1                      cards to be dealt up to and including it / N (stock after a redeal)
=====================  ===============================================================
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np
from numba import types
from numpy.typing import NDArray

from four_seasons_env.arguments import check_choice
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import by_type, inlined, internal, jit
from four_seasons_env.engine.kernel import (
    face_up_card,
    relative_rank,
    stock_is_known,
    stock_size,
)
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.rules import Rules

OBSERVATIONS = ("tops", "cards")
CARDS = 1
KINDS = {"tops": None, "cards": CARDS}
"""The kinds as compiled functions take them. Code for the type of None leaves out what only `cards`
needs, which saves a fifth of the time that a first step takes to compile."""

_OFF = np.uint8(0)
_MOST_REDEALS = 2
_HALF = np.float32(1 / _MOST_REDEALS)


def tops_length(rules: Rules) -> int:
    """Slots of the `tops` vector."""
    shown_cards = rules.piles + 1 + rules.limited_redeal
    return shown_cards * (rules.ranks + 4) + 5 * rules.ranks + rules.piles + 7


def observation_length(rules: Rules, observation: str) -> int:
    """Slots of an observation vector.

    Raises:
        ValueError: for an unknown observation, with the nearest one.
    """
    check_choice("observation", observation, OBSERVATIONS)
    extra = rules.cards * (rules.piles + 5) if observation == "cards" else 0
    return tops_length(rules) + extra


def observation_space(rules: Rules, observation: str) -> gym.spaces.Box:
    """The space of an observation vector."""
    return gym.spaces.Box(0.0, 1.0, (observation_length(rules, observation),), np.float32)


def largest_counts(rules: Rules, observation: str) -> NDArray[np.uint8]:
    """The largest count of each slot, of cards or redeals; 1 for a slot that means yes or no."""
    most = np.ones(observation_length(rules, observation), np.uint8)
    end = tops_length(rules)
    counts_end = end - (rules.ranks + 4 if rules.limited_redeal else 0)
    heights = counts_end - 3 - rules.ranks - rules.piles
    most[heights : heights + rules.piles] = rules.cards
    most[counts_end - 3 : counts_end - 1] = rules.cards
    most[counts_end - 1] = _MOST_REDEALS
    most[end:].reshape(-1, rules.piles + 5)[:, -2:] = rules.cards
    return most


SHOWN = np.dtype([("top", "u1", (13,)), ("level", "u1", (4,))], align=True)
"""Current values of the one-hot slots of a row, so that a step writes only changes."""


@by_type
def _share(out, count, share):
    """A count, for a row of counts; for a row of float32, its product with ``share``."""
    if out.dtype == types.uint8:
        return lambda out, count, share: np.uint8(count)
    return lambda out, count, share: np.float32(count) * share


@inlined
def _on(out):
    """The value of a row's slot for yes."""
    return _share(out, 1, np.float32(1.0))


@inlined
def _show_card(g, rule, at, card, value, spare, out):
    """Set the rank and suit slots of a card to a value; for no card, set a spare slot instead."""
    is_card = card != NO_CARD
    suit = card & 3
    out[at + relative_rank(g, rule, card) if is_card else spare] = value
    out[at + rule.ranks + suit if is_card else spare] = value


@inlined
def _heights_at(rule):
    """The first of the slots for pile heights."""
    return (rule.piles + 1) * (rule.ranks + 4) + 4 * (rule.ranks + 1)


@inlined
def _refresh_place(g, rule, place, shown, out):
    """Update top card and height of a pile, or of the waste.

    There is no branch on the cards: for no card, the values go to the slot of the height, which is
    written last.
    """
    piles = rule.piles
    is_waste = place == WASTE
    at = (piles if is_waste else place) * (rule.ranks + 4)
    height_at = _heights_at(rule) + (piles + rule.ranks + 1 if is_waste else place)
    card = g.top[place]
    _show_card(g, rule, at, shown.top[place], _OFF, height_at, out)
    _show_card(g, rule, at, card, _on(out), height_at, out)
    shown.top[place] = card
    out[height_at] = _share(out, g.height[place], rule.share)


@inlined
def _refresh_level(g, rule, suit, shown, out):
    """Update a suit's foundation level."""
    at = (rule.piles + 1) * (rule.ranks + 4) + suit * (rule.ranks + 1)
    out[at + shown.level[suit]] = _OFF
    out[at + g.level[suit]] = _on(out)
    shown.level[suit] = g.level[suit]


@inlined
def _refresh_stock(g, rule, out):
    """Update the number of cards left in the stock."""
    out[_heights_at(rule) + rule.piles + rule.ranks] = _share(out, stock_size(g), rule.share)


@internal
def _refresh_tops(g, rule, shown, out):
    """Update all `tops` slots except the base."""
    for pile in range(rule.piles):
        _refresh_place(g, rule, pile, shown, out)
    _refresh_place(g, rule, WASTE, shown, out)
    for suit in range(4):
        _refresh_level(g, rule, suit, shown, out)
    _refresh_stock(g, rule, out)
    at = _heights_at(rule) + rule.piles + rule.ranks + 2
    out[at] = _share(out, g.redeals, _HALF)
    if rule.limited_redeal:
        card = face_up_card(g, rule)
        out[at + 1 : _tops_end(rule)] = _OFF
        if card != NO_CARD:
            _show_card(g, rule, at + 1, card, _on(out), at + 1, out)


@inlined
def _tops_end(rule):
    """How many `tops` slots there are."""
    end = _heights_at(rule) + rule.piles + rule.ranks + 3
    return end + rule.ranks + 4 if rule.limited_redeal else end


@inlined
def _card_row(g, rule, card, out):
    """A card's slots among those of all cards, emptied."""
    width = rule.piles + 5
    at = ((card & 3) * rule.ranks + relative_rank(g, rule, card)) * width
    row = out[at : at + width]
    row[:] = _OFF
    return row


@internal
def _write_place(g, rule, place, out):
    """Write the slots of each card of a pile, or of the waste."""
    slot = 2 if place == WASTE else 3 + place
    card = g.top[place]
    lying_on_it = 0
    while card != NO_CARD:
        row = _card_row(g, rule, card, out)
        row[slot] = _on(out)
        row[rule.piles + 3] = _share(out, lying_on_it, rule.share)
        lying_on_it += 1
        card = g.below[card]


@internal
def _write_cards(g, rule, out):
    """Write the slots of every card."""
    for pile in range(rule.piles):
        _write_place(g, rule, pile, out)
    _write_place(g, rule, WASTE, out)
    for suit in range(4):
        for level in range(g.level[suit]):
            rank = (g.base[suit] + level) % rule.ranks
            _card_row(g, rule, 4 * rank + suit, out)[1] = _on(out)
    known = stock_is_known(g, rule)
    for i in range(g.dealt, g.deck_size):
        row = _card_row(g, rule, g.deck[i], out)
        row[0] = _on(out)
        if known:
            row[rule.piles + 4] = _share(out, i - g.dealt + 1, rule.share)


@internal
def _refresh_cards(g, rule, source, target, put_up, out):
    """Update the slots of the cards that a move has touched.

    Args:
        put_up: the card that the move has put on a foundation, if its target is one.
    """
    if target == FOUNDATION:
        _card_row(g, rule, put_up, out)[1] = _on(out)
    else:
        _write_place(g, rule, target, out)
    if source <= WASTE:
        _write_place(g, rule, source, out)


@jit
def refresh(g, rule, kind, shown, out, move):
    """Update a row that `encode` has written, after a move of the same game.

    Reads only the places that the move has touched. Reads all places if the rules may have moved
    more cards than the player, or if the order of the stock is known.
    """
    source = rule.source[move]
    target = rule.target[move]
    if rule.refills or target == STOCK or stock_is_known(g, rule):
        _refresh_tops(g, rule, shown, out)
        if kind is not None:
            _write_cards(g, rule, out[_tops_end(rule) :])
        return
    moved = shown.top[source] if source <= WASTE else NO_CARD
    if source == STOCK:
        _refresh_stock(g, rule, out)
    elif source >= FOUNDATION:
        _refresh_level(g, rule, source - FOUNDATION, shown, out)
    else:
        _refresh_place(g, rule, source, shown, out)
    if target == FOUNDATION:
        _refresh_level(g, rule, moved & 3, shown, out)
    else:
        _refresh_place(g, rule, target, shown, out)
    if kind is not None:
        _refresh_cards(g, rule, source, target, moved, out[_tops_end(rule) :])


@jit
def encode(g, rule, kind, shown, out):
    """Write a position's observation of a kind (one of `KINDS`) into a row: counts, or float32.

    ``shown``, a SHOWN record, is written too: `refresh` needs it.
    """
    out[:] = _OFF
    shown.top[:] = NO_CARD
    shown.level[:] = 0
    _refresh_tops(g, rule, shown, out)
    out[_heights_at(rule) + rule.piles + g.base[0]] = _on(out)
    if kind is not None:
        _write_cards(g, rule, out[_tops_end(rule) :])


@jit
def encode_all(games, rules, kind, out):
    """`encode` for each game: GAME (n,), RULE (1,), float32 (n, length)."""
    shown = np.empty(1, SHOWN)
    for i in range(len(games)):
        encode(games[i], rules[0], kind, shown[0], out[i])


@jit
def show_all(counts, shares, out):
    """Write rows of counts as observations: uint8 (n, slots).

    One loop over all rows takes half the time of a function for each.

    Args:
        shares: float32 (slots,), what a count of 1 is in each slot of an observation.
        out: float32 (n, slots).
    """
    for i in range(len(counts)):
        for j in range(len(shares)):
            out[i, j] = np.float32(counts[i, j]) * shares[j]
