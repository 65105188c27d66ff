"""The solver's verdicts on the positions of a game: could the true deal still be won?

After a lost position all positions are lost, and before a winnable one all are winnable. Therefore
the solver answers for a position in the middle of the open ones, and few answers decide all.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from four_seasons_env.game import Game
from four_seasons_env.solver import solve

WON, LOST, UNKNOWN = "won", "lost", "unknown"

_FIRST = 25_000
"""Positions that the solver expands for a first answer; takes a few hundredths of a second."""


@dataclass
class Verdicts:
    """The solver's verdicts on the positions of one game, first to last."""

    statuses: list[str]
    """`won`, `lost` or `unknown`: whether the true deal can still be won."""

    @property
    def last_won(self) -> int | None:
        """The last position known to be winnable; None if there is none."""
        found = [i for i, status in enumerate(self.statuses) if status == WON]
        return found[-1] if found else None

    @property
    def first_lost(self) -> int | None:
        """The first position known to be lost; None if there is none."""
        return self.statuses.index(LOST) if LOST in self.statuses else None

    @property
    def losing_move(self) -> int | None:
        """Index of the position in which the losing move was played.

        None if the game was won, could never be won, or stayed undecided.
        """
        last, first = self.last_won, self.first_lost
        return last if last is not None and first == last + 1 else None


def judge(positions: Sequence[Game], seconds: float = 10.0) -> Verdicts:
    """Solve the positions of a game, as far as the time allows.

    In each round the solver expands four times more positions per answer than in the round before.
    Positions between two open ones wait for the next round, because the solver fails most often
    near the losing move.

    Args:
        positions: positions of one game, first to last.
        seconds: time limit for all answers.
    """
    end = positions[-1]
    if end.is_won:
        return Verdicts([WON] * len(positions))
    solve(positions[0], max_positions=1)  # loads the compiled solver before the clock runs
    edges = _Edges(-1, len(positions) - end.is_over)
    deadline = time.perf_counter() + seconds
    limit = _FIRST
    while edges.lost - edges.won > 1 and time.perf_counter() < deadline:
        edges.narrow(positions, limit, deadline)
        limit *= 4
    open_ones = edges.lost - edges.won - 1
    return Verdicts(
        [WON] * (edges.won + 1) + [UNKNOWN] * open_ones + [LOST] * (len(positions) - edges.lost)
    )


@dataclass
class _Edges:
    """The last position known to be winnable (-1: none), and the first known to be lost."""

    won: int
    lost: int

    def narrow(self, positions: Sequence[Game], limit: int, deadline: float) -> None:
        """Move the edges towards each other until the position next to each stays open.

        Args:
            positions: positions of the game.
            limit: positions that the solver expands for one answer.
            deadline: time limit for all answers, by `time.perf_counter`.
        """
        first, last = self.lost, self.won  # open positions with this limit
        while (left := deadline - time.perf_counter()) > 0:
            below, above = first - self.won - 1, self.lost - last - 1
            if self.won < 0 and first > 0:
                at = 0  # if the opening is lost, all positions are
            elif below > 0 and below >= above:
                at = (self.won + first) // 2
            elif above > 0:
                at = (last + self.lost) // 2
            else:
                break
            status = solve(positions[at], max_positions=limit, seconds=left).status
            if status == WON:
                self.won = at
            elif status == LOST:
                self.lost = at
            else:
                first, last = min(first, at), max(last, at)
            # Others have decided those that stayed open: none is known to be too hard now.
            if last <= self.won or first >= self.lost:
                first, last = self.lost, self.won


def useful_moves(positions: Sequence[Game]) -> int:
    """The number of moves up to the last one that turned a card or put a card up."""
    useful = 0
    for i in range(1, len(positions)):
        before, after = positions[i - 1], positions[i]
        if (before.stock_size, before.cards_up) != (after.stock_size, after.cards_up):
            useful = i
    return useful


def verdicts_after_moves(position: Game, in_all: float = 6.0) -> dict[str, str]:
    """The solver's verdict after each move, without moves that only rename spaces.

    Args:
        position: the position before the moves.
        in_all: time limit for all answers, in seconds.
    """
    moves = position.legal_moves(distinct=True)
    answers = {}
    for move in moves:
        after = position.copy()
        after.play(move)
        answers[move.text] = solve(after, seconds=in_all / len(moves)).status
    return answers
