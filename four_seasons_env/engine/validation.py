"""Whether GAME records are positions: the only check of records from outside; games as bytes.

Compiled code indexes by a record's bytes and follows its chains, so a wrong byte could cause a
crash or an endless loop. The conditions here hold after every opening and every legal move of any
rule set. A record that passes is safe to play, draw and solve. A new rule or a new field of the
record has its check here and nowhere else: a number below, its line in `_TEXTS`, and the condition
in one of the compiled functions.

`pack_game` writes a position as bytes, numbers little-endian:

=====  ===========================================================
bytes  content
=====  ===========================================================
0-3    ``4SEA``
4-7    `VERSION` of the format; uint32
8-15   `Rules.digest`
16-    the GAME record (`engine.kernel` has a table of its fields)
=====  ===========================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import CARD_TEXTS, NO_CARD
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import (
    AUTO_STOCK,
    BASE_ACES,
    BASE_PER_SUIT,
    GAME,
    compile_rules,
    stock_is_known,
    stock_size,
)
from four_seasons_env.engine.masks import lowest
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.rules import RULES, Rules

_TEXTS = (
    "",
    "deal must be 0 or more, or -1 for a custom deck, not {deal}",
    "redeals must be 0 to {rules.redeals}, not {redeals}",
    "deck_size must be {rules.cards}, or less after a redeal, not {deck_size}",
    "dealt must be 0 to {deck_size}, not {dealt}",
    "deck[{at}] must be a card, 0 to {last}, not {deck_at}",
    "deck has {card} twice",
    "deck[{at}] must be 52, no card, after the {deck_size} cards of the deck, not {deck_at}",
    "base[{at}] must be a rank that the rules allow, not {base_at}, in {base}",
    "level[{at}] must be 0 to {rules.ranks}, not {level_at}",
    "cards_up must be the sum of {level}, not {cards_up}",
    "top[{at}] must be 52, no card, where there are {rules.piles} piles, not {top_at}",
    "the chain of {place} leads to a card that does not exist",
    "{card} is in two places, or twice in one",
    "{card} does not go on the card that it lies on",
    "the waste does not lie as the deck was dealt: see {card}",
    "height[{at}] must be the length of the chain of {place}, not {height_at}",
    "{card} is nowhere",
    "below[{at}] must be 52, no card, because {card} lies in no pile, not {below_at}",
    "{place} is a space although there is a stock, and spaces='auto_stock' fills it",
)
(
    _SOUND,
    _DEAL,
    _REDEALS,
    _DECK_SIZE,
    _DEALT,
    _DECK_CARD,
    _DECK_TWICE,
    _DECK_END,
    _BASE,
    _LEVEL,
    _CARDS_UP,
    _TOP,
    _CHAIN,
    _TWICE,
    _PACKED,
    _ORDER,
    _HEIGHT,
    _NOWHERE,
    _BELOW,
    _SPACE,
) = range(len(_TEXTS))

_ZERO, _ONE = np.uint64(0), np.uint64(1)


class InvalidGame(ValueError):
    """A record that is not a position of its rule set; the message says why."""


def check_games(games: NDArray[Any], rules: Rules) -> None:
    """Check that every record is a position of a rule set.

    Args:
        games: GAME array of shape (n,).

    Raises:
        InvalidGame: naming the first record that is not, and what is wrong with it.
    """
    if games.dtype != GAME or games.ndim != 1:
        raise InvalidGame(
            f"positions must be a GAME array of shape (n,), not {games.dtype} of shape "
            f"{games.shape}"
        )
    index, fault, at = first_fault(games, compile_rules(rules))
    if fault == _SOUND:
        return
    record = games[index]
    fields = {name: record[name].tolist() for name in GAME.names or ()}
    for name, values in list(fields.items()):
        if isinstance(values, list) and at < len(values):
            fields[f"{name}_at"] = values[at]
    text = _TEXTS[fault].format(
        **fields,
        at=at,
        card=CARD_TEXTS[at] if at < NO_CARD else at,
        place="the waste" if at == WASTE else f"pile {at}",
        rules=rules,
        last=rules.cards - 1,
    )
    which = f" {index}" if len(games) > 1 else ""
    raise InvalidGame(f"record{which} is not a valid position of {rules.name!r}: {text}")


@jit
def first_fault(games, rules):
    """The first fault in GAME (n,): the record's index, the fault and where; (-1, 0, 0) if none."""
    for i in range(len(games)):
        fault, at = _fault(games[i], rules[0])
        if fault != _SOUND:
            return i, fault, at
    return -1, _SOUND, 0


@jit
def _fault(g, rule):
    """The error in a record, and the card, the place or the index where; (0, 0) if nothing.

    What a check indexes by has been checked before it.
    """
    fault, at = _counter_fault(g, rule)
    if fault == _SOUND:
        fault, at = _deck_fault(g, rule)
    if fault == _SOUND:
        fault, at = _foundation_fault(g, rule)
    if fault == _SOUND:
        fault, at = _card_fault(g, rule)
    if fault == _SOUND and rule.spaces == AUTO_STOCK:
        fault, at = _space_fault(g, rule)
    return fault, at


@jit
def _counter_fault(g, rule):
    """Check the numbers that stand alone."""
    if g.deal < -1:
        return _DEAL, 0
    if g.redeals > rule.redeals:
        return _REDEALS, 0
    if g.deck_size > rule.cards or (g.deck_size < rule.cards and not stock_is_known(g, rule)):
        return _DECK_SIZE, 0
    if g.dealt > g.deck_size:
        return _DEALT, 0
    return _SOUND, 0


@jit
def _deck_fault(g, rule):
    """Check the deck: distinct cards, then none."""
    met = _ZERO
    size = np.int64(g.deck_size)
    for i in range(size):
        card = g.deck[i]
        if card >= rule.cards:
            return _DECK_CARD, i
        if (met >> np.uint64(card)) & _ONE:
            return _DECK_TWICE, np.int64(card)
        met |= _ONE << np.uint64(card)
    for i in range(size, NO_CARD):
        if g.deck[i] != NO_CARD:
            return _DECK_END, i
    return _SOUND, 0


@jit
def _foundation_fault(g, rule):
    """Check bases and levels."""
    total = 0
    for suit in range(4):
        base = g.base[suit]
        one_for_all = rule.base_from == BASE_PER_SUIT or base == g.base[0]
        if base >= rule.ranks or not one_for_all or (rule.base_from == BASE_ACES and base):
            return _BASE, suit
        if g.level[suit] > rule.ranks:
            return _LEVEL, suit
        total += g.level[suit]
    if g.cards_up != total:
        return _CARDS_UP, 0
    return _SOUND, 0


@jit
def _card_fault(g, rule):
    """Check that each card is in one place and packed legally."""
    placed = _ZERO
    for suit in range(4):
        for level in range(g.level[suit]):
            rank = (np.int64(g.base[suit]) + level) % rule.ranks
            placed |= _ONE << np.uint64(4 * rank + suit)
    for i in range(np.int64(g.dealt), np.int64(g.deck_size)):
        bit = _ONE << np.uint64(g.deck[i])
        if placed & bit:
            return _TWICE, np.int64(g.deck[i])
        placed |= bit
    lying = _ZERO
    for place in range(WASTE + 1):
        before = lying
        fault, at, lying = _chain_fault(g, rule, place, placed, lying)
        if fault != _SOUND:
            return fault, at
        if place == WASTE:
            at = _out_of_order(g, lying & ~before)
            if at != NO_CARD:
                return _ORDER, at
    missing = ((_ONE << np.uint64(rule.cards)) - _ONE) & ~(placed | lying)
    if missing:
        return _NOWHERE, np.int64(lowest(missing))
    for card in range(NO_CARD):
        if g.below[card] != NO_CARD and not (lying >> np.uint64(card)) & _ONE:
            return _BELOW, card
    return _SOUND, 0


@jit
def _chain_fault(g, rule, place, placed, lying):
    """Check one pile, or the waste.

    Args:
        placed: bit set of the cards on foundations and in the stock.
        lying: of those in the piles before.

    Returns:
        The fault, where, and ``lying`` with the cards of this place.
    """
    accepts = rule.accepts[g.base[0]]
    cards = 0
    card = g.top[place]
    if card != NO_CARD and rule.piles <= place < WASTE:
        return _TOP, place, lying
    while card != NO_CARD:
        if card >= rule.cards:
            return _CHAIN, place, lying
        bit = _ONE << np.uint64(card)
        if (placed | lying) & bit:
            return _TWICE, np.int64(card), lying
        lying |= bit
        cards += 1
        host = g.below[card]
        if place < WASTE and host < NO_CARD and not accepts[host] & bit:
            return _PACKED, np.int64(card), lying
        card = host
    if g.height[place] != cards:
        return _HEIGHT, place, lying
    return _SOUND, place, lying


@jit
def _out_of_order(g, waste):
    """A card of the waste, given as a bit set, that does not lie as it was dealt; 52 if none.

    The waste holds what is left of the cards dealt, the last of them on top: also after a redeal,
    when the deck is the waste that was turned over.
    """
    card = g.top[WASTE]
    for i in range(np.int64(g.dealt) - 1, -1, -1):
        if (waste >> np.uint64(g.deck[i])) & _ONE:
            if g.deck[i] != card:
                return np.int64(card)
            card = g.below[card]
    return np.int64(card)


@jit
def _space_fault(g, rule):
    """Check `auto_stock` before a redeal: there is a space only if the stock is out."""
    if stock_size(g) > 0 and not stock_is_known(g, rule):
        for pile in range(rule.piles):
            if g.top[pile] == NO_CARD:
                return _SPACE, pile
    return _SOUND, 0


# --- games as bytes ----------------------------------------------------------------------------

MAGIC, VERSION = b"4SEA", 1

_STORED = np.dtype(
    [("magic", "S4"), ("version", "<u4"), ("digest", "V8"), ("game", GAME.newbyteorder("<"))]
)


def pack_game(games: NDArray[Any], rules: Rules) -> bytes:
    """The position in a GAME array of shape (1,) as bytes."""
    stored = np.zeros(1, _STORED)
    stored["magic"], stored["version"], stored["digest"] = MAGIC, VERSION, np.void(rules.digest)
    for name in GAME.names or ():  # field by field, so that padding stays 0
        stored["game"][name] = games[name]
    return stored.tobytes()


def unpack_game(data: bytes, rules: Rules) -> NDArray[Any]:
    """The position that `pack_game` has packed, as a GAME array of shape (1,).

    Raises:
        InvalidGame: naming what is wrong: the size, the header, the rules, or the position.
    """
    if len(data) != _STORED.itemsize:
        raise InvalidGame(
            f"a game must be {_STORED.itemsize} bytes, not {len(data)}: was it written by to_bytes?"
        )
    (stored,) = np.frombuffer(data, _STORED)
    if stored["magic"] != MAGIC:
        raise InvalidGame(
            f"a game must begin with {MAGIC!r}, not {data[:4]!r}: was it written by to_bytes?"
        )
    if stored["version"] != VERSION:
        raise InvalidGame(f"the format's version must be {VERSION}, not {stored['version']}")
    digest = stored["digest"].tobytes()
    if digest != rules.digest:
        known = [repr(each.name) for each in RULES.values() if each.digest == digest]
        theirs = known[0] if known else f"rules of digest {digest.hex()}"
        own = f"pass rules={theirs}" if known else "pass its rules"
        raise InvalidGame(f"the game belongs to {theirs}, not to {rules.name!r}: {own}")
    games = np.zeros(1, GAME)
    for name in GAME.names or ():
        games[name] = stored["game"][name]
    check_games(games, rules)
    return games
