"""`Session`: one game of a person, with undo, redo and times; its view as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.game import Game
from four_seasons_env.play.words import describe, move_words
from four_seasons_env.records import Record, check_times
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rendering.layout import ends, places
from four_seasons_env.rules import Rules
from four_seasons_env.rules_in_words import rules_in_words

PLAYER, HINTED, AGENT = "p", "h", "a"
"""Players of a move: the player, the player after a hint, an agent."""

Keep = Callable[["Session"], None]
"""A function that is called with a session whose game has ended."""


@dataclass(frozen=True)
class Step:
    """A move that was played."""

    before: Game
    """The position in which it was played."""
    move: Move
    seconds: float | None
    """Seconds from the start of the game; None if unknown."""
    by: str
    """`PLAYER`, `HINTED` or `AGENT`."""


class Session:
    """A game that a person plays.

    Args:
        rules: a rule set's name or a `Rules`.
        deal: the deal's number, or a deck's text.
        moves: played at once, as texts.
        history: what `history` of another session returned after these moves. Without it, records
            of the game have no times.
        keep: called when the game ends with moves that it has not kept, as they are after Undo and
            Redo; after its `OSError` the game continues.

    Raises:
        ValueError: for unknown rules, a bad deal, moves that are not legal, or a history of other
            moves.
    """

    def __init__(
        self,
        rules: str | Rules,
        deal: int | str,
        moves: Sequence[str] = (),
        history: Mapping[str, Any] | None = None,
        keep: Keep | None = None,
    ) -> None:
        self._deck = deal if isinstance(deal, str) else None
        self.game = Game(rules, None if isinstance(deal, str) else deal, self._deck)
        self.before: Game | None = None
        """The position before the last move; None after an undo."""
        self.steps: list[Step] = []
        self.undone = 0
        """Moves that had turned a card and were taken back."""
        self.unsaved = ""
        """Why the game, which has ended, could not be kept."""
        self._keep: Keep | None = None  # while `moves` are played, which have been recorded
        self._kept: set[tuple[Move, ...]] = set()  # all moves of each game that has ended
        self._advised: set[tuple[Move, ...]] = set()  # all moves before each hint or agent's move
        self._undone: list[Step] = []
        times, by = self._check_history(moves, history or {})
        for move, seconds, who in zip(moves, times, by, strict=True):
            self._play(Step(self.game, find_move(self.game.rules, str(move)), seconds, who))
        self._keep = keep
        self._started = time.monotonic() - (times[-1] if times and times[-1] else 0)

    def _check_history(
        self, moves: Sequence[str], history: Mapping[str, Any]
    ) -> tuple[Sequence[float | None], str]:
        """The times of moves, and who played them."""
        times, by = history.get("times", ()), history.get("by", PLAYER * len(moves))
        self.undone = history.get("undone", 0)
        if not isinstance(times, (list, tuple)):
            raise ValueError(f"times must be a list, not {type(times).__name__}")
        check_times(times, len(moves))
        if not isinstance(by, str) or len(by) != len(moves) or set(by) - {PLAYER, HINTED, AGENT}:
            raise ValueError(f"by must have a letter p, h or a for each move, not {by!r:.40}")
        if type(self.undone) is not int or self.undone < 0:
            raise ValueError(f"undone must be an integer from 0, not {self.undone!r:.40}")
        return times or [None] * len(moves), by

    @property
    def history(self) -> dict[str, Any]:
        """Times, the player of each move, and how many were taken back; for another `Session`."""
        by = "".join(step.by for step in self.steps)
        times = [round(each, 2) for each in self.record().times]
        return {"times": times, "by": by, "undone": self.undone}

    @property
    def played(self) -> list[Move]:
        """The moves played."""
        return [step.move for step in self.steps]

    @property
    def can_redo(self) -> bool:
        """Whether a move has been taken back and none played since."""
        return bool(self._undone)

    @property
    def seconds(self) -> float:
        """Seconds since the start; for a game that is over, until its last move."""
        last = self.steps[-1].seconds if self.steps and self.game.is_over else None
        return time.monotonic() - self._started if last is None else last

    def record(self, player: str = "") -> Record:
        """The record of the game so far."""
        times = [step.seconds for step in self.steps if step.seconds is not None]
        return Record(
            self.game.rules.name,
            tuple(move.text for move in self.played),
            deal=None if self._deck else self.game.deal,
            deck=self._deck,
            times=tuple(times) if len(times) == len(self.steps) else (),
            player=player,
            undone=self.undone,
            hinted=sum(step.by == HINTED for step in self.steps),
            by_agent=sum(step.by == AGENT for step in self.steps),
        )

    def play(self, move: str, by_agent: bool = False) -> None:
        """Play a move, given as its text.

        Raises:
            IllegalMove: if the rules do not allow it, with the reason.
            ValueError: if the rule set has no such move.
        """
        found, seconds = find_move(self.game.rules, str(move)), time.monotonic() - self._started
        by = AGENT if by_agent else HINTED if tuple(self.played) in self._advised else PLAYER
        self._play(Step(self.game, found, seconds, by))
        self._undone.clear()

    def note_advice(self) -> None:
        """Remember that the player knows an agent's move for this position."""
        self._advised.add(tuple(self.played))

    def _play(self, step: Step) -> None:
        if step.by != PLAYER:
            self.note_advice()
        self.before, self.game = step.before, step.before.after(step.move)
        self.steps.append(step)
        if self.game.is_over:
            self._end()

    def _end(self) -> None:
        """Keep the game, which has ended, unless its moves have been kept."""
        moves = tuple(self.played)
        try:
            if self._keep and moves not in self._kept:
                self._keep(self)
            self._kept.add(moves)
        except OSError as error:
            self.unsaved = f"The game could not be saved: {error.filename}: {error.strerror}"

    def undo(self) -> None:
        """Take the last move back.

        Raises:
            ValueError: if none has been played.
        """
        if not self.steps:
            raise ValueError("no move has been played: there is nothing to undo")
        self.unsaved = ""
        step, shown = self.steps.pop(), self.game.stock_size
        self._undone.append(step)
        self.before, self.game = None, step.before
        self.undone += self.game.stock_size > shown

    def redo(self) -> None:
        """Play the move that was taken back last.

        Raises:
            ValueError: if there is none.
        """
        if not self._undone:
            raise ValueError("no move has been taken back: there is nothing to redo")
        self._play(self._undone.pop())

    def restart(self) -> None:
        """Take all moves back."""
        while self.steps:
            self.undo()

    def finish(self) -> None:
        """Play every card that goes to its foundation. Deal no card.

        Where spaces are filled from the stock at once, a card that would turn another stays.
        """
        while ups := [move for move in self.game.legal_moves() if self._goes_up(move)]:
            self.play(ups[0].text)

    def _goes_up(self, move: Move) -> bool:
        """Whether a move puts a card on its foundation and turns none."""
        return move.text.endswith(">F") and self.game.after(move).stock_size == self.game.stock_size


# --- what the page receives


def session_view(session: Session, unseen: bool = False, compact: bool = False) -> dict[str, Any]:
    """The view that the page receives, as JSON types: no card that has not been dealt.

    Args:
        session: the game.
        unseen: whether the drawing lists the cards that have not been seen, in no order.
        compact: whether the drawing leaves less room below small piles, for narrow screens.
    """
    game = session.game
    changed = "Without the changes in the name: "
    return {
        "rules": game.rules.name,
        "how": f"{rules_in_words(game.rules)} Click the stock to deal.",
        "about": changed * game.rules.name.endswith(")") + game.rules.about,
        "deal": "deck" if game.deal < 0 else str(game.deal),  # JavaScript's numbers end at 2^53
        "svg": draw_svg(game, before=session.before, unseen=unseen, compact=compact),
        "legal": [
            dict(zip(("from", "to"), ends(game, move), strict=True))
            | {"move": move.text, "words": move_words(game, move)}
            for move in game.legal_moves()
        ],
        "places": {place: describe(game, place) for place in places(game)},
        "moves": [move.text for move in session.played],
        "history": session.history,
        "can_redo": session.can_redo,
        "cards_up": game.cards_up,
        "cards": game.rules.cards,
        "won": game.is_won,
        "over": game.is_over,
        "unsaved": session.unsaved,
        "seconds": round(session.seconds, 1),
    }
