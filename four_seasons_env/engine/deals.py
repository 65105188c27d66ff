"""Cards, decks and deal numbers: which deck deal *n* is, and which deals are for what.

A card's code is ``4 * rank + suit``, 0 to 51, so a deck of fewer ranks is simply the first codes.
Ranks count from the Ace (0) to the King (12), suits in the order clubs, spades, hearts, diamonds.
The text of code 22 is "6H":

>>> card_code("6H"), CARD_TEXTS[22], RANKS[22 >> 2], SUITS[22 & 3]
(22, '6H', '6', 'H')

Deal *n* is a Fisher-Yates shuffle of the cards in code order, driven by the SplitMix64 stream
seeded with *n* (Steele, Lea and Flood 2014; constants by Vigna). A dozen lines in any language give
the same decks: docs/reference/deals.md has the definition and test vectors. It never changes.

| split          | deals               | use                                                 |
| -------------- | ------------------- | --------------------------------------------------- |
| ``TEST``       | 0 - 9,999           | reporting only: never tuned, selected or trained on |
| ``VALIDATION`` | 10,000 - 19,999     | choosing policies and settings                      |
| training       | from ``TRAIN_FROM`` | everything else; environments draw from it          |
"""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import WrongType, whole_number
from four_seasons_env.engine.jit import jit

RANKS = "A23456789TJQK"
SUITS = "CSHD"
NO_CARD = 52  # one past the last code: "there is no card here"

CARD_TEXTS = tuple(rank + suit for rank in RANKS for suit in SUITS)
_CODES = {text: code for code, text in enumerate(CARD_TEXTS)}
_SIGNS = str.maketrans("♣♠♥♦", SUITS, "\ufe0f")  # also as emoji

TEST = range(0, 10_000)
VALIDATION = range(10_000, 20_000)
TRAIN_FROM = 2**32
SPLITS = {"test": TEST, "validation": VALIDATION}
"""The splits that a command may name."""


# --- decks as text -----------------------------------------------------------------------------


class DeckError(ValueError):
    """A deck is invalid; the message names the cards that are unknown, missing or repeated."""


def card_code(text: str) -> int:
    """The code of a card's text; "10H", "th" and "T♥" mean "TH", "1H" is "AH"."""
    plain = letters(str(text)).strip().upper().replace("10", "T").replace("1", "A")
    code = _CODES.get(plain)
    if code is None:
        raise DeckError(
            f"unknown card {text!r}: a card is a rank of {RANKS} and a suit of {SUITS}, as in '6H'"
        )
    return code


def letters(text: str) -> str:
    """A text with signs of suits replaced by their letters."""
    return text.translate(_SIGNS)


def deck_text(deck: Iterable[int]) -> str:
    """A deck as text, first dealt first: "QH 3D ... 5D"."""
    return " ".join(CARD_TEXTS[code] for code in deck)


def parse_deck(deck: str | Sequence[str], ranks: int = 13) -> list[int]:
    """The card codes of a deck written as text, first dealt first.

    >>> parse_deck("AS AC AD AH", ranks=1)
    [1, 0, 3, 2]

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
            f"a deck must be text such as 'QH 3D ... 5D', or a list of cards, not {deck!r}"
        ) from None
    codes = [card_code(text) for text in texts]
    # All faults are named at once.
    faults = []
    repeated = sorted({code for code in codes if codes.count(code) > 1})
    if repeated:
        faults.append(f"repeated: {deck_text(repeated)}")
    missing = sorted(set(range(4 * ranks)) - set(codes))
    if missing:
        faults.append(f"missing: {deck_text(missing)}")
    too_high = sorted(code for code in set(codes) if code >= 4 * ranks)
    if too_high:
        faults.append(f"above the highest rank {RANKS[ranks - 1]}: {deck_text(too_high)}")
    if faults:
        raise DeckError(
            f"a deck must have each of its {4 * ranks} cards once; this one has {len(codes)}; "
            + "; ".join(faults)
        )
    return codes


# --- decks by number --------------------------------------------------------------------------

GAMMA = np.uint64(0x9E3779B97F4A7C15)
"""Step of the state of SplitMix64, added before each number."""

_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_27, _30, _31, _32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_TRAIN_FROM = np.uint64(TRAIN_FROM)
_2 = np.uint64(2)


@jit
def mix(z):
    """SplitMix64's output function: a uint64 (or each of an array) well mixed into another."""
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@jit
def draw_below(state, k):
    """A number from 0 to k - 1, drawn by a state of SplitMix64.

    It is ``(x >> 32) * k >> 32``, which differs from uniform by less than k / 2^32.
    """
    return np.int64(((mix(state) >> _32) * np.uint64(k)) >> _32)


@jit
def shuffle(cards, first, last, seed):
    """Shuffle ``cards[first:last]`` in place with the SplitMix64 stream of a uint64 seed.

    Compiled code does not check that the cards have these places.
    """
    state = np.uint64(seed)
    # Fisher-Yates, from the last card down: each trades places with one that is not behind it.
    for i in range(last - first - 1, 0, -1):
        state = state + GAMMA
        j = draw_below(state, i + 1)
        cards[first + i], cards[first + j] = cards[first + j], cards[first + i]


def new_streams(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The deal stream that each seed starts; both are uint64 arrays of shape (n,)."""
    # Mixed: else the stream of a seed would be that of its neighbour, a deal later. In NumPy, which
    # has nothing to compile.
    streams: NDArray[np.uint64] = inspect.unwrap(mix)(~seeds * GAMMA)
    return streams


@jit
def next_deal(streams, i):
    """Advance stream i and return the number of its next training deal (int64).

    For environments. The planner's training counts its deals up.
    """
    streams[i] = streams[i] + GAMMA
    return np.int64(_TRAIN_FROM + (mix(streams[i]) >> _2))


# --- numbers from users ----------------------------------------------------------------------


def _check_bits(name: str, value: int, bits: int) -> int:
    number = whole_number(name, value)
    if not 0 <= number < 2**bits:
        raise ValueError(f"{name} must be 0 to 2^{bits} - 1, not {number}")
    return number


def check_deal(deal: int) -> int:
    """A deal's number as an int.

    Raises:
        ValueError: if it is not an integer from 0 to 2^63 - 1.
    """
    return _check_bits("deal", deal, 63)


def read_deals(deals: Any) -> range | NDArray[np.int64]:
    """Numbers of deals from a user, as an int64 array of shape (n,); a range stays a range.

    >>> read_deals([2**32, 2**32 + 5])
    array([4294967296, 4294967301])

    Args:
        deals: a range, a list, or a one-dimensional array-like such as a pandas Series. Or the ends
            and the step of a range, as `EnvSpec.to_json` holds them.

    Raises:
        ValueError: for anything else, or a number that is not 0 to 2^63 - 1.
    """
    # 1. A range, or the ends of one.
    if isinstance(deals, Mapping) and [*deals] == ["start", "stop", "step"]:
        deals = range(*deals.values())
    if isinstance(deals, range):
        for end in (*deals[:1], *deals[-1:]):  # the others are between them
            check_deal(end)
        return deals
    # 2. A list or an array. A list is not made an array first: that would take True for 1.
    listed = deals if isinstance(deals, Sequence) else np.asarray(deals)
    if isinstance(listed, (str, bytes)) or (isinstance(listed, np.ndarray) and listed.ndim != 1):
        hint = ": pass list(deals)" if isinstance(deals, Iterator) else ""
        raise WrongType(
            "deals must be a range, a list or an array of numbers, such as "
            f"range(2**32, 2**32 + 100), not {reprlib.repr(deals)}{hint}"
        )
    numbers = listed.tolist() if isinstance(listed, np.ndarray) else listed
    return np.array([check_deal(number) for number in numbers], np.int64)


def check_seed(seed: int) -> int:
    """A seed as an int.

    Raises:
        ValueError: if it is not an integer from 0 to 2^64 - 1.
    """
    return _check_bits("seed", seed, 64)


def parse_deals(text: str) -> range:
    """The deals of a text such as "10000-10999" (both ends belong to it), "17" or "validation".

    >>> parse_deals("10000-10999"), parse_deals("validation")
    (range(10000, 11000), range(10000, 20000))

    Raises:
        ValueError: if the text is not a number, a rising range of them, or the name of a split.
    """
    if text in SPLITS:
        return SPLITS[text]
    # One number is a range of one deal.
    first, dash, last = text.replace(",", "").replace("_", "").partition("-")
    try:
        low, high = int(first), int(last if dash else first)
    except ValueError:
        raise ValueError(
            f"deals must be given as '10000-10999', '17', 'test' or 'validation', not {text!r}"
        ) from None
    if check_deal(high) < check_deal(low):
        raise ValueError(f"the deals {text!r} run backwards: write '{high}-{low}'")
    return range(low, high + 1)


def split_of(deals: range) -> str:
    """The split that a range of deals lies in, "test" or "validation"; "" for any other."""
    ends = deals[0], deals[-1]
    return next((name for name, split in SPLITS.items() if all(each in split for each in ends)), "")


def deals_in_words(deals: range) -> str:
    """A range of deals for people.

    >>> deals_in_words(range(10_000, 11_000))
    'validation deals 10,000-10,999'
    """
    return f"{split_of(deals)} deals {deals[0]:,}-{deals[-1]:,}".lstrip()
