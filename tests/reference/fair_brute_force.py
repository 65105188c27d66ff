"""The value of a small game under optimal fair play: a complete search, in plain Python.

Expectimax on the moves of `BruteForce`. It shares no code with the engine or the solver. Nothing is
cut off and no decision is left out, so it is for small games with few hidden cards only.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import Any

from tests.reference.brute_force import BruteForce, Position


class TooLarge(Exception):
    """The search needs more positions than allowed."""


class FairBruteForce(BruteForce):
    """Values of positions of one game; it stores the values that it finds.

    Args:
        most: limit of positions that it looks at, for all values together.
    """

    def __init__(self, rules: Any, deck: list[str], most: int) -> None:
        super().__init__(rules, deck)
        self._left = most
        self._values: dict[Hashable, Fraction] = {}

    def value(self, position: Position) -> Fraction:
        """The win probability of best play without knowledge of the order of the stock.

        Raises:
            TooLarge: if the limit of positions is reached.
        """
        key = self._known(position)
        if key not in self._values:
            self._values[key] = self._best(position)
        return self._values[key]

    def _best(self, position: Position) -> Fraction:
        best = Fraction(0)
        waiting, seen = [position], {self._known(position)}
        while waiting:
            here = waiting.pop()
            self._left -= 1
            if self._left < 0:
                raise TooLarge
            if sum(here[3]) == 4 * self.rules.ranks:
                return Fraction(1)
            for outcomes in self._moves_of(here):
                after = outcomes[0]
                if self._is_hidden(here) and len(after[2]) < len(here[2]):
                    worth = sum((self.value(each) for each in outcomes), Fraction(0))
                    best = max(best, worth / len(outcomes))
                elif self._known(after) not in seen:
                    seen.add(self._known(after))
                    waiting.append(after)
        return best

    def _moves_of(self, position: Position) -> list[tuple[Position, ...]]:
        """The positions after each move, one for each card that may be next.

        The order of the moves is the same for every next card.
        """
        tableau, waste, stock, *rest = position
        if not self._is_hidden(position) or not stock:
            return [(after,) for after in self._after(position)]
        orders = [(card, *stock[:i], *stock[i + 1 :]) for i, card in enumerate(stock)]
        each = [self._after((tableau, waste, order, *rest)) for order in orders]
        return list(zip(*each, strict=True))

    def _is_hidden(self, position: Position) -> bool:
        """Whether the stock is not a waste turned over."""
        return bool(position[4] == self.rules.redeals)

    def _known(self, position: Position) -> Hashable:
        """The part of a position that the player knows."""
        tableau, waste, stock, *rest = position
        known = frozenset(stock) if self._is_hidden(position) else stock
        return tableau, waste, known, *rest
