"""Observations: what a player knows of a position, as a vector of numbers.

There are three encoders. `tops` and `cards` write float32 in [0, 1]; batches of games keep them as
counts of cards, in a quarter of the memory. `places` writes uint8. A rule set has R ranks, P piles
and N = 4 R cards. Ranks are *relative*: 0 is the base card's rank, 1 is the next that its
foundation takes, and so on up to R - 1. No encoder reads the order of a stock that the player has
not seen.

The slots are frozen, because saved policies depend on them: `tests/reference/golden/frozen.txt`.

`tops` shows the table without the covered cards. Its length is
(P + 1)(R + 4) + 4 (R + 1) + P + R + 3, plus R + 4 where a redeal is limited. Spaces, an empty waste
and unknown cards are all zeros. `TopsSlots` has the number of the first slot of each part:

| part      | slots           | meaning                                                           |
| --------- | --------------- | ------------------------------------------------------------------ |
| `top`     | (P + 1) (R + 4) | for each pile in turn, then for the waste: its top card, as a     |
|           |                 | one-hot relative rank (R) and a one-hot suit (4: C, S, H, D)      |
| `level`   | 4 (R + 1)       | for each suit: foundation level 0 to R, one-hot                   |
| `height`  | P               | height of each pile / N                                           |
| `base`    | R               | base rank (of clubs, where suits differ), one-hot                 |
| `stock`   | 1               | cards left in the stock / N                                       |
| `waste`   | 1               | cards in the waste / N                                            |
| `redeals` | 1               | redeals left / 2                                                  |
| `face_up` | R + 4           | if limited: the card that lies face up on the stock, as top cards |

`cards` is everything that a player with perfect memory knows: `tops` followed by N x (P + 5) slots,
for each card in the order of its suit and then its relative rank:

| slots | meaning                                                                  |
| ----- | ------------------------------------------------------------------------ |
| 1     | it is in the stock (before a redeal: unseen)                             |
| 1     | it is on its foundation                                                  |
| 1     | it is in the waste                                                       |
| P     | it is in pile 0, 1, ...                                                  |
| 1     | cards that lie on it / N (piles and waste)                               |
| 1     | cards to be dealt up to and including it / N (stock after a redeal)      |

`places` says the same in 2 N + 3 bytes, 107 for five piles and a full deck, with the cards in the
same order. It is for networks that look the numbers up in tables: a place is not a quantity.

| slots | meaning                                                                                  |
| ----- | ---------------------------------------------------------------------------------------- |
| N     | where each card is: 0 in the stock (before a redeal: unseen), 1 on its foundation, 2 in  |
|       | the waste, 3 + p in pile p                                                               |
| N     | for each card: cards that lie on it (piles and waste), or cards to be dealt up to and    |
|       | including it (stock after a redeal); else 0                                              |
| 1     | base rank (of clubs, where suits differ), 0 to R - 1                                     |
| 1     | cards left in the stock                                                                  |
| 1     | redeals left                                                                             |

A position of four-seasons with base 8, where pile 2 is the 2D with the AC on it:

>>> from four_seasons_env.game import Game
>>> game = Game(deal=2**32 + 37).after("T0>T2")
>>> game.bases["D"], game.tableau[2]
('8D', ['2D', 'AC'])

An ace is six ranks above an eight, and a two seven ranks; the suits are C, S, H, D:

>>> places = observations_of(game.record, game.rules, "places")[0].tolist()
>>> ace, two = 6, 3 * 13 + 7
>>> places[ace], places[two]  # both lie in pile 2, which is 3 + 2
(5, 5)
>>> places[52 + ace], places[52 + two]  # no card lies on the ace, and one on the two
(0, 1)
>>> tops = observations_of(game.record, game.rules, "tops")[0].tolist()
>>> pile = tops[2 * 17 : 3 * 17]  # 13 ranks and four suits
>>> pile.index(1), pile[13:]
(6, [1.0, 0.0, 0.0, 0.0])
"""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_choice
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import by_type, inlined, internal, is_a, jit, merged
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE
from four_seasons_env.engine.validation import check_games
from four_seasons_env.rules import Rules

VECTORS = ("tops", "cards")
"""The observations that are float32 in [0, 1]."""

OBSERVATIONS = (*VECTORS, "places")


class Tops(NamedTuple):
    """`tops`, for compiled functions: a variant with a type of its own (`engine.jit`)."""


class Cards(NamedTuple):
    """`cards`, likewise."""


class Places(NamedTuple):
    """`places`, likewise."""


KINDS = dict(zip(OBSERVATIONS, (Tops(), Cards(), Places()), strict=True))
"""The observations as compiled functions take them."""

IN_STOCK, IN_FOUNDATION, IN_WASTE, IN_PILES = range(4)
"""Where a card is; pile p is IN_PILES + p."""

_OFF = np.uint8(0)
_MOST_REDEALS = 2
_HALF = np.float32(1 / _MOST_REDEALS)


# --- slots ------------------------------------------------------------------------------------


class TopsSlots(NamedTuple):
    """The first slot of each part of `tops`, and its length; the file's docstring has the parts."""

    top: int
    level: int
    height: int
    base: int
    stock: int
    waste: int
    redeals: int
    face_up: int
    end: int


@merged
def _tops_slots(rule):
    """The slots of a rule set."""
    level = (rule.piles + 1) * (rule.ranks + 4)  # after the top cards of the piles and the waste
    height = level + 4 * (rule.ranks + 1)
    base = height + rule.piles
    stock = base + rule.ranks
    face_up = stock + 3
    end = face_up + rule.ranks + 4 if rule.limited_redeal else face_up
    return TopsSlots(0, level, height, base, stock, stock + 1, stock + 2, face_up, end)


def largest_counts(rules: Rules, observation: str) -> NDArray[np.uint8]:
    """The largest number of each slot, of cards or redeals; 1 for a slot that means yes or no.

    >>> largest_counts(RULES["four-seasons"], "places")[-3:].tolist()  # base, stock, redeals
    [12, 52, 2]

    Raises:
        ValueError: for an unknown observation, with the nearest one.
    """
    check_choice("observation", observation, OBSERVATIONS)
    ranks, piles, cards = rules.ranks, rules.piles, rules.cards
    if observation == "places":
        each = [IN_PILES + piles - 1] * cards + [cards] * cards
        return np.array([*each, ranks - 1, cards, _MOST_REDEALS], np.uint8)
    # One-hot slots and the others in `tops`.
    tops = inspect.unwrap(_tops_slots)(rules)
    largest = np.ones(tops.end, np.uint8)
    largest[tops.height : tops.base] = cards
    largest[tops.stock : tops.redeals] = cards
    largest[tops.redeals] = _MOST_REDEALS
    # `cards` adds the same slots for each card.
    of_card = np.array([*[1] * (IN_PILES + piles), cards, cards], np.uint8)
    return np.append(largest, np.tile(of_card, cards * (observation == "cards")))


def observation_length(rules: Rules, observation: str) -> int:
    """Slots of an observation; see `largest_counts`."""
    return len(largest_counts(rules, observation))


def observation_space(rules: Rules, observation: str) -> gym.spaces.Box:
    """The space of an observation; that of `places` names its `rules`.

    Rule sets with equal spaces may still number their moves differently. A policy that is made for
    a space, as in Stable-Baselines3, finds its rule set there.
    """
    high = largest_counts(rules, observation)
    if observation != "places":
        return gym.spaces.Box(0.0, 1.0, high.shape, np.float32)
    space = gym.spaces.Box(np.zeros_like(high), high, dtype=np.uint8)
    space.rules = rules  # type: ignore[attr-defined]
    return space


SHOWN = np.dtype([("top", "u1", (13,)), ("level", "u1", (4,))], align=True)
"""Current values of the one-hot slots of a row, so that a step writes only changes."""


@by_type
def _share(out, count, share):
    """A count, for a row of counts; for a row of float32, its product with ``share``."""
    if str(out.dtype) == "uint8":  # of NumPy if the code runs as Python, else of Numba
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
    out[at + kernel.relative_rank(g, rule, card) if is_card else spare] = value
    out[at + rule.ranks + suit if is_card else spare] = value


@inlined
def _refresh_place(g, rule, place, shown, out):
    """Update top card and height of a pile, or of the waste.

    There is no branch on the cards: for no card, the values go to the slot of the height, which is
    written last.
    """
    slots = _tops_slots(rule)
    is_waste = place == WASTE
    at = slots.top + (rule.piles if is_waste else place) * (rule.ranks + 4)
    height_at = slots.waste if is_waste else slots.height + place
    card = g.top[place]
    # The card that has left is taken off, then the one that lies there now is put on.
    _show_card(g, rule, at, shown.top[place], _OFF, height_at, out)
    _show_card(g, rule, at, card, _on(out), height_at, out)
    shown.top[place] = card
    out[height_at] = _share(out, g.height[place], rule.share)


@inlined
def _refresh_level(g, rule, suit, shown, out):
    """Update a suit's foundation level."""
    at = _tops_slots(rule).level + suit * (rule.ranks + 1)
    out[at + shown.level[suit]] = _OFF
    out[at + g.level[suit]] = _on(out)
    shown.level[suit] = g.level[suit]


@inlined
def _refresh_stock(g, rule, out):
    """Update the number of cards left in the stock."""
    out[_tops_slots(rule).stock] = _share(out, kernel.stock_size(g), rule.share)


@internal
def _refresh_tops(g, rule, shown, out):
    """Update all `tops` slots except the base."""
    for pile in range(rule.piles):
        _refresh_place(g, rule, pile, shown, out)
    _refresh_place(g, rule, WASTE, shown, out)
    for suit in range(4):
        _refresh_level(g, rule, suit, shown, out)
    _refresh_stock(g, rule, out)
    slots = _tops_slots(rule)
    out[slots.redeals] = _share(out, g.redeals, _HALF)
    if rule.limited_redeal:
        card = kernel.face_up_card(g, rule)
        out[slots.face_up : slots.end] = _OFF
        if card != NO_CARD:
            _show_card(g, rule, slots.face_up, card, _on(out), slots.face_up, out)


@by_type
def _write_card(g, rule, kind, card, where, count, out):
    """Write the slots of a card: where it is, and the count that goes with it.

    The count is of the cards that lie on it or, in a known stock, are dealt up to and including it.
    """
    return _write_in_places if is_a(kind, Places) else _write_in_vector


def _write_in_vector(g, rule, kind, card, where, count, out):
    width = rule.piles + 5
    at = ((card & 3) * rule.ranks + kernel.relative_rank(g, rule, card)) * width
    row = out[at : at + width]
    row[:] = _OFF
    row[where] = _on(out)
    lying = IN_PILES + rule.piles  # the slot for cards that lie on it; the next is for the deal
    row[lying + 1 if where == IN_STOCK else lying] = _share(out, count, rule.share)


def _write_in_places(g, rule, kind, card, where, count, out):
    at = (card & 3) * rule.ranks + kernel.relative_rank(g, rule, card)
    out[at] = where
    out[rule.cards + at] = count


@internal
def _write_place(g, rule, kind, place, out):
    """Write the slots of each card of a pile, or of the waste."""
    where = IN_WASTE if place == WASTE else IN_PILES + place
    card = g.top[place]
    lying_on_it = 0
    while card != NO_CARD:
        _write_card(g, rule, kind, card, where, lying_on_it, out)
        lying_on_it += 1
        card = g.below[card]


@internal
def _write_cards(g, rule, kind, out):
    """Write the slots of every card."""
    # 1. Piles and waste.
    for pile in range(rule.piles):
        _write_place(g, rule, kind, pile, out)
    _write_place(g, rule, kind, WASTE, out)
    # 2. Foundations, whose cards are the ranks from the base up.
    for suit in range(4):
        for level in range(g.level[suit]):
            rank = (g.base[suit] + level) % rule.ranks
            _write_card(g, rule, kind, 4 * rank + suit, IN_FOUNDATION, 0, out)
    # 3. The stock. Its order shows only where the player knows it.
    known = kernel.stock_is_known(g, rule)
    for i in range(kernel.stock_size(g)):
        _write_card(g, rule, kind, g.deck[g.dealt + i], IN_STOCK, i + 1 if known else 0, out)


@internal
def _refresh_cards(g, rule, kind, source, target, put_up, out):
    """Update the slots of the cards that a move has touched.

    Args:
        put_up: the card that the move has put on a foundation, if its target is one.
    """
    if target == FOUNDATION:
        _write_card(g, rule, kind, put_up, IN_FOUNDATION, 0, out)
    else:
        _write_place(g, rule, kind, target, out)
    if source <= WASTE:
        _write_place(g, rule, kind, source, out)


@by_type
def _add_cards(g, rule, kind, out):
    """Write what `cards` adds to `tops`."""
    if is_a(kind, Tops):
        return lambda g, rule, kind, out: None
    return lambda g, rule, kind, out: _write_cards(g, rule, kind, out[_tops_slots(rule).end :])


@by_type
def _update_cards(g, rule, kind, source, target, put_up, out):
    """`_refresh_cards` of what `cards` adds to `tops`."""
    if is_a(kind, Tops):
        return lambda g, rule, kind, source, target, put_up, out: None
    return lambda g, rule, kind, source, target, put_up, out: _refresh_cards(
        g, rule, kind, source, target, put_up, out[_tops_slots(rule).end :]
    )


@by_type
def refresh(g, rule, kind, shown, out, move):
    """Update a row that `encode` has written, after a move of the same game.

    Reads only the places that the move has touched. Reads all places if the rules may have moved
    more cards than the player, or if the order of the stock is known.
    """
    return _refresh_places if is_a(kind, Places) else _refresh_vector


@inlined
def _may_touch_all(g, rule, target):
    """Whether all places must be written again after a move, see `refresh`."""
    return rule.refills or target == STOCK or kernel.stock_is_known(g, rule)


@inlined
def _keep_tops(g, shown):
    """Keep the top cards, so that `refresh` knows which card has left a place.

    A loop, because the assignment of an array compiles for a second.
    """
    for place in range(len(shown.top)):
        shown.top[place] = g.top[place]


def _refresh_places(g, rule, kind, shown, out, move):
    source, target = np.int64(rule.source[move]), np.int64(rule.target[move])
    if _may_touch_all(g, rule, target):
        encode(g, rule, kind, shown, out)
        return
    # A run has more than one card, so all cards of both places may have changed.
    if rule.runs:
        moved = shown.top[source] if source <= WASTE else NO_CARD
        _refresh_cards(g, rule, kind, source, target, moved, out)
        _keep_tops(g, shown)
    else:
        _move_card(g, rule, shown, out, source, target)
    out[2 * rule.cards + 1] = kernel.stock_size(g)


@inlined
def _move_card(g, rule, shown, out, source, target):
    """Update a row of `places` after the move of one card, without a branch on the cards."""
    old, new = min(source, WASTE), min(target, WASTE)  # places that have a top card
    card = shown.top[old] if source <= WASTE else g.top[new]
    # Stock and foundations get numbers of piles that do not exist: there, no card lies on another.
    left = np.uint8(IN_WASTE if source == WASTE else IN_PILES + source)
    to = np.uint8(IN_WASTE if target == WASTE else IN_PILES + target)
    if rule.cards == NO_CARD:  # a full deck: the compiler unrolls the loop
        _change_lying(out, left, to, NO_CARD)
    else:
        _change_lying(out, left, to, rule.cards)
    at = (card & 3) * rule.ranks + kernel.relative_rank(g, rule, card)
    out[at] = IN_FOUNDATION if target == FOUNDATION else to
    out[rule.cards + at] = 0
    shown.top[old], shown.top[new] = g.top[old], g.top[new]


@inlined
def _change_lying(out, left, to, cards):
    """One card fewer lies on the cards of a place, and one more on those of another."""
    # All cards are examined, not those of the two places: the compiler compares several at once.
    where, lying = out[:cards], out[cards : 2 * cards]
    for k in range(cards):
        lying[k] = lying[k] - np.uint8(where[k] == left) + np.uint8(where[k] == to)


def _refresh_vector(g, rule, kind, shown, out, move):
    source = rule.source[move]
    target = rule.target[move]
    # 1. Everything, after a move that may have touched everything.
    if _may_touch_all(g, rule, target):
        _refresh_tops(g, rule, shown, out)
        _add_cards(g, rule, kind, out)
        return
    # 2. Where the card came from. `shown` still has the table as it was before the move.
    moved = shown.top[source] if source <= WASTE else NO_CARD
    if source == STOCK:
        _refresh_stock(g, rule, out)
    elif source >= FOUNDATION:
        _refresh_level(g, rule, source - FOUNDATION, shown, out)
    else:
        _refresh_place(g, rule, source, shown, out)
    # 3. Where it went.
    if target == FOUNDATION:
        _refresh_level(g, rule, moved & 3, shown, out)
    else:
        _refresh_place(g, rule, target, shown, out)
    _update_cards(g, rule, kind, source, target, moved, out)


@by_type
def encode(g, rule, kind, shown, out):
    """Write a position's observation of a kind (one of `KINDS`) into a row: counts, or float32.

    ``shown``, a SHOWN record, is written too: `refresh` needs it.
    """
    return _encode_places if is_a(kind, Places) else _encode_vector


def _encode_places(g, rule, kind, shown, out):
    _write_cards(g, rule, kind, out)
    end = 2 * rule.cards
    out[end] = g.base[0]
    out[end + 1] = kernel.stock_size(g)
    out[end + 2] = g.redeals
    _keep_tops(g, shown)


def _encode_vector(g, rule, kind, shown, out):
    # From nothing: all slots off, and `shown` says that no card and no level is shown.
    out[:] = _OFF
    shown.top[:] = NO_CARD
    shown.level[:] = 0
    _refresh_tops(g, rule, shown, out)
    out[_tops_slots(rule).base + g.base[0]] = _on(out)
    _add_cards(g, rule, kind, out)


@jit
def _encode_all(games, rules, kind, shown, out):
    """`encode` for each game.

    Args:
        games: GAME (n,).
        rules: RULE (1,).
        shown: SHOWN (1,), scratch.
        out: float32 (n, length), or uint8 for `places`.
    """
    for i in range(len(games)):
        encode(games[i], rules[0], kind, shown[0], out[i])


def observations_of(games: NDArray[Any], rules: Rules, observation: str) -> NDArray[Any]:
    """What a player sees of each position of a GAME array of shape (n,).

    >>> observations_of(game.record, game.rules, "tops").shape
    (1, 179)

    Returns:
        What an environment gives at these positions: float32 or, for `places`, uint8 (n, length).

    Raises:
        ValueError: for an unknown observation, with the nearest one.
        InvalidGame: if one is not a position of these rules.
    """
    check_games(games, rules)
    return observations_of_own(games, rules, observation)


def observations_of_own(games: NDArray[Any], rules: Rules, observation: str) -> NDArray[Any]:
    """`observations_of` for records that compiled code has made, which need no check."""
    dtype = np.uint8 if observation == "places" else np.float32
    out = np.empty((len(games), observation_length(rules, observation)), dtype)
    _encode_all(games, kernel.compile_rules(rules), KINDS[observation], np.empty(1, SHOWN), out)
    return out


@jit
def show_all(counts, shares, out):
    """Write rows of counts, uint8 (n, slots), as observations: float32, or uint8 for `places`.

    One loop over all rows takes half the time of a function for each. For the package: the shapes
    are not checked. `observations_of` is for everybody.

    Args:
        shares: float32 (slots,), what a count of 1 is in each slot of an observation.
        out: float32 or uint8 (n, slots).
    """
    for i in range(len(counts)):
        for j in range(len(shares)):
            out[i, j] = _share(out, counts[i, j], shares[j])
