"""Can a small game be won? A complete search, in plain Python.

It follows docs/reference/rules.md and shares no code with the engine or the solver; only the
opening comes from the slow model. Nothing is cut off, so it is for small games only. Cards are
(rank, suit).
"""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.reference.slow_model import RANKS, SUITS, SlowGame

Card = tuple[int, int]
Pile = tuple[Card, ...]  # bottom first
Position = tuple[tuple[Pile, ...], Pile, Pile, tuple[int, ...], int, Pile]
"""Tableau (sorted: spaces and piles have no names), waste, stock (next first), levels, redeals, and
the reserve, which is not part of the tableau here."""


def position_of(game: Any) -> Position:
    """The position of a game of the slow model or of the engine."""
    piles = [cards_of(pile) for pile in game.tableau]
    reserve = piles.pop(game.rules.piles // 2) if game.rules.reserve else ()
    return (
        tuple(sorted(piles)),
        cards_of(game.waste),
        cards_of(game.stock),
        tuple(len(game.foundations[suit]) for suit in SUITS),
        game.redeals_left,
        reserve,
    )


class BruteForce:
    """All lines of play from the opening of a deck, or from the position after some moves."""

    def __init__(self, rules: Any, deck: list[str], moves: Iterable[str] = ()) -> None:
        if rules.reserve and rules.spaces == "auto_stock":
            raise ValueError("with both, the order in which piles are filled is not defined here")
        self.rules = rules
        game = SlowGame(rules, deck)
        for move in moves:
            game.play(move)
        self.bases = [RANKS.index(game.bases[suit]) for suit in SUITS]
        self.start = position_of(game)

    def can_be_won(self) -> bool:
        """Whether any line of play wins."""
        waiting, seen = [self.start], {self.start}
        while waiting:
            position = waiting.pop()
            if sum(position[3]) == 4 * self.rules.ranks:
                return True
            for after in self._after(position):
                if after not in seen:
                    seen.add(after)
                    waiting.append(after)
        return False

    def _after(self, position: Position) -> Iterator[Position]:
        """All positions that one move leads to."""
        tableau, waste, stock, levels, redeals, reserve = position
        spaces = tableau.count(())
        wait = self.rules.spaces == "before_dealing" and spaces and waste
        two_available = self.rules.limited_redeal and redeals < self.rules.redeals
        if stock and not wait and not two_available:
            yield tableau, (*waste, stock[0]), stock[1:], levels, redeals, reserve
        if not stock and waste and redeals:
            filled, rest = list(tableau), waste
            if self.rules.spaces == "auto_stock":
                filled, rest = self._fill(filled, waste)
            yield self._settled(filled, (), rest, levels, redeals - 1, reserve)
        if waste:
            yield from self._moves(position, list(tableau), waste[:-1], waste[-1:], from_waste=True)
        if stock and two_available:
            left = (tableau, waste, stock[1:], levels, redeals, reserve)
            yield from self._moves(left, list(tableau), waste, stock[:1], from_waste=None)
        if reserve:
            yield from self._from_the_reserve(position)
        for i, pile in enumerate(tableau):
            longest = len(pile) if self.rules.runs else min(1, len(pile))
            for length in range(1, longest + 1):
                part = pile[-length:]
                if not all(self._packs(part[k + 1], part[k]) for k in range(length - 1)):
                    break
                left = [*tableau[:i], *tableau[i + 1 :], pile[:-length]]
                yield from self._moves(position, left, waste, part, from_waste=False)
        if self.rules.worrying_back:
            for suit, level in enumerate(levels):
                if level:
                    card = ((self.bases[suit] + level - 1) % self.rules.ranks, suit)
                    lower = (*levels[:suit], level - 1, *levels[suit + 1 :])
                    for target in set(tableau):
                        fills = not target and not self.rules.reserve
                        if fills or (target and self._packs(card, target[-1])):
                            laid = list(tableau)
                            laid.remove(target)
                            laid.append((*target, card))
                            yield self._settled(laid, waste, stock, lower, redeals, reserve)

    def _from_the_reserve(self, position: Position) -> Iterator[Position]:
        """The positions after a move of the reserve's card, to its foundation or to a space."""
        tableau, waste, stock, levels, redeals, (card,) = position
        rank, suit = card
        if levels[suit] == (rank - self.bases[suit]) % self.rules.ranks:
            higher = (*levels[:suit], levels[suit] + 1, *levels[suit + 1 :])
            yield self._settled(list(tableau), waste, stock, higher, redeals, ())
        if () in tableau:
            laid = list(tableau)
            laid.remove(())
            laid.append((card,))
            yield self._settled(laid, waste, stock, levels, redeals, ())

    def _moves(
        self,
        position: Position,
        piles: list[Pile],
        waste: Pile,
        part: Pile,
        from_waste: bool | None,
    ) -> Iterator[Position]:
        """The positions after each legal move of cards that have been lifted.

        Args:
            from_waste: True for the waste, False for the last pile, None for the stock.
        """
        stock, levels, redeals, reserve = position[2:]
        from_pile = from_waste is False
        source = piles[-1] if from_pile else None
        rank, suit = part[0]
        if len(part) == 1 and levels[suit] == (rank - self.bases[suit]) % self.rules.ranks:
            higher = (*levels[:suit], levels[suit] + 1, *levels[suit + 1 :])
            after = self._refilled(piles, waste, stock, source, bool(from_waste))
            yield self._settled(*after, higher, redeals, reserve)
        others = piles[:-1] if from_pile else piles
        may_fill = len(part) == 1 and not (self.rules.spaces == "auto_stock" and stock)
        may_fill = may_fill and not (self.rules.reserve and from_pile)
        for target in set(others):
            if self._packs(part[0], target[-1]) if target else may_fill:
                laid = list(piles)
                laid.remove(target)
                laid.append((*target, *part))
                after = self._refilled(laid, waste, stock, source, bool(from_waste))
                yield self._settled(*after, levels, redeals, reserve)

    def _settled(
        self,
        piles: list[Pile],
        waste: Pile,
        stock: Pile,
        levels: tuple[int, ...],
        redeals: int,
        reserve: Pile,
    ) -> Position:
        """The position after the cards that reserve and limited redeal turn automatically."""
        if self.rules.reserve and not reserve:
            reserve, stock = stock[:1], stock[1:]
        if self.rules.limited_redeal and redeals < self.rules.redeals and not waste:
            waste, stock = stock[:1], stock[1:]
        return tuple(sorted(piles)), waste, stock, levels, redeals, reserve

    def _refilled(
        self, piles: list[Pile], waste: Pile, stock: Pile, source: Pile | None, from_waste: bool
    ) -> tuple[list[Pile], Pile, Pile]:
        """Piles, waste and stock after the refills that a move forces."""
        if self.rules.spaces == "auto_stock":
            piles, stock = self._fill(piles, stock)
        if self.rules.spaces == "auto_waste":
            emptied = from_waste and not waste
            if source == () and waste:
                piles = list(piles)
                piles.remove(())
                piles.append(waste[-1:])
                waste = waste[:-1]
                emptied = not waste
            if emptied and stock:
                waste, stock = stock[:1], stock[1:]
        return piles, waste, stock

    def _fill(self, piles: list[Pile], stock: Pile) -> tuple[list[Pile], Pile]:
        filled = []
        for pile in piles:
            filled.append(pile or stock[:1])
            stock = stock if pile else stock[1:]
        return filled, stock

    def _packs(self, card: Card, host: Card) -> bool:
        rules, top_rank = self.rules, self.rules.ranks - 1
        if rules.build == "none":
            return False
        if rules.build == "alternate_colour" and (card[1] > 1) == (host[1] > 1):
            return False
        base = self.bases[0]
        if host[0] == 0:
            around = {
                "always": True,
                "unless_ace_base": base != 0,
                "linear": base != 0,
                "never": False,
            }[rules.wrap]
            return card[0] == top_rank and around
        return card[0] + 1 == host[0] and not (rules.wrap == "linear" and host[0] == base)


def cards_of(pile: list[str]) -> Pile:
    """Cards from their texts."""
    return tuple((RANKS.index(card[0]), SUITS.index(card[1])) for card in pile)
