"""`fair_value`: the exact win probability of best play from public information."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.kernel import compile_rules, play
from four_seasons_env.engine.moves import Move, all_moves, find_move
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.solver.analysis.safe_moves import safe_move
from four_seasons_env.solver.fair import expectimax
from four_seasons_env.solver.fair.arrays import (
    OUT_OF_POSITIONS,
    SEARCHING,
    FairArrays,
    grow,
    new_arrays,
)
from four_seasons_env.solver.fair.information import hidden_cards
from four_seasons_env.solver.fair.open_cards import MOST_HIDDEN, ORDERS, can_win

DEFAULT_SECONDS = 60.0
_SLICE = 2**15  # positions made in one call, at least
_SLICES = 4  # a later call makes this part of the positions made so far, if that is more
_LISTING_SECONDS = 0.5  # to list the decisions, once the search has ended


@dataclass(frozen=True)
class Decision:
    """One way to play until the next hidden card is turned, and its value."""

    moves: tuple[Move, ...]
    """The last of them turns the card; once nothing is hidden, they win."""
    low: float
    """The chance to win is at least this."""
    high: float
    """And at most this."""


@dataclass(frozen=True)
class FairValue:
    """The answer of `fair_value`."""

    low: float
    """The chance to win is at least this."""
    high: float
    """And at most this."""
    decisions: tuple[Decision, ...]
    """Those whose value is known in part, the best first. None if no play wins."""
    nodes: int
    """Positions made by a move."""
    seconds: float
    """Time taken."""

    @property
    def is_exact(self) -> bool:
        """Whether the bounds meet."""
        return self.low == self.high

    @property
    def value(self) -> float | None:
        """The chance to win; None where it is not known exactly."""
        return self.low if self.is_exact else None

    @property
    def best(self) -> tuple[Decision, ...]:
        """The decisions that are known to be best."""
        return tuple(each for each in self.decisions if each.low == self.high)


class Known:
    """Results of searches, for later ones: pass one to several calls of `fair_value`.

    Games of one rule set meet the same positions again and again, once suits are but labels and
    ranks are counted from the base.
    """

    def __init__(self) -> None:
        self._arrays: dict[tuple[Rules, int], FairArrays] = {}

    def arrays_for(self, game: Game) -> FairArrays:
        """The arrays of earlier searches in games like this one, or new ones."""
        fresh = new_arrays(game.record[0], game.rules)
        found = self._arrays.get(self._kind(game, fresh), fresh)
        found.state[0]["positions"] = 0
        return found._replace(frames=fresh.frames)

    def keep(self, game: Game, arrays: FairArrays) -> None:
        """Keep the arrays of a search."""
        self._arrays[self._kind(game, arrays)] = arrays

    @staticmethod
    def _kind(game: Game, arrays: FairArrays) -> tuple[Rules, int]:
        """Games of one kind have the same moves except for the names of suits and ranks."""
        return game.rules, int(arrays.frames[0]["packs"])


class _Search:
    """One call of `fair_value`: its arrays, and what is left of its budget."""

    def __init__(
        self, game: Game, known: Known, max_positions: float, seconds: float, memory: int
    ) -> None:
        self._moves = all_moves(game.rules)
        self._arrays = known.arrays_for(game)
        self._max_positions, self._memory = max_positions, memory
        self._started = time.perf_counter()
        self._deadline = self._started + seconds

    @property
    def arrays(self) -> FairArrays:
        """The results so far."""
        return self._arrays

    @property
    def positions(self) -> int:
        """Positions made so far."""
        return int(self._arrays.state[0]["positions"])

    def _run(self, top: int, search: Callable[..., Any], *arguments: Any) -> Any:
        """Run a compiled search, with `top` rows in use, until it ends or the budget is used up.

        Each slice starts again, with what the tables hold.

        Returns:
            What the last slice has returned.
        """
        state = self._arrays.state[0]
        while True:
            state["top"], state["last"] = top, self.positions + self._next_slice()
            state["status"] = SEARCHING
            result = search(*arguments, self._arrays)
            if state["status"] == SEARCHING:
                return result
            if state["status"] != OUT_OF_POSITIONS:
                growing = [
                    each
                    for each in (*self._arrays, *self._arrays.met)
                    if isinstance(each, np.ndarray)
                ]
                if 2 * sum(array.nbytes for array in growing) > self._memory:
                    return result
                self._arrays = grow(self._arrays)
            if self.positions >= self._max_positions or time.perf_counter() >= self._deadline:
                return result

    def _next_slice(self) -> int:
        """Positions of the next slice: more each time, but no more than there is time for."""
        now = time.perf_counter()
        pace = self.positions / (now - self._started)
        in_time = int(pace * min(self._deadline - now, 1e9))  # the deadline may be infinity
        longest = max(_SLICE, min(self.positions // _SLICES, in_time))
        return int(min(longest, self._max_positions - self.positions))

    def open_game(self, record: Any) -> tuple[int, int, list[Decision]]:
        """The value where one card is hidden at most, and a way to win."""
        self._arrays.positions[0] = record
        result = self._run(0, can_win)
        if result < 0:
            return 0, 1, []
        if result == 0:
            return 0, 0, []
        return 1, 1, [Decision(self._winning_moves(record), 1.0, 1.0)]

    def decision(self, record: Any, move: int, cards: int) -> tuple[int, int]:
        """The value, in orders of the hidden cards, if a move that turns one is played now."""
        self._arrays.positions[0], self._arrays.turns[0] = record, move
        found = self._run(1, expectimax.value_of, 0, cards, -1, int(ORDERS[cards]))
        known = self._run(1, expectimax.turn_each, 0, cards, -1)  # by earlier slices, too
        return int(max(found[0], known[0])), int(min(found[1], known[1]))

    def position(self, record: Any, cards: int) -> tuple[int, int, list[Decision]]:
        """The value, in orders of the hidden cards, and decisions whose value is known in part."""
        low, high = self.decision(record, expectimax.NO_TURN, cards)
        if high == 0:
            return low, high, []
        # What the search has enumerated last is enumerated again, with a budget of its own: it
        # took less than a slice. If the budget is used up, the list has few decisions.
        self._max_positions = self.positions + max(_SLICE, self.positions // _SLICES)
        self._deadline = max(self._deadline, time.perf_counter() + _LISTING_SECONDS)
        limit = expectimax.FIRST
        while True:
            found, is_all = self._run(1, expectimax.known_decisions, cards, limit)
            is_over = low < high or (self._arrays.lows[1 : 1 + found] == low).any()
            if is_over or is_all or self._arrays.state[0]["status"] != SEARCHING:
                break
            limit *= expectimax.GROWTH
        return low, high, self._decisions(found, int(ORDERS[cards]))

    def _decisions(self, found: int, orders: int) -> list[Decision]:
        """Those of the rows from 1 on of whose value anything is known, the best first."""
        arrays, rows = self._arrays, np.arange(1, 1 + found)
        lows, highs = arrays.lows[rows], arrays.highs[rows]
        order = np.lexsort((-arrays.scores[rows], -highs, -lows))
        return [
            Decision(self._path(int(rows[at])), float(lows[at] / orders), float(highs[at] / orders))
            for at in order
            if lows[at] > 0 or highs[at] < orders
        ]

    def _path(self, row: int) -> tuple[Move, ...]:
        """The moves of a decision that has just been enumerated, from row 1 on."""
        arrays = self._arrays
        turn = int(arrays.turns[row])
        path, at = [turn], 1 + int(arrays.origins[row])
        if turn:  # no deal: it is held apart, below the position in which it is played
            at = int(arrays.parents[at])
        while at > 1:
            path.append(int(arrays.moves[at]))
            at = int(arrays.parents[at])
        return tuple(self._moves[move] for move in path[::-1])

    def _winning_moves(self, record: Any) -> tuple[Move, ...]:
        """The moves of the win that `can_win` has found; safe ones are not on record."""
        arrays = self._arrays
        rule, frame = arrays.rules[0], arrays.frames[0]
        line = []
        at = int(arrays.state[0]["won"])
        while at > 0:
            line.append(int(arrays.moves[at]))
            at = int(arrays.parents[at])
        games = np.array([record])
        path = []
        for move in line[::-1]:
            at = move
            while at >= 0:
                play(games[0], rule, at)
                path.append(self._moves[at])
                at = safe_move(games[0], rule, frame) if frame["safe"] else -1
        return tuple(path)


@functools.cache
def _warm_up() -> None:
    """Compile the searches, or load them from the disk, before any clock runs."""
    announce(expectimax.value_of)
    game = Game(RULES["four-seasons"].replace(ranks=4, piles=1), deal=0)
    search = _Search(game, Known(), 100, math.inf, 2**30)
    search.position(game.record[0], game.stock_size)
    search.open_game(game.record[0])


def fair_value(
    game: Game,
    move: Move | str | int | None = None,
    max_positions: int | None = None,
    seconds: float | None = None,
    memory: int = 2**30,
    known: Known | None = None,
) -> FairValue:
    """The chance of winning with the best play from public information.

    All orders of the unseen cards are equally likely; the order that the game holds is
    not looked at, and no limit of moves counts. Every decision until the next card is turned is
    weighed against every other, and every card that may come is averaged over, so the value is
    exact where the bounds meet (docs/explanation/solver.md). With few cards hidden that takes
    milliseconds to seconds. Without `seconds`, the same arguments give the same answer.

    Args:
        game: a position of any rule set; it stays as it is.
        move: the value if this is played now; None: of the position.
        max_positions: positions to look at, at most; listing the decisions may add a quarter.
            None: no limit.
        seconds: time to take, at most, and up to a second more to list the decisions; loading the
            compiled code does not count. None: no limit, but 60 if `max_positions` is None too.
        memory: bytes that the search may take, at most.
        known: results of earlier searches are used, and those of this one are added. The
            value stays the same; bounds, and the decisions that are looked at, may differ.

    Raises:
        ValueError: for a limit that is not positive, or for more than 20 hidden cards: their
            orders are counted in 64 bits.
        IllegalMove: if the rules do not allow the move.
    """
    limits = {"max_positions": max_positions, "seconds": seconds, "memory": memory}
    for name, limit in limits.items():
        if limit is not None and not limit > 0:
            raise ValueError(f"{name} must be more than 0, not {limit!r}")
    if max_positions is None and seconds is None:
        seconds = DEFAULT_SECONDS
    after, cards = _hidden(game)
    if cards > MOST_HIDDEN:
        raise ValueError(
            f"{cards} cards are hidden, and fair_value counts the orders of "
            f"{MOST_HIDDEN} at most: play on, or take fewer ranks"
        )
    before = after.record[0].copy()
    left = cards
    if move is not None:
        after.play(move)
        after, left = _hidden(after)
    _warm_up()
    started = time.perf_counter()
    known = known or Known()
    search = _Search(
        game,
        known,
        2**62 if max_positions is None else max_positions,
        math.inf if seconds is None else seconds,
        memory,
    )
    decisions: list[Decision] = []
    if move is not None and left < cards and cards >= 2:
        chosen = find_move(game.rules, move)
        low, high = search.decision(before, chosen.number, cards)
        decisions = [Decision((chosen,), low / ORDERS[cards], high / ORDERS[cards])]
    elif left <= 1:
        low, high, decisions = search.open_game(after.record[0])
    else:
        low, high, decisions = search.position(after.record[0], left)
    known.keep(game, search.arrays)
    orders = int(ORDERS[cards])
    seconds_taken = time.perf_counter() - started
    return FairValue(low / orders, high / orders, tuple(decisions), search.positions, seconds_taken)


def _hidden(game: Game) -> tuple[Game, int]:
    """The game with the cards that the player has not seen sorted, and how many there are."""
    record = game.record[0].copy()
    cards = int(hidden_cards(record, compile_rules(game.rules)[0]))
    record["deck"][record["dealt"] : record["dealt"] + cards].sort()
    return Game.from_own_record(record, game.rules), cards
