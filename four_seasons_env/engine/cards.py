"""The cards: codes 0-51, their text ("6H", "TC"), and decks written as text.

A card's code is ``4 * rank + suit``, so a deck of fewer ranks is simply the first codes.
Ranks count from the Ace (0) to the King (12), suits in the order clubs, spades, hearts, diamonds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

RANKS = "A23456789TJQK"
SUITS = "CSHD"
SIGNS = "♣♠♥♦"
"""Letters of the suits, in their order."""
NO_CARD = 52  # one past the last code: "there is no card here"

CARD_TEXTS = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CODES = {text: code for code, text in enumerate(CARD_TEXTS)}
_SYMBOLS = str.maketrans(SIGNS + "♧♤♡♢", 2 * SUITS, "\ufe0f")  # suits as signs, also as emoji


class DeckError(ValueError):
    """The text of an invalid deck: a card is unknown, missing, repeated or too many."""


def card_text(code: int) -> str:
    """The text of a card code, 0-51: ``card_text(22) == "6H"``."""
    return CARD_TEXTS[code]


def card_code(text: str) -> int:
    """The code of a card's text; "10H", "th" and "T♥" are read as "TH"."""
    code = _CODES.get(letters(str(text)).upper().replace("10", "T"))
    if code is None:
        raise DeckError(
            f"unknown card {text!r}: a card is a rank of {RANKS} and a suit of {SUITS}, as in '6H'"
        )
    return code


def letters(text: str) -> str:
    """A text with signs of suits replaced by their letters."""
    return text.translate(_SYMBOLS)


def deck_text(deck: Iterable[int]) -> str:
    """A deck as text, first dealt first: "QH 3D ... 5D"."""
    return " ".join(CARD_TEXTS[code] for code in deck)


def parse_deck(deck: str | Sequence[str], ranks: int = 13) -> list[int]:
    """The card codes of a deck written as text, first dealt first.

    Args:
        deck: card texts, separated by white space or commas, or a sequence of them.
        ranks: ranks a suit; the deck must hold each card of the lowest ``ranks`` ranks once.

    Raises:
        DeckError: naming the cards that are unknown, missing, repeated or of too high a rank; or if
            the deck is not text.
    """
    try:
        texts = deck.replace(",", " ").split() if isinstance(deck, str) else list(deck)
    except TypeError:
        raise DeckError(
            f"a deck is text such as 'QH 3D ... 5D', or a list of cards, not {deck!r}"
        ) from None
    codes = [card_code(text) for text in texts]
    faults = []
    repeated = sorted({code for code in codes if codes.count(code) > 1})
    if repeated:
        faults.append(f"twice there: {deck_text(repeated)}")
    missing = sorted(set(range(4 * ranks)) - set(codes))
    if missing:
        faults.append(f"missing: {deck_text(missing)}")
    too_high = sorted(code for code in set(codes) if code >= 4 * ranks)
    if too_high:
        faults.append(f"above the highest rank {RANKS[ranks - 1]}: {deck_text(too_high)}")
    if faults:
        raise DeckError(
            f"a deck holds each of its {4 * ranks} cards once, this one of {len(codes)} does not: "
            + "; ".join(faults)
        )
    return codes
