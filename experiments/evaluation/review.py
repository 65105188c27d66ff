"""A game looked over afterwards: could the true deal still be won, and where was it lost?

Once a position cannot be won none that follows it can, and before one that can be won all could.
So the solver is asked in the middle of what is open, and few answers tell of all positions.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from experiments.evaluation.players import Player
from experiments.evaluation.recording import play_recorded
from four_seasons_env.game import Game
from four_seasons_env.play.records import Record
from four_seasons_env.rules import Rules
from four_seasons_env.solver import solve

WON, LOST, UNKNOWN = "won", "lost", "unknown"


def record_games(
    player: Player, rules: Rules, deals: Sequence[int], seed: int = 0
) -> dict[int, Record]:
    """Play deals as a comparison does, and return the games by their deal."""
    _, games = play_recorded(player, rules, deals, seed)
    return dict(zip(deals, games, strict=True))


@dataclass
class Verdicts:
    """What the solver says of the positions of one game, first to last."""

    statuses: list[str]
    """`won`, `lost` or `unknown`: whether the true deal can still be won."""

    @property
    def winnable(self) -> bool:
        """Whether the deal could be won at all."""
        return self.statuses[0] == WON

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
        """The position in which the move was played that lost the game.

        None if the game was won, could never be won, or where the solver leaves the place open.
        """
        last, first = self.last_won, self.first_lost
        return last if last is not None and first == last + 1 else None


def judge(positions: Sequence[Game], seconds: float = 0.5, in_all: float = 10.0) -> Verdicts:
    """Ask the solver about the positions of a game.

    Args:
        positions: of one game, first to last.
        seconds: for one answer, at most; what is open after that is asked again with four times as
            many, and so on.
        in_all: seconds for all answers, at most, by one answer's.
    """
    statuses: list[str | None] = [None] * len(positions)
    end = positions[-1]
    if end.is_won:
        return Verdicts([WON] * len(positions))
    if end.is_over:
        statuses[-1] = LOST
    solve(positions[0], max_positions=1)  # loads the compiled solver before the clock runs
    deadline = time.perf_counter() + in_all
    at = 0
    while None in statuses and time.perf_counter() < deadline:
        status = solve(positions[at], seconds=seconds).status
        if status == WON:
            statuses[: at + 1] = [WON] * (at + 1)
        elif status == LOST:
            statuses[at:] = [LOST] * (len(positions) - at)
        else:
            statuses[at] = UNKNOWN
        if None not in statuses:
            statuses = [None if status == UNKNOWN else status for status in statuses]
            seconds *= 4
        at = _widest_middle(statuses)
    return Verdicts([status or UNKNOWN for status in statuses])


def _widest_middle(statuses: Sequence[str | None]) -> int:
    """The middle of the longest stretch of None; 0 where there is none."""
    best, at = (0, 0), 0
    while at < len(statuses):
        end = at
        while end < len(statuses) and statuses[end] is None:
            end += 1
        best = max(best, (end - at, at))
        at = end + 1
    return best[1] + best[0] // 2


def useful_moves(positions: Sequence[Game]) -> int:
    """How many moves of a game lead to the last that turned a card or put one up."""
    useful = 0
    for i in range(1, len(positions)):
        before, after = positions[i - 1], positions[i]
        if (before.stock_size, before.cards_up) != (after.stock_size, after.cards_up):
            useful = i
    return useful


def kept_alive(position: Game, in_all: float = 6.0) -> dict[str, str]:
    """What the solver says of the position after each move, those aside that only rename spaces.

    Args:
        position: the one in which the moves are to be played.
        in_all: seconds for all answers, at most.
    """
    moves = position.legal_moves(distinct=True)
    answers = {}
    for move in moves:
        after = position.copy()
        after.play(move)
        answers[move.text] = solve(after, seconds=in_all / len(moves)).status
    return answers
