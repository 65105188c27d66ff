"""`Session`: one game of a person, with undo, redo and the times of its moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.game import Game
from four_seasons_env.records import Record
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
