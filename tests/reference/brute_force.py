"""Complete searches of small games on the slow model: can it be won, and how often by fair play?

They share no code with the engine or the solver. Nothing is cut off but moves that only rename
spaces, and no decision is left out, so they are for small games only.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cache

from tests.helpers import canonical
from tests.reference.slow_model import SUITS, SlowGame


def has_hidden_cards(game: SlowGame) -> bool:
    """Whether the stock is not a waste turned over."""
    return bool(game.redeals_left == game.rules.redeals)


def known_of(game: SlowGame) -> Hashable:
    """What a player knows of a position: not the order of a stock that is hidden."""
    stock = sorted(game.stock) if has_hidden_cards(game) else game.stock
    return canonical(game), *stock


def can_be_won(game: SlowGame) -> bool:
    """Whether any line of play from a position wins; those that begin with a card up come first."""
    waiting, seen = [game], {known_of(game)}
    while waiting:
        here = waiting.pop()
        if here.is_won:
            return True
        for text in sorted(here.distinct_moves(), key=lambda text: (text.endswith(">F"), text)):
            after = here.after(text)
            if (known := known_of(after)) not in seen:
                seen.add(known)
                waiting.append(after)
    return False


@cache
def decks(dealt: str, hidden: str, bases: frozenset[str]) -> int:
    """The number of decks that a player must expect, who has seen some cards of the stock.

    With `one_per_suit` the deck is read from its last-dealt end: the first card met of each suit is
    the base of its foundation, any other stays. So a card that is met is the base of a suit that
    has none so far; or it stays, and is one of the hidden cards, or when all of them have been met,
    the last card dealt.

    Args:
        dealt: the suits of the cards that stayed and have been dealt, first dealt first.
        hidden: the suits of those that have not been dealt, in order of the alphabet.
        bases: the suits whose bases have been met; all of them, if the rules do not look for bases.
    """
    if not dealt and not hidden and len(bases) == len(SUITS):
        return 1
    ways = sum(decks(dealt, hidden, bases | {suit}) for suit in SUITS if suit not in bases)
    for i, suit in enumerate(hidden):
        if suit in bases:
            ways += decks(dealt, hidden[:i] + hidden[i + 1 :], bases)
    if dealt and not hidden and dealt[-1] in bases:
        ways += decks(dealt[:-1], hidden, bases)
    return ways


def chance(game: SlowGame, cards: Sequence[str]) -> Fraction:
    """The probability that some of the hidden cards come next, in this order."""
    bases = frozenset("" if game.rules.base_from == "one_per_suit" else SUITS)
    rest = [card for card in game.stock if card not in cards]
    counts = (
        decks(
            "".join(card[1] for card in dealt), "".join(sorted(card[1] for card in hidden)), bases
        )
        for dealt, hidden in (([*game.dealt, *cards], rest), (game.dealt, game.stock))
    )
    return Fraction(*counts)


class TooLarge(Exception):
    """The search needs more positions than allowed."""


class FairValues:
    """Values of positions of one deal under optimal fair play, by expectimax; it stores them.

    Args:
        most: limit of positions that it looks at, for all values together.
    """

    def __init__(self, most: int) -> None:
        self._left = most
        self._values: dict[Hashable, Fraction] = {}

    def value(self, game: SlowGame) -> Fraction:
        """The win probability of best play without knowledge of the order of the stock.

        Raises:
            TooLarge: if the limit of positions is reached.
        """
        key = known_of(game)
        if key not in self._values:
            self._values[key] = self._best(game)
        return self._values[key]

    def _best(self, game: SlowGame) -> Fraction:
        best = Fraction(0)
        waiting, seen = [game], {known_of(game)}
        while waiting:
            here = waiting.pop()
            self._left -= 1
            if self._left < 0:
                raise TooLarge
            if here.is_won:
                return Fraction(1)
            for text in sorted(here.distinct_moves()):
                after = here.after(text)
                if has_hidden_cards(here) and len(after.stock) < len(here.stock):
                    worths = (
                        chance(here, [card]) * self.value(here.after(text, card))
                        for card in here.stock
                    )
                    best = max(best, sum(worths, Fraction(0)))
                elif (known := known_of(after)) not in seen:
                    seen.add(known)
                    waiting.append(after)
        return best
