"""`Session`: one game of a person, with undo, redo and times; its view as JSON."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from four_seasons_env.engine.moves import Move, find_move
from four_seasons_env.game import Game
from four_seasons_env.play.words import describe, move_words, table_words, unseen_words
from four_seasons_env.records import Record, check_times
from four_seasons_env.rendering import draw_svg
from four_seasons_env.rendering.layout import ends, moved_cards, places
from four_seasons_env.rules import Rules
from four_seasons_env.rules_in_words import rules_in_words
from four_seasons_env.schemas import Count

Save = Callable[["Session"], None]
"""A function that is called with a session whose game is finished, and writes its record."""

SESSION_MOVES = 5_000
"""Moves of a game, so that a server replays it in a second or two."""


@dataclass(frozen=True)
class Step:
    """A move that was played."""

    before: Game
    """The position in which it was played."""
    move: Move
    seconds: float | None
    """Seconds from the start of the game; None if unknown."""
    by_agent: bool
    """Whether an agent played it."""


@dataclass(frozen=True)
class History:
    """What a session knows besides its moves, so that another one can continue it."""

    times: tuple[float, ...] = ()
    """Seconds from the start to each move; empty if unknown."""
    by_agent: tuple[int, ...] = ()
    """The indices of the moves that an agent played."""
    undone: Count = 0
    """How many moves that had turned a card were taken back."""
    saved: bool = False
    """Whether the game with these moves has been saved."""


def _check_length(moves: int) -> None:
    if moves > SESSION_MOVES:
        raise ValueError(
            f"a game must have at most {SESSION_MOVES:,} moves: undo some, or start anew"
        )


class Session:
    """A game that a person plays.

    >>> session = Session("four-seasons", deal=2**32)
    >>> session.play("deal")
    >>> session.undo()
    >>> session.record("Ada").to_json()
    '{"rules": "four-seasons", "deal": 4294967296, "moves": [], "undone": 1, ...}'

    Args:
        rules: a rule set's name or a `Rules`.
        deal: the deal's number, or a deck's text.
        moves: played at once, as texts.
        history: `history` of another session after these moves. Without it, records of the game
            have no times.
        save: called when the game ends, and by `save()`, unless it has saved a game of these moves:
            Undo and Redo lead to the same end again. If it raises OSError, the session continues,
            and `unsaved` has the reason.

    Raises:
        ValueError: for unknown rules, a bad deal, more than `SESSION_MOVES`, moves that are not
            legal, or times that do not fit the moves.
    """

    def __init__(
        self,
        rules: str | Rules,
        deal: int | str,
        moves: Sequence[str] = (),
        history: History = History(),
        save: Save | None = None,
    ) -> None:
        self._deck = deal if isinstance(deal, str) else None
        self.game = Game(rules, None if isinstance(deal, str) else deal, self._deck)
        self.before: Game | None = None
        """The position before the last move; None after an undo."""
        self.steps: list[Step] = []
        self.undone = history.undone
        """Moves that had turned a card and were taken back."""
        self.unsaved = ""
        """Why the game, which is finished, could not be saved."""
        self._save: Save | None = None  # while `moves` are played, which have been saved
        self._saved: set[tuple[Move, ...]] = set()  # all moves of each finished game
        self._undone: list[Step] = []
        _check_length(len(moves))
        check_times(history.times, len(moves))
        times, by_agent = history.times or [None] * len(moves), {*history.by_agent}
        for i, (text, seconds) in enumerate(zip(moves, times, strict=True)):
            move = find_move(self.game.rules, text)
            self._play(Step(self.game, move, seconds, i in by_agent))
        if history.saved:
            self._saved.add(tuple(self.played))
        self._save = save
        self._started = time.monotonic() - (self.seconds_of_last_move or 0)

    @property
    def kept(self) -> int:
        """The number of moves in memory: those played, and those that Redo would play."""
        return len(self.steps) + len(self._undone)

    @property
    def history(self) -> History:
        """For another `Session`, which then continues this one."""
        by_agent = tuple(i for i, step in enumerate(self.steps) if step.by_agent)
        times = tuple(round(each, 2) for each in self.record().times)
        return History(times, by_agent, self.undone, tuple(self.played) in self._saved)

    @property
    def seconds_of_last_move(self) -> float | None:
        """Seconds from the start to the last move; None if there is none, or if it is unknown."""
        return self.steps[-1].seconds if self.steps else None

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
        last = self.seconds_of_last_move if self.game.is_over else None
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
            by_agent=sum(step.by_agent for step in self.steps),
        )

    def play(self, move: str, by_agent: bool = False) -> None:
        """Play a move, given as its text.

        Raises:
            IllegalMove: if the rules do not allow it, with the reason.
            ValueError: if the rule set has no such move, or after `SESSION_MOVES`.
        """
        _check_length(len(self.steps) + 1)
        seconds = time.monotonic() - self._started
        self._play(Step(self.game, find_move(self.game.rules, move), seconds, by_agent))
        self._undone.clear()

    def _play(self, step: Step) -> None:
        self.unsaved = ""
        self.before, self.game = step.before, step.before.after(step.move)
        self.steps.append(step)
        if self.game.is_over:
            self.save()

    def save(self) -> None:
        """Save the game, which is finished, unless its moves have been saved."""
        moves = tuple(self.played)
        try:
            if self._save and moves not in self._saved:
                self._save(self)
            self._saved.add(moves)
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
        step, after = self.steps.pop(), self.game
        self._undone.append(step)
        self.before, self.game = None, step.before
        self.undone += self.game.stock_size > after.stock_size

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
        unseen: whether to list the cards that have not been seen, in no order: in the drawing, and
            in words.
        compact: whether the drawing leaves less room below small piles, for narrow screens.
    """
    game = session.game
    # Nothing here depends on the order of the stock.
    changed = "Without the changes in the name: "
    return {
        "rules": game.rules.name,
        "how": f"{rules_in_words(game.rules)} Click the stock to deal.",
        "about": changed * game.rules.name.endswith(")") + game.rules.about.replace("`", ""),
        "deal": "deck" if game.deal < 0 else str(game.deal),  # JavaScript's numbers end at 2^53
        "svg": draw_svg(game, before=session.before, unseen=unseen, compact=compact),
        "legal": [
            dict(zip(("from", "to"), ends(game, move), strict=True))
            | {"move": move.text, "words": move_words(game, move)}
            | {"cards": len(moved_cards(game, move))}
            for move in game.legal_moves()
        ],
        "table": table_words(game),
        "unseen": unseen_words(game) if unseen else [],
        "places": {place: describe(game, place) for place in places(game)},
        "moves": [move.text for move in session.played],
        "history": asdict(session.history),
        "can_redo": session.can_redo,
        "cards_up": game.cards_up,
        "cards": game.rules.cards,
        "won": game.is_won,
        "over": game.is_over,
        "unsaved": session.unsaved,
        "seconds": round(session.seconds, 1),
    }
