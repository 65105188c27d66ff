"""Whether GAME records are positions: the only check of records from outside.

Compiled code indexes by a record's bytes and follows its chains, so a wrong byte could cause a
crash or an endless loop. The conditions here hold after every opening and every legal move of any
rule set. A record that passes is safe to play, draw and solve. A new rule or a new field of the
record has its check here and nowhere else, in one of the compiled functions.

Agents get their records here, too. `checked` decorates the methods of agents that anybody may call
with any array, such as `act`. Comparisons and searches play on records that compiled code has made;
they call `unchecked(agent.act)`, and pay for no check.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine import kernel
from four_seasons_env.engine.bits import ONE, ZERO
from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.moves import WASTE, all_moves
from four_seasons_env.rules import Rules

Method = TypeVar("Method", bound=Callable[..., Any])

_TEXTS = (
    "",
    "deal, redeals, deck_size and dealt must be numbers that the rules allow",
    "deck must have deck_size different cards, then 52 for no card",
    "base and level must be ranks and levels that the rules allow, and cards_up the sum of level",
    "top, below and height must put each card in one place, as the rules allow",
    "a space must be filled from the stock, because spaces='auto_stock'",
)
_SOUND, _COUNTERS, _DECK, _FOUNDATIONS, _CARDS, _SPACES = range(len(_TEXTS))


class InvalidGame(ValueError):
    """A record that is not a position of its rule set; the message says why."""


def check_games(games: NDArray[Any], rules: Rules) -> None:
    """Check that every record is a position of a rule set.

    >>> from four_seasons_env.game import Game
    >>> check_games(Game(deal=17).record, RULES["four-seasons"])

    Args:
        games: GAME array of shape (n,).

    Raises:
        InvalidGame: naming the first record that is not, and what is wrong with it.
    """
    if not isinstance(games, np.ndarray) or games.dtype != kernel.GAME or games.ndim != 1:
        raise InvalidGame(f"positions must be a GAME array of shape (n,), not {_shown(games)}")
    index, fault = first_fault(games, kernel.compile_rules(rules))
    if fault != _SOUND:
        which = f" {index}" if len(games) > 1 else ""
        raise InvalidGame(
            f"record{which} is not a valid position of {rules.name!r}: {_TEXTS[fault]}"
        )


def check_games_in_place(games: NDArray[Any], rules: Rules) -> None:
    """`check_games` of an array that compiled code will write into.

    Raises:
        InvalidGame: if one is not a position of the rule set.
        ValueError: for an array that is read-only, or strided.
    """
    check_games(games, rules)
    if not games.flags.carray:
        raise ValueError("games are played in place: pass an array that can be written, a copy")


def check_masks(masks: Any, games: NDArray[Any], rules: Rules) -> NDArray[np.int8]:
    """Check that masks mark one legal move of each game or more, and nothing else.

    Args:
        masks: integers or bools of shape (n, A), not 0 where a move may be played.
        games: GAME array of shape (n,), positions.
        rules: the rule set that they are positions of.

    Returns:
        The masks as compiled code takes them: int8 of shape (n, A), 1 where a move may be played.

    Raises:
        TypeError: for another dtype.
        ValueError: for another shape, or naming the first game whose mask marks a move that is not
            legal, or none.
    """
    moves = all_moves(rules)
    shape = len(games), len(moves)
    if not isinstance(masks, np.ndarray) or masks.dtype.kind not in "biu":
        raise TypeError(f"masks must be an array of int8 or bool, not {_shown(masks)}")
    if masks.shape != shape:
        raise ValueError(f"masks must be of shape {shape}, not {masks.shape}")
    marked: NDArray[np.int8] = (masks != 0).astype(np.int8)
    # Compiled code plays marked moves, and an illegal one would break a position.
    words, legal = kernel.new_masks(len(games), rules)
    kernel.legal_all(
        games, kernel.compile_rules(rules), False, words, np.zeros(len(games), np.bool_)
    )
    if (wrong := marked > legal).any():
        game, move = np.argwhere(wrong)[0].tolist()
        raise ValueError(f"masks must mark legal moves, not {moves[move]} in game {game}")
    if not (some := marked.any(axis=1)).all():
        raise ValueError(
            f"masks must mark a move of each game, not none of game {some.argmin()}: leave out "
            "games that are over"
        )
    return marked


def _shown(value: Any) -> str:
    """An argument of a wrong kind, for messages."""
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}"
    # The dtype of other records would fill several lines.
    what = "GAME" if value.dtype == kernel.GAME else "records" if value.dtype.names else value.dtype
    return f"{what} of shape {value.shape}"


_UNCHECKED: dict[Any, Callable[..., Any]] = {}
"""The methods that `checked` and `checked_in_place` have made, and those that they decorate."""


def checked(method: Method) -> Method:
    """Let a method `f(self, games, masks, ...)` of an agent check its positions and masks.

    The agent needs the attribute `rules`. The method gets copies in the one form for which its code
    is compiled, whatever the caller's memory looks like. It raises what `check_games` and
    `check_masks` raise.
    """

    @functools.wraps(method)
    def from_outside(self: Any, games: Any, masks: Any, *others: Any, **named: Any) -> Any:
        own = np.array(games) if isinstance(games, np.ndarray) else games  # of no subclass
        check_games(own, self.rules)
        return method(self, own, check_masks(masks, own, self.rules), *others, **named)

    return _note(from_outside, method)


def checked_in_place(method: Method) -> Method:
    """`checked` for a method `f(self, games, ...)` without masks that plays the games in place."""

    @functools.wraps(method)
    def from_outside(self: Any, games: Any, *others: Any, **named: Any) -> Any:
        check_games_in_place(games, self.rules)
        return method(self, games, *others, **named)

    return _note(from_outside, method)


def _note(made: Any, method: Method) -> Method:
    """Note a method that checks, for `unchecked`."""
    _UNCHECKED[made] = method
    return cast(Method, made)


def unchecked(method: Method) -> Method:
    """A method of an agent as it was before `checked`, for records that compiled code has made.

    Any other method is returned as it is, such as one by which a subclass overrides it.
    """
    inner = _UNCHECKED.get(getattr(method, "__func__", None))
    return method if inner is None else cast(Method, MethodType(inner, method.__self__))  # type: ignore[attr-defined]


@jit
def first_fault(games, rules):
    """The first fault in GAME (n,): the index of its record, and that of its text; else (-1, 0)."""
    for i in range(len(games)):
        fault = _fault(games[i], rules[0])
        if fault != _SOUND:
            return i, fault
    return -1, _SOUND


@jit
def _fault(g, rule):
    """The fault of a record. What a check indexes by has been checked before it."""
    if not _counters_are_sound(g, rule):
        return _COUNTERS
    if not _deck_is_sound(g, rule):
        return _DECK
    if not _foundations_are_sound(g, rule):
        return _FOUNDATIONS
    if not _cards_are_sound(g, rule):
        return _CARDS
    # `auto_stock` before a redeal: there is a space only if the stock is out.
    hides_cards = kernel.stock_size(g) > 0 and not kernel.stock_is_known(g, rule)
    if rule.spaces == kernel.AUTO_STOCK and hides_cards:
        for pile in range(rule.piles):
            if g.top[pile] == NO_CARD:
                return _SPACES
    return _SOUND


@jit
def _counters_are_sound(g, rule):
    """Check the numbers that stand alone."""
    if g.deal < -1 or g.redeals > rule.redeals or g.deck_size > rule.cards:
        return False
    if g.deck_size < rule.cards and not kernel.stock_is_known(g, rule):
        return False
    return g.dealt <= g.deck_size


@jit
def _deck_is_sound(g, rule):
    """Check the deck: distinct cards, then none."""
    met = ZERO
    for i in range(NO_CARD):
        card = g.deck[i]
        if i >= g.deck_size:
            if card != NO_CARD:
                return False
        elif card >= rule.cards or met & _bit(card):
            return False
        else:
            met |= _bit(card)
    return True


@jit
def _foundations_are_sound(g, rule):
    """Check bases and levels."""
    total = 0
    for suit in range(4):
        base = g.base[suit]
        one_for_all = rule.base_from == kernel.BASE_PER_SUIT or base == g.base[0]
        if base >= rule.ranks or not one_for_all or (rule.base_from == kernel.BASE_ACES and base):
            return False
        if g.level[suit] > rule.ranks:
            return False
        total += g.level[suit]
    return g.cards_up == total


@jit
def _cards_are_sound(g, rule):
    """Check that each card is in one place and packed legally.

    Foundations, piles and stock say where cards are. The waste is what is left of the cards dealt,
    the last of them on top: also after a redeal, when the deck is the waste that was turned over.
    So the chains are laid again, and must come out the same.
    """
    below, top = np.full(52, NO_CARD, np.uint8), np.full(13, NO_CARD, np.uint8)
    height = np.zeros(13, np.uint8)
    accepts = rule.accepts[g.base[0]]
    met = ZERO  # the cards that have a place; none may have two
    # 1. The foundations: their bases and levels name the cards.
    for suit in range(4):
        for level in range(g.level[suit]):
            met |= _bit(4 * ((np.int64(g.base[suit]) + level) % rule.ranks) + suit)
    # 2. The stock.
    for i in range(np.int64(g.dealt), np.int64(g.deck_size)):
        if met & _bit(g.deck[i]):
            return False
        met |= _bit(g.deck[i])
    # 3. The piles, down each chain. A card with a place ends the walk, so no chain is endless.
    for pile in range(rule.piles):
        card = top[pile] = g.top[pile]
        while card != NO_CARD:
            if card >= rule.cards or met & _bit(card):
                return False
            met |= _bit(card)
            host = g.below[card]
            if host < NO_CARD and not accepts[host] & _bit(card):
                return False
            below[card] = host
            height[pile] += 1
            card = host
    # 4. The waste: the cards dealt that are nowhere else.
    for i in range(g.dealt):
        card = g.deck[i]
        if not met & _bit(card):
            met |= _bit(card)
            below[card], top[WASTE] = top[WASTE], card
            height[WASTE] += 1
    # 5. Every card has a place, and the record says the same as the chains laid here.
    if met != _bit(rule.cards) - ONE:
        return False
    return (below == g.below).all() and (top == g.top).all() and (height == g.height).all()


@jit
def _bit(card):
    """The bit set of one card."""
    return ONE << np.uint64(card)
