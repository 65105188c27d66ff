"""`Session`: one game of a person, with undo, redo and times; its view as JSON and in words."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from four_seasons_env.engine.moves import STOCK, Move, find_move
from four_seasons_env.game import Game
from four_seasons_env.records import Record
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rendering.layout import cards_at, ends
from four_seasons_env.rules import Rules

Keep = Callable[["Session"], None]
"""A function that is called with a session when its game ends."""


class Session:
    """A game that a person plays.

    Args:
        rules: a rule set's name or a `Rules`.
        deal: the deal's number, or a deck's text.
        moves: played at once, as texts.
        clock: returns seconds.
        keep: called each time the game ends; after its `OSError` the game continues.

    Raises:
        ValueError: for unknown rules, a bad deal or moves that are not legal.
    """

    def __init__(
        self,
        rules: str | Rules,
        deal: int | str,
        moves: Iterable[str] = (),
        clock: Callable[[], float] = time.monotonic,
        keep: Keep | None = None,
    ) -> None:
        self._deck = deal if isinstance(deal, str) else None
        self.game = Game(rules, None if isinstance(deal, str) else deal, self._deck)
        self.before: Game | None = None
        """The position before the last move; None after an undo."""
        self.played: list[Move] = []
        self.times: list[float] = []
        """Seconds from the start to each move."""
        self.undone = 0
        """Moves that had turned a card and were taken back."""
        self.unsaved = ""
        """Why the game, which has ended, could not be kept."""
        self._keep: Keep | None = None  # while `moves` are played, which have been recorded
        self._earlier: list[Game] = []
        self._undone: list[tuple[Move, float]] = []
        self._clock = clock
        self._started = clock()
        for move in moves:
            self.play(move)
        self._keep = keep

    @property
    def can_redo(self) -> bool:
        """Whether a move has been taken back and none played since."""
        return bool(self._undone)

    @property
    def seconds(self) -> float:
        """Seconds since the start; for a game that is over, until its last move."""
        if self.game.is_over and self.times:
            return self.times[-1]
        return self._clock() - self._started

    def record(self, player: str = "") -> Record:
        """The record of the game so far."""
        return Record(
            self.game.rules.name,
            tuple(move.text for move in self.played),
            deal=None if self._deck else self.game.deal,
            deck=self._deck,
            times=tuple(self.times),
            player=player,
            undone=self.undone,
        )

    def play(self, move: str) -> None:
        """Play a move, given as its text.

        Raises:
            IllegalMove: if the rules do not allow it, with the reason.
            ValueError: if the rule set has no such move.
        """
        self._play(find_move(self.game.rules, str(move)), self._clock() - self._started)
        self._undone.clear()

    def _play(self, move: Move, seconds: float) -> None:
        after = self.game.copy()
        after.play(move)
        self._earlier.append(self.game)
        self.before, self.game = self.game, after
        self.played.append(move)
        self.times.append(seconds)
        if self._keep and self.game.is_over:
            try:
                self._keep(self)
            except OSError as error:
                reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
                self.unsaved = f"The game could not be saved: {reason}"

    def undo(self) -> None:
        """Take the last move back.

        Raises:
            ValueError: if none has been played.
        """
        if not self.played:
            raise ValueError("no move has been played: there is nothing to undo")
        self.unsaved = ""
        self._undone.append((self.played.pop(), self.times.pop()))
        shown = self.game.stock_size
        self.before, self.game = None, self._earlier.pop()
        self.undone += self.game.stock_size > shown

    def redo(self) -> None:
        """Play the move that was taken back last.

        Raises:
            ValueError: if there is none.
        """
        if not self._undone:
            raise ValueError("no move has been taken back: there is nothing to redo")
        self._play(*self._undone.pop())

    def restart(self) -> None:
        """Take all moves back."""
        while self.played:
            self.undo()

    def finish(self) -> None:
        """Play every card that goes to its foundation. Deal no card.

        Where spaces are filled from the stock at once, a card that would turn another stays.
        """
        while ups := [move for move in self.game.legal_moves() if move.text.endswith(">F")]:
            known = [move for move in ups if not self._turns_a_card(move)]
            if not known:
                return
            self.play(known[0].text)

    def _turns_a_card(self, move: Move) -> bool:
        after = self.game.copy()
        after.play(move)
        return after.stock_size < self.game.stock_size


# --- what the page receives


def session_view(session: Session, unseen: bool = False, compact: bool = False) -> dict[str, Any]:
    """The view that the page receives, as JSON types: no card that has not been dealt.

    Args:
        session: the game.
        unseen: whether the drawing lists the cards that have not been seen, in no order.
        compact: whether the drawing leaves less room below small piles, for narrow screens.
    """
    game = session.game
    places = [f"T{i}" for i in range(game.rules.piles)] + [f"F:{s}" for s in game.foundations]
    return {
        "rules": game.rules.name,
        "deal": "deck" if game.deal < 0 else str(game.deal),  # JavaScript's numbers end at 2^53
        "svg": draw_svg(game, before=session.before, unseen=unseen, compact=compact),
        "legal": [
            dict(zip(("from", "to"), ends(game, move), strict=True))
            | {"move": move.text, "words": move_words(game, move)}
            for move in game.legal_moves()
        ],
        "places": {place: _place_words(session, place) for place in [*places, "W", "stock"]},
        "moves": [move.text for move in session.played],
        "can_redo": session.can_redo,
        "cards_up": game.cards_up,
        "cards": game.rules.cards,
        "won": game.is_won,
        "over": game.is_over,
        "unsaved": session.unsaved,
        "seconds": round(session.seconds, 1),
    }


def _place_words(session: Session, place: str) -> str:
    """The description of a place for screen readers."""
    game = session.game
    name = place_words(game, place)
    if place == "stock":
        face_up = f", {card_words(game.face_up)} face up" if game.face_up else ""
        return f"{name}, {game.stock_size} cards{face_up}"
    cards = cards_at(game, place)
    if not cards:
        base = f", starts with {rank_words(game.bases[place[2:]])}" if ":" in place else ""
        return f"{name}, empty{base}"
    below = f", {len(cards)} cards" if len(cards) > 1 else ""
    return f"{name}, {card_words(cards[-1])}{below}"


# --- words, for the page and for screen readers

_RANKS = {"A": "ace", "T": "10", "J": "jack", "Q": "queen", "K": "king"}
_SUITS = {"C": "clubs", "S": "spades", "H": "hearts", "D": "diamonds"}
_CROSS = ("north pile", "west pile", "centre pile", "east pile", "south pile")


def move_words(game: Game, move: Move) -> str:
    """A legal move in words: "7 of clubs from the waste to the north pile"."""
    if move.turns:
        return "turn the waste over" if move.target == STOCK else "deal a card"
    source, target = ends(game, move)
    card = card_words(cards_at(game, source)[-1])
    onto = place_words(game, target)
    return f"{card} from the {place_words(game, source)} to the {onto}".replace("the pile", "pile")


def place_words(game: Game, place: str) -> str:
    """The name of a place as drawings and moves call it: "T0", "W", "F:H", "stock"."""
    if place.startswith("T"):
        return pile_words(game, int(place[1:]))
    if place.startswith("F:"):
        return f"foundation of {_SUITS[place[2:]]}"
    return {"W": "waste", "stock": "stock"}[place]


def pile_words(game: Game, pile: int) -> str:
    """A pile's name: "north pile", or "pile 7"."""
    if pile == game.rules.reserve_pile:
        return "reserve"
    return _CROSS[pile] if game.rules.piles == len(_CROSS) else f"pile {pile + 1}"


def card_words(card: str) -> str:
    """A card's name: "7 of clubs"."""
    return f"{rank_words(card)} of {_SUITS[card[1]]}"


def rank_words(card: str) -> str:
    """The name of a card's rank: "7", "king"."""
    return _RANKS.get(card[0], card[0])


_PACKED = {
    "any_suit": "Build piles down in any suit",
    "alternate_colour": "Build piles down in alternate colours",
    "none": "A pile holds one card.",
}
_FILLED = {
    "optional": "Any card fills an empty pile.",
    "before_dealing": "Fill empty piles before you deal.",
    "auto_stock": "The stock fills an empty pile at once.",
    "auto_waste": "The waste fills an empty pile at once.",
}


def how_to_play(rules: Rules) -> str:
    """The rules in about sixty words, for a player who is new to them."""
    starts = {
        "one_per_suit": "Each starts with the rank it shows and goes up in suit, ace after king.",
        "aces": "Each goes up in suit from its ace.",
    }
    kings = {"never": "", "unless_ace_base": " A king goes on an ace unless aces start."}
    packed, filled = _PACKED[rules.build], _FILLED[rules.spaces]
    if rules.build != "none":
        packed += ", one card or run at a time." if rules.runs else ", one card at a time."
        packed += kings.get(rules.wrap, " A king goes on an ace.")
    if rules.reserve:
        filled = (
            "No card goes on the centre pile; the stock refills it. Its card or the waste's fills "
            "another empty pile."
        )
    redeals = {
        0: "There is no redeal.",
        1: "You may turn the waste over once.",
        2: "You may turn the waste over twice.",
    }
    return " ".join(
        (
            f"Move all {rules.cards} cards to the foundations.",
            starts.get(
                rules.base_from, "All start with the same rank and go up in suit, ace after king."
            ),
            packed,
            filled,
            "Click the stock to deal to the waste. The top waste card may move.",
            redeals[rules.redeals],
        )
    )
