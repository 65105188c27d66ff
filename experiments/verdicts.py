"""The solver's verdicts on the positions of a game: could the true deal still be won?

After a lost position all positions are lost, and before a winnable one all are winnable. Therefore
the solver answers for a position in the middle of the open ones, and few answers decide all.
"""

from __future__ import annotations

import functools
import time
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from four_seasons_env.game import Game
from four_seasons_env.solver import solve

WON, LOST, UNKNOWN = "won", "lost", "unknown"

_FIRST = 25_000
"""Positions that the solver expands for a first answer; takes a few hundredths of a second."""
_IN_ALL = 6.0
"""Seconds for the verdicts on the moves of a position."""


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
    It fails most often near the losing move. So each round finds two edges by bisection: the last
    position that it knows to be winnable, and the first that it knows to be lost. What lies between
    waits for the next round.

    Args:
        positions: positions of one game, first to last.
        seconds: time limit for all answers.
    """
    end, count = positions[-1], len(positions)
    if end.is_won:
        return Verdicts([WON] * count)
    solve(positions[0], max_positions=1)  # loads the compiled solver before the clock runs
    deadline = time.perf_counter() + seconds
    limit, wins, lost = _FIRST, 0, count - end.is_over
    while wins < lost and time.perf_counter() < deadline:
        answers: dict[int, str] = {}
        ask = functools.partial(_answer, positions, limit, deadline, answers)
        wins += bisect_left(range(wins, lost), True, key=lambda at: ask(at) != WON)
        lost = min([lost, *(at for at, answer in answers.items() if answer == LOST)])
        lost = wins + bisect_left(range(wins, lost), True, key=lambda at: ask(at) == LOST)
        limit *= 4
    return Verdicts([WON] * wins + [UNKNOWN] * (lost - wins) + [LOST] * (count - lost))


def _answer(
    positions: Sequence[Game], limit: int, deadline: float, answers: dict[int, str], at: int
) -> str:
    """The solver's answer for a position, asked once; `unknown` after the deadline."""
    left = deadline - time.perf_counter()
    if at not in answers and left > 0:
        answers[at] = solve(positions[at], max_positions=limit, seconds=left).status
    return answers.get(at, UNKNOWN)


def useful_moves(positions: Sequence[Game]) -> int:
    """The number of moves up to the last one that turned a card or put a card up."""
    useful = 0
    for i in range(1, len(positions)):
        before, after = positions[i - 1], positions[i]
        if (before.stock_size, before.cards_up) != (after.stock_size, after.cards_up):
            useful = i
    return useful


def verdicts_after_moves(position: Game) -> dict[str, str]:
    """The solver's verdict after each move, without moves that only rename spaces."""
    moves = position.legal_moves(distinct=True)
    seconds = _IN_ALL / len(moves)
    return {move.text: solve(position.after(move), seconds=seconds).status for move in moves}
