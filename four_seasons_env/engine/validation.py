"""Whether GAME records are positions: the only check of records from outside.

Compiled code indexes by a record's bytes and follows its chains, so a wrong byte could cause a
crash or an endless loop. The conditions here hold after every opening and every legal move of any
rule set. A record that passes is safe to play, draw and solve. A new rule or a new field of the
record has its check here and nowhere else. Each check is of all records at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.deals import NO_CARD
from four_seasons_env.engine.kernel import GAME, compile_rules
from four_seasons_env.engine.moves import WASTE
from four_seasons_env.rules import Rules

_CARDS = np.arange(NO_CARD)
_ONE = np.uint64(1)


class InvalidGame(ValueError):
    """A record that is not a position of its rule set; the message says why."""


def check_games(games: NDArray[Any], rules: Rules) -> None:
    """Check that every record is a position of a rule set.

    Args:
        games: GAME array of shape (n,).

    Raises:
        InvalidGame: naming a record that is not, and what is wrong with it.
    """
    if games.dtype != GAME or games.ndim != 1:
        raise InvalidGame(
            f"positions must be a GAME array of shape (n,), not {games.dtype} of shape "
            f"{games.shape}"
        )
    for sound, text in _checks(games, rules):
        if not sound.all():
            which = f" {sound.argmin()}" if len(games) > 1 else ""
            raise InvalidGame(f"record{which} is not a valid position of {rules.name!r}: {text}")


def _checks(games: NDArray[Any], rules: Rules) -> Iterator[tuple[NDArray[np.bool_], str]]:
    """Whether each record is sound, bool (n,), and what must hold; a check relies on those before.

    Args:
        games: GAME (n,).
    """
    deck, size, dealt = games["deck"], games["deck_size"], games["dealt"]
    stock_is_known = games["redeals"] != rules.redeals
    sound: Any = (games["deal"] >= -1) & (games["redeals"] <= rules.redeals)
    sound &= np.where(stock_is_known, size <= rules.cards, size == rules.cards) & (dealt <= size)
    yield sound, "deal, redeals, deck_size and dealt must be numbers that the rules allow"

    is_card = size[:, None] > _CARDS
    met = np.sort(deck, axis=1)  # cards first, so that equal ones are neighbours
    sound = np.where(is_card, deck < rules.cards, deck == NO_CARD).all(axis=1)
    sound &= ((met[:, 1:] > met[:, :-1]) | (met[:, 1:] == NO_CARD)).all(axis=1)
    yield sound, "deck must have deck_size different cards, then 52 for no card"

    base, level = games["base"], games["level"]
    sound = (base < rules.ranks).all(axis=1) & (level <= rules.ranks).all(axis=1)
    if rules.base_from != "one_per_suit":
        sound &= (base == (0 if rules.base_from == "aces" else base[:, :1])).all(axis=1)
    sound &= games["cards_up"] == level.sum(axis=1)
    yield (
        sound,
        "base and level must be ranks and levels that the rules allow, and cards_up the sum of "
        "level",
    )

    yield (
        _cards_are_sound(games, rules),
        "top, below and height must put each card in one place, as the rules allow",
    )

    if rules.spaces == "auto_stock":
        has_space = (games["top"][:, : rules.piles] == NO_CARD).any(axis=1)
        yield (
            ~has_space | (dealt == size) | stock_is_known,
            "a space must be filled from the stock, because spaces='auto_stock'",
        )


def _cards_are_sound(games: NDArray[Any], rules: Rules) -> NDArray[np.bool_]:
    """Whether each card of a record is in one place and packed legally, bool (n,)."""
    count, dealt = len(games), games["dealt"][:, None]
    rows = np.arange(count)[:, None]
    accepts = compile_rules(rules)[0]["accepts"][games["base"][:, 0]]
    below = np.append(games["below"], np.full((count, 1), NO_CARD), axis=1)  # also of "no card"
    at = np.full((count, NO_CARD + 1), NO_CARD)  # [record, card] -> where it is in the deck
    at[rows, games["deck"]] = _CARDS
    # Down all piles and the waste at once, as far as the longest is; a circle has no end.
    lying = np.zeros((count, NO_CARD + 1), np.int64)  # [record, card] -> how often it is met
    heights = np.zeros((count, WASTE + 1), np.int64)
    card, above = games["top"], games["dealt"]  # ``above``: where the waste's last card was
    unused = card[:, rules.piles : WASTE]
    sound: NDArray[np.bool_] = (unused == NO_CARD).all(axis=1) & (card <= NO_CARD).all(axis=1)
    for _ in range(NO_CARD):
        is_card = card < NO_CARD
        if not is_card.any():
            break
        card = np.where(is_card, card, NO_CARD)
        np.add.at(lying, (rows, card), is_card)
        heights += is_card
        host = below[rows, card]
        fits = (accepts[rows, np.minimum(host, NO_CARD)] >> card.astype(np.uint64)) & _ONE == _ONE
        fits[:, WASTE] = at[rows, card][:, WASTE] < above  # what is left of it lies as dealt
        sound &= (fits | ~is_card).all(axis=1) & (host <= NO_CARD).all(axis=1)
        card, above = host, at[rows, card][:, WASTE]
    sound &= (card >= NO_CARD).all(axis=1) & (games["height"] == heights).all(axis=1)
    rank, suit = _CARDS >> 2, _CARDS & 3
    is_up = (rank - games["base"][:, suit]) % rules.ranks < games["level"][:, suit]
    in_stock = (at[:, :-1] >= dealt) & (at[:, :-1] < NO_CARD)
    in_deck = rules.cards > _CARDS
    sound &= (lying[:, :-1] + (is_up & in_deck) + in_stock == in_deck).all(axis=1)
    sound &= ((games["below"] == NO_CARD) | (lying[:, :-1] > 0)).all(axis=1)
    return sound
