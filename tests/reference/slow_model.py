"""A slow, plain model of the Four Seasons family, to compare the compiled engine with.

It follows docs/reference/rules.md and shares no code with the engine, so a mistake in one of the
two shows as a difference. Cards are texts ("6H", "TC"), piles lists of them, bottom first. Nothing
is cached: each move computes everything again from the cards.
"""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

RANKS = "A23456789TJQK"
SUITS = "CSHD"
RED_SUITS = "HD"


class SlowGame:
    """One game, laid out from `deck` (first dealt first) and played by move texts.

    Moves: "deal", "redeal", "W>F", "W>T2", "T0>F", "T0>T3", "F:H>T3" for worrying back, and "S>F",
    "S>T2" for the card that lies face up on the stock.
    `rules` is any object with the fields of `four_seasons_env.rules.Rules`.
    """

    tableau: list[list[str]]  # one list per pile, T0 first; bottom first
    waste: list[str]  # bottom first
    foundations: dict[str, list[str]]  # suit -> its cards, base first
    stock: list[str]  # next card to be dealt first
    deck: list[str]  # first card dealt first, without bases that were taken from its end
    redeals_left: int

    def __init__(self, rules: Any, deck: list[str]) -> None:
        """Lay out the opening; ValueError unless the deck contains each card of the game once."""
        self.rules = rules
        self.ranks = RANKS[: rules.ranks]
        if sorted(deck) != sorted(rank + suit for rank in self.ranks for suit in SUITS):
            raise ValueError(f"a deck holds each of {len(self.ranks) * 4} cards once, got {deck}")
        self.tableau = [[] for _ in range(rules.piles)]
        self.waste = []
        self.foundations = {suit: [] for suit in SUITS}
        self.stock = list(deck)
        self.deck = self.stock.copy()
        self.redeals_left = rules.redeals
        self.second_round = False  # of a limited redeal
        self.reserve = f"T{rules.piles // 2}" if rules.reserve else None
        self.bases: dict[str, str] = {}  # suit -> rank its foundation starts from
        self._lay_out()

    # What a player may do

    @property
    def dealt(self) -> list[str]:
        """The cards that have left the stock before a redeal, first dealt first."""
        return self.deck[: len(self.deck) - len(self.stock)]

    @property
    def is_won(self) -> bool:
        """Whether every card is on the foundations."""
        return all(len(cards) == len(self.ranks) for cards in self.foundations.values())

    @property
    def is_over(self) -> bool:
        """Whether the game is won, or all its moves only rename spaces."""
        return self.is_won or not self.distinct_moves()

    def legal_moves(self) -> set[str]:
        """Every move that the rules allow, pointless ones included; none after a win."""
        if self.is_won:
            return set()
        moves = set()
        if self._may_deal():
            moves.add("deal")
        if self._may_redeal():
            moves.add("redeal")
        piles = [f"T{number}" for number in range(len(self.tableau))]
        for source in ["W", "S", *piles]:
            for target in ["F", *piles]:
                if self._cards_that_move(source, target):
                    moves.add(f"{source}>{target}")
        if self.rules.worrying_back:
            for suit in SUITS:
                for target in piles:
                    if self._cards_that_move(f"F:{suit}", target):
                        moves.add(f"F:{suit}>{target}")
        return moves

    def distinct_moves(self) -> set[str]:
        """The legal moves, if all spaces count as the same.

        It leaves out moves to a space other than the lowest-numbered one, and moves of a pile's
        only card to a space.
        """
        spaces = [f"T{number}" for number, pile in enumerate(self.tableau) if not pile]
        if self.reserve in spaces:
            spaces.remove(self.reserve)  # it is not like other spaces
        moves = set()
        for text in self.legal_moves():
            source, _, target = text.partition(">")
            if target in spaces:
                is_lone_card = source.startswith("T") and len(self._cards_at(source)) == 1
                is_lone_card = is_lone_card and source != self.reserve
                if target != spaces[0] or is_lone_card:
                    continue
            moves.add(text)
        return moves

    def play(self, text: str) -> None:
        """Make a legal move.

        Forced refills follow a move of cards, and with `auto_stock` also a redeal.
        """
        if text == "deal":
            self.waste.append(self.stock.pop(0))
        elif text == "redeal":
            self.stock = self.waste
            self.waste = []
            self.redeals_left -= 1
            self.second_round = self.rules.limited_redeal
            if self.rules.spaces == "auto_stock":
                self._refill()
        else:
            source, target = text.split(">")
            cards = self._cards_that_move(source, target)
            had_waste = bool(self.waste)
            if source == "S":
                self.stock.pop(0)
            else:
                del self._cards_at(source)[-len(cards) :]
            if target == "F":
                self.foundations[cards[0][1]].append(cards[0])
            else:
                self._cards_at(target).extend(cards)
            if self.rules.spaces == "auto_stock":
                self._refill()
            if self.rules.spaces == "auto_waste":
                if source.startswith("T") and not self._cards_at(source) and self.waste:
                    self._cards_at(source).append(self.waste.pop())
                if had_waste and not self.waste and self.stock:
                    self.waste.append(self.stock.pop(0))
        if self.reserve and not self._cards_at(self.reserve) and self.stock:
            self._cards_at(self.reserve).append(self.stock.pop(0))
        if self.second_round and not self.waste and self.stock:
            self.waste.append(self.stock.pop(0))

    def after(self, text: str, card: str | None = None) -> SlowGame:
        """The position after a legal move, with this card next on the stock; this one stays."""
        other = copy.copy(self)
        other.tableau = [pile.copy() for pile in self.tableau]
        other.waste, other.stock = self.waste.copy(), self.stock.copy()
        other.foundations = {suit: cards.copy() for suit, cards in self.foundations.items()}
        if card:
            other.stock.remove(card)
            other.stock.insert(0, card)
            other.deck = self.dealt + other.stock
        other.play(text)
        return other

    # The opening

    def _lay_out(self) -> None:
        """Set the bases, fill the piles, start the waste (fields `base_from` and `opening`)."""
        base_from = self.rules.base_from
        if base_from == "one_per_suit":
            self._take_bases_from_the_end()
        elif base_from == "aces":
            self.bases = dict.fromkeys(SUITS, "A")
        elif base_from == "first":
            self._deal_base()
        if self.rules.opening == "as_dealt":
            self._deal_piles_as_dealt()
        elif self.rules.opening == "fixed":
            for pile in self.tableau:
                pile.append(self.stock.pop(0))
        if base_from == "sixth":
            self._deal_base()
        for _ in range(self.rules.first_waste):
            if self.stock:
                self.waste.append(self.stock.pop(0))

    def _deal_base(self) -> None:
        """The next card opens its foundation, and its rank is the base of all four."""
        card = self.stock.pop(0)
        self.foundations[card[1]].append(card)
        self.bases = dict.fromkeys(SUITS, card[0])

    def _take_bases_from_the_end(self) -> None:
        """Open each foundation with the last-dealt card of its suit (PySolFC's `corners`)."""
        for card in reversed(self.stock.copy()):
            rank, suit = card[0], card[1]
            if suit not in self.bases:
                self.bases[suit] = rank
                self.foundations[suit].append(card)
                self.stock.remove(card)
        self.deck = self.stock.copy()

    def _deal_piles_as_dealt(self) -> None:
        """Deal as in 1883: a card that can go up must, any other fills the next empty pile.

        Pile cards do not move until the cross is full (Disagreements, 7).
        """
        while self.stock and not all(self.tableau):
            card = self.stock.pop(0)
            if self._goes_up(card):
                self.foundations[card[1]].append(card)
            else:
                next(pile for pile in self.tableau if not pile).append(card)

    # Turning stock and waste

    def _may_deal(self) -> bool:
        """Whether the stock has a card to deal; `before_dealing` fills spaces from the waste first.

        If the waste is empty, a deal is legal, because the dealt card can go to the space
        (Disagreements, 3 and 4). After a limited redeal, a card is turned only when one of the two
        available cards is played.
        """
        if self.second_round:
            return False
        others = [pile for n, pile in enumerate(self.tableau) if f"T{n}" != self.reserve]
        waste_must_fill_a_space = not all(others) and bool(self.waste)
        if self.rules.spaces == "before_dealing" and waste_must_fill_a_space:
            return False
        return bool(self.stock)

    def _may_redeal(self) -> bool:
        """Whether the stock is empty, the waste is not, and a redeal is left."""
        return not self.stock and bool(self.waste) and self.redeals_left > 0

    # Moving cards

    def _cards_at(self, place: str) -> list[str]:
        """The cards of "W", "T3" or "F:H"; for "S" the face-up card on the stock."""
        if place == "W":
            return self.waste
        if place == "S":
            return self.stock[:1] if self.second_round else []
        if place.startswith("F:"):
            return self.foundations[place[2:]]
        return self.tableau[int(place[1:])]

    def _cards_that_move(self, source: str, target: str) -> list[str]:
        """The cards that the move takes, bottom first; none if the rules forbid it.

        One card moves. With `runs`, a pile gives the shortest part of its packed sequence that fits
        on another card. A space takes only a top card (Disagreements, 6).
        """
        cards = self._cards_at(source)
        if not cards or source == target:
            return []
        if target == "F":
            return cards[-1:] if self._goes_up(cards[-1]) else []
        onto = self._cards_at(target)
        if self.reserve and not self._reserve_allows(source, target):
            return []
        if not onto:
            return cards[-1:] if self._player_may_fill_spaces() else []
        longest = len(cards) if self.rules.runs and source.startswith("T") else 1
        for length in range(1, longest + 1):
            part = cards[-length:]
            if self._is_packed(part) and self._packs(part[0], onto[-1]):
                return part
        return []

    def _goes_up(self, card: str) -> bool:
        """Whether a card is next on its foundation: base first, then up in suit, Ace after King."""
        rank, suit = card[0], card[1]
        built = self.foundations[suit]
        if not built:
            return rank == self.bases[suit]
        if len(built) == len(self.ranks):
            return False
        last = self.ranks.index(built[-1][0])
        return self.ranks.index(rank) == (last + 1) % len(self.ranks)

    def _packs(self, card: str, onto: str) -> bool:
        """Whether `card` may lie on the tableau card `onto` (field `build`)."""
        if self.rules.build == "none":
            return False
        same_colour = (card[1] in RED_SUITS) == (onto[1] in RED_SUITS)
        if self.rules.build == "alternate_colour" and same_colour:
            return False
        if self.rules.wrap == "linear" and onto[0] == self.bases[onto[1]]:
            return False
        if onto[0] == "A":
            return card[0] == self.ranks[-1] and self._takes_a_king(onto)
        return self.ranks.index(card[0]) + 1 == self.ranks.index(onto[0])

    def _takes_a_king(self, ace: str) -> bool:
        """Whether a King may lie on this Ace (field `wrap`)."""
        if self.rules.wrap == "unless_ace_base":
            return self.bases[ace[1]] != "A"
        return self.rules.wrap in ("always", "linear")

    def _is_packed(self, cards: list[str]) -> bool:
        """Whether each card may lie on the one below it."""
        return all(self._packs(upper, lower) for lower, upper in pairwise(cards))

    # Spaces

    def _reserve_allows(self, source: str, target: str) -> bool:
        """Whether the reserve's rules allow a move.

        The player adds no card to the reserve, and its card goes to a space, not onto a card. Only
        the card of the waste (or the one on the stock) and that of the reserve may fill a space.
        """
        if target == self.reserve:
            return False
        if self._cards_at(target):
            return source != self.reserve
        return source in ("W", "S", self.reserve)

    def _player_may_fill_spaces(self) -> bool:
        """Whether the player fills spaces: always, except while the stock refills them.

        With `auto_waste`, a space stays open only while the waste is empty: at the end, or just
        after a redeal. Then the player may fill it.
        """
        return self.rules.spaces != "auto_stock" or not self.stock

    def _refill(self) -> None:
        """Fill all spaces from the stock (field `spaces`)."""
        for pile in self.tableau:
            if not pile and self.stock:
                pile.append(self.stock.pop(0))
