"""`Game`: one position for people, notebooks and tests, a thin layer over a GAME record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import check_type
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import CARD_TEXTS, NO_CARD, SUITS, check_deal, parse_deck
from four_seasons_env.engine.hashing import public_key
from four_seasons_env.engine.moves import FOUNDATION, STOCK, WASTE, Move, all_moves, find_move
from four_seasons_env.engine.validation import InvalidGame, check_games
from four_seasons_env.rules import Rules, get_rules

MAX_MOVES = 500
"""Maximum number of moves of a game by default.

All solutions of the stored census but one take fewer."""
MOST_MOVES = 1_000_000
"""Largest limit of moves of a playout, which takes less than a second then; nothing can stop it."""


class IllegalMove(ValueError):
    """A move that the rules do not allow in this position; the position stays as it was.

    Examples:
        >>> Game(deal=17).play("T0>T1")
        Traceback (most recent call last):
        four_seasons_env.game.IllegalMove: T0>T1 is not legal: 6D does not go on KD at T1
    """


class Outcome(NamedTuple):
    """A possible outcome of a move."""

    card: str | None
    """The unseen card that the move turns; None if it turns none."""
    probability: float
    game: Game
    """The position after the move."""


class Stop(NamedTuple):
    """A position in which the next card can be turned."""

    game: Game
    moves: list[Move]
    """The moves that lead there."""
    turn: Move
    """The move that takes the next card from the stock, or turns the waste over."""


def legal_masks(
    games: NDArray[Any], rules: Rules, distinct: bool = False
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """The legal moves of GAME (n,), int8 of shape (n, A); and whether each continues, bool (n,).

    The records are not checked. For records from outside, use
    `Games.from_records(...).action_masks()`.
    """
    words, masks = kernel.new_masks(len(games), rules)
    continues = np.zeros(len(games), np.bool_)
    kernel.legal_all(games, kernel.compile_rules(rules), distinct, words, continues)
    return masks, continues


def cards_in(record: np.void, place: int) -> list[int]:
    """The cards of a pile of a GAME record, or of its waste, bottom first.

    The record is not checked: for one from outside, `Game.from_record(...).tableau`.
    """
    cards = []
    card = int(record["top"][place])
    while card != NO_CARD:
        cards.append(card)
        card = int(record["below"][card])
    return cards[::-1]


class Game:
    """A game of patience, to inspect and to play.

    Examples:
        >>> game = Game(rules="four-seasons", deal=17)
        >>> game.legal_moves()
        [deal, T3>T0, T4>T1]
        >>> game.play("T3>T0")  # a Move, its text or its number
        >>> game.tableau
        [['6D', '5S'], ['KD'], ['2H'], [], ['QC']]
        >>> game
        <Game 'four-seasons' deal 17: 1 of 52 cards up after 1 move>

    Args:
        rules: a rule set's name or a `Rules`.
        deal: the deal's number, 0 to 2^63 - 1. Without a deal or a deck, deal 0.
        deck: the cards as text, first dealt first, instead of a number.

    Raises:
        ValueError: for unknown rules, a bad deal number or an invalid deck.

    See Also:
        `Games`: many positions at once.
        `four_seasons_env.records.Record`: a game as a line of text.
        `four_seasons_env.solver.solve`: whether a position can be won.
    """

    def __init__(
        self,
        rules: str | Rules = "four-seasons",
        deal: int | None = None,
        deck: str | Sequence[str] | None = None,
    ) -> None:
        self.rules = get_rules(rules)
        self._rule = kernel.compile_rules(self.rules)
        self._record: NDArray[Any] = np.zeros(1, kernel.GAME)
        if deck is not None:
            if deal is not None:
                raise ValueError("give a deal or a deck, not both")
            self._record["deck"] = NO_CARD
            self._record["deck"][0, : self.rules.cards] = parse_deck(deck, self.rules.ranks)
            self._record["deal"] = -1
            kernel.lay_out(self._record[0], self._rule[0])
        else:
            number = check_deal(0 if deal is None else deal)
            kernel.start_all(self._record, self._rule, np.array([number], np.int64))

    @classmethod
    def from_record(cls, record: Any, rules: str | Rules = "four-seasons") -> Game:
        """A game at a copy of the position in a GAME record.

        Args:
            record: one record, or an array of one.
            rules: the rule set that it is a position of.

        Raises:
            InvalidGame: if it is not a position of these rules, with the reason.
        """
        games, known = np.asarray(record), get_rules(rules)
        if games.size != 1:
            raise InvalidGame(f"a game must be one record, not an array of shape {games.shape}")
        games = games.reshape(1)
        check_games(games, known)
        return cls.from_own_record(games[0], known)

    @classmethod
    def from_own_record(cls, record: np.void, rules: Rules) -> Game:
        """A game at a copy of a position that compiled code has made, which needs no check."""
        game = cls.__new__(cls)
        game.rules = rules
        game._rule = kernel.compile_rules(rules)
        game._record = np.zeros(1, kernel.GAME)
        game._record[0] = record
        return game

    # --- the position

    @property
    def record(self) -> NDArray[Any]:
        """The position: a read-only GAME array of shape (1,).

        For another position, change a copy and pass it to `from_record`, which checks it.
        """
        view = self._record.view()
        view.flags.writeable = False
        return view

    def _pile(self, place: int) -> list[str]:
        return [CARD_TEXTS[card] for card in cards_in(self._record[0], place)]

    @property
    def tableau(self) -> list[list[str]]:
        """The piles, each a list of card texts, bottom first."""
        return [self._pile(pile) for pile in range(self.rules.piles)]

    @property
    def waste(self) -> list[str]:
        """The waste, bottom first."""
        return self._pile(WASTE)

    @property
    def foundations(self) -> dict[str, list[str]]:
        """The foundations by suit ("C", "S", "H", "D"), base card first."""
        record = self._record[0]
        return {
            suit: [
                CARD_TEXTS[4 * ((int(record["base"][s]) + level) % self.rules.ranks) + s]
                for level in range(record["level"][s])
            ]
            for s, suit in enumerate(SUITS)
        }

    @property
    def bases(self) -> dict[str, str]:
        """The base card of each suit: the one its foundation starts with."""
        ranks = self._record["base"][0].tolist()
        return {suit: CARD_TEXTS[4 * ranks[s] + s] for s, suit in enumerate(SUITS)}

    @property
    def stock(self) -> list[str]:
        """The stock, next card first. Hidden from the player, except after a redeal."""
        record = self._record[0]
        return [CARD_TEXTS[card] for card in record["deck"][record["dealt"] : record["deck_size"]]]

    @property
    def stock_size(self) -> int:
        """Cards left in the stock."""
        return int(self._record["deck_size"][0]) - int(self._record["dealt"][0])

    @property
    def face_up(self) -> str | None:
        """The card that lies face up on the stock, if any: only after a limited redeal."""
        card = int(kernel.face_up_card(self.record[0], self._rule[0]))
        return None if card == NO_CARD else CARD_TEXTS[card]

    @property
    def redeals_left(self) -> int:
        """How often the waste may still be turned over."""
        return int(self._record["redeals"][0])

    @property
    def deal(self) -> int:
        """The deal's number; -1 for a custom deck."""
        return int(self._record["deal"][0])

    @property
    def moves_played(self) -> int:
        """Moves since the opening."""
        return int(self._record["moves"][0])

    @property
    def cards_up(self) -> int:
        """Cards on the foundations."""
        return int(self._record["cards_up"][0])

    @property
    def is_won(self) -> bool:
        """Whether all cards are up."""
        return self.cards_up == self.rules.cards

    @property
    def is_over(self) -> bool:
        """Whether it is won, or lost: the moves that are left only rename spaces.

        Such a move takes a pile's single card to an empty pile.
        """
        return not legal_masks(self._record, self.rules)[1][0]

    # --- playing

    def action_mask(self, distinct: bool = False) -> NDArray[np.int8]:
        """The legal moves as an int8 array of shape (actions,)."""
        masks, _ = legal_masks(self._record, self.rules, distinct)
        mask: NDArray[np.int8] = masks[0]
        return mask

    def legal_moves(self, distinct: bool = False) -> list[Move]:
        """The moves that the rules allow, in the order of their numbers.

        Args:
            distinct: leave out moves that only rename spaces.
        """
        moves = all_moves(self.rules)
        return [moves[number] for number in np.flatnonzero(self.action_mask(distinct))]

    def play(self, move: Move | str | int) -> None:
        """Play a move, given as a `Move`, its text or its number.

        Raises:
            IllegalMove: if the rules do not allow it here, with the reason.
            ValueError: if the rule set has no such move at all.
        """
        chosen = find_move(self.rules, move)
        if not self.action_mask()[chosen.number]:
            raise IllegalMove(f"{chosen} is not legal: {self._why_not(chosen)}")
        kernel.play_each(self._record, self._rule, np.array([chosen.number], np.int64))

    def _why_not(self, move: Move) -> str:
        """Why a move is not legal; the first reason that applies."""
        from four_seasons_env.rendering.layout import cards_at  # loaded where it is needed

        if self.is_won:
            return "the game is won"
        if move.turns:
            return self._why_not_turn(move)
        # 1. The place that it leaves has no card.
        name, _, onto = move.text.partition(">")
        cards = cards_at(self, "stock" if move.source == STOCK else name)
        if not cards:
            return f"there is no card at {name}"
        # 2. The card does not fit its foundation.
        card = cards[-1]
        if move.target == FOUNDATION:
            built = self.foundations[card[-1]]
            if built:
                return f"{card} does not follow {built[-1]} on its foundation"
            return f"the foundation starts with {self.bases[card[-1]]}, not {card}"
        # 3. It does not fit the pile: by the rules of a reserve, or by those of packing.
        if self.rules.reserve:
            reason = self._why_not_by_reserve(move)
            if reason:
                return reason
        host = self._pile(move.target)[-1]
        if self.rules.runs and len(cards) > 1 and move.source < WASTE:
            return f"no packed part of {name} with {card} on top fits {host} at {onto}"
        return f"{card} does not go on {host} at {onto}"

    def _why_not_turn(self, move: Move) -> str:
        """Why a card may not be dealt, or the waste not turned over."""
        if move.target == STOCK:
            if self.stock_size:
                return "the stock is not empty"
            return "no redeal is left" if not self.redeals_left else "the waste is empty"
        if not self.stock_size:
            return "the stock is empty"
        if self.face_up:
            return "the next card is turned automatically when one of the two has been played"
        return "a space must be filled from the waste before the next deal"

    def _why_not_by_reserve(self, move: Move) -> str:
        """Why a move is against the rules of a reserve; empty if it is not."""
        reserve = self.rules.reserve_pile
        if move.target == reserve:
            return "the reserve is filled from the stock alone"
        if self._pile(move.target):
            goes = f"the reserve's card goes to its foundation or to a space, not on T{move.target}"
            return goes if move.source == reserve else ""
        return "a space is filled with the waste's card or the reserve's"

    # --- a model to plan with

    @property
    def unseen(self) -> set[str]:
        """The cards that the player has not seen: the cards of the stock, before a redeal.

        Examples:
            >>> len(Game(deal=17).unseen)
            46
        """
        return set() if kernel.stock_is_known(self.record[0], self._rule[0]) else set(self.stock)

    def key(self) -> int:
        """A number for tables of positions, such as a search keeps.

        It is equal for positions with the same public information, whatever the deal's number, the
        order of the unseen cards and the moves before. The order of the piles counts, because a
        table may hold moves, which name piles. Among positions of a rule set with different public
        information, two share a key with a probability of 2^-64.

        Examples:
            >>> game = Game(deal=17)
            >>> game.after("T3>T0").after("T4>T1").key() == game.after("T4>T1").after("T3>T0").key()
            True
        """
        return int(public_key(self._record[0], self._rule[0]))

    def after(self, move: Move | str | int) -> Game:
        """A copy after a move. A move that turns a card turns the next one of this game's stock.

        Examples:
            >>> game = Game(deal=17)
            >>> game.after("deal").waste, game.waste
            (['5H'], [])

        Raises:
            IllegalMove, ValueError: see `play`.

        See Also:
            `play`: plays the move in this game itself.
            `outcomes`: every card that may come, for a player who does not know the next one.
        """
        game = self.copy()
        game.play(move)
        return game

    def outcomes(self, move: Move | str | int) -> list[Outcome]:
        """The possible outcomes of a move, for a player who sees only public information.

        A move that turns an unseen card has an outcome for each card that it may be; any other
        move has one. No rule set has moves that turn two. The order of the cards left in an
        outcome's stock means nothing: see `reshuffled`.

        Examples:
            >>> outcomes = Game(deal=17).outcomes("deal")
            >>> len(outcomes), outcomes[0].card, round(outcomes[0].probability, 4)
            (46, 'AC', 0.0217)
            >>> Game(deal=17).outcomes("T3>T0")[0].card is None  # it turns no card
            True

        Returns:
            `Outcome(card, probability, game)`; the probabilities sum to 1.

        Raises:
            IllegalMove, ValueError: see `play`.

        See Also:
            `Games.of`: the positions of all outcomes as a batch, for a network or for playouts.
        """
        chosen = find_move(self.rules, move)
        after = self.after(chosen)
        turned = int(after._record["dealt"][0]) - int(self._record["dealt"][0])
        if turned < 1 or kernel.stock_is_known(self.record[0], self._rule[0]):
            return [Outcome(None, 1.0, after)]
        # A copy for each unseen card. In copy i, the i-th of them swaps places with the next card.
        records = self._record.repeat(self.stock_size)
        decks, rows, dealt = records["deck"], np.arange(len(records)), int(records["dealt"][0])
        cards = np.sort(decks[0, dealt : dealt + len(rows)])
        places = (decks == cards[:, None]).argmax(axis=1)
        decks[rows, places] = decks[:, dealt]
        decks[:, dealt] = cards
        records["deal"] = -1
        kernel.play_each(records, self._rule, np.full(len(rows), chosen.number))
        weights = self._weights(cards)
        return [
            Outcome(CARD_TEXTS[card], weight, Game.from_own_record(records[i], self.rules))
            for i, (card, weight) in enumerate(zip(cards.tolist(), weights.tolist(), strict=True))
        ]

    def _weights(self, unseen: NDArray[np.uint8]) -> NDArray[np.float64]:
        """The probability of each unseen card to be the next."""
        suits = unseen & 3
        counts = np.bincount(suits, minlength=4)
        weights = kernel.suit_weight(self._rule[0], counts)[suits] / counts[suits]
        shares: NDArray[np.float64] = weights / weights.sum()
        return shares

    def reshuffled(self, rng: np.random.Generator) -> Game:
        """A copy with the unseen cards in a new order, each as likely as a player must expect.

        It has no deal number. After a redeal nothing is unseen, and the order of the stock stays.

        Examples:
            >>> game = Game(deal=17)
            >>> other = game.reshuffled(np.random.default_rng(0))
            >>> other.stock[:3], game.stock[:3]
            (['KC', 'AC', 'QD'], ['5H', 'TH', 'QD'])
            >>> other.key() == game.key()  # the same for the player
            True
        """
        check_type("rng", rng, np.random.Generator)
        seeds = rng.integers(0, 2**63, 1, np.uint64)
        shuffled = kernel.public_copy(self._record, self._rule, seeds)
        return Game.from_own_record(shuffled[0], self.rules)

    def stops(self, expansions: int = 1000) -> list[Stop]:
        """The positions in which the next card can be turned, with the moves that lead there.

        All of these moves are reversible or play seen cards, so the choice among stops is the whole
        decision until the next card. Positions that differ only in the order of their piles are one
        stop. Empty if no card is left to turn: then nothing is hidden (`solver.solve`).

        Examples:
            >>> [(stop.moves, stop.turn) for stop in Game(deal=17).stops()]
            [([T3>T0, T4>T1], deal), ([T3>T0], deal), ([T4>T1], deal), ([], deal)]

        Args:
            expansions: maximum number of positions that the search expands, the most promising
                first; 6,500 or less. It finds all stops if there are no more positions than
                that.

        Returns:
            `Stop(game, moves, turn)`, the most promising first.

        Raises:
            ValueError: for expansions out of range.
        """
        # Not at the top: environments load this file too, which would take 5% longer.
        from four_seasons_env.positions.enumeration import find_stops

        return [
            Stop(Game.from_own_record(record[0], self.rules), moves, turn)
            for record, moves, turn in find_stops(self.record, self.rules, expansions)
        ]

    # --- copies

    def copy(self) -> Game:
        """An independent game at the same position."""
        return Game.from_own_record(self._record[0], self.rules)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Game):
            return NotImplemented
        return self.rules == other.rules and np.array_equal(self._record, other._record)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from four_seasons_env.rendering import draw  # drawings are loaded where a game is drawn

        return draw(self)

    def _repr_svg_(self) -> str:
        """The picture that notebooks show; `four_seasons_env.rendering.draw_svg` has more."""
        from four_seasons_env.rendering import draw_svg

        return draw_svg(self)

    def __repr__(self) -> str:
        return (
            f"<Game {self.rules.name!r} deal {self.deal}: {self.cards_up} of {self.rules.cards} "
            f"cards up after {self.moves_played} move{'s' * (self.moves_played != 1)}>"
        )


def check_game(game: Any) -> Game:
    """An argument that is a game.

    Raises:
        WrongType: if it is not.
    """
    return check_type("game", game, Game)
