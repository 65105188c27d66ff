"""`fair_value`: the exact chance to win of a player who sees only what a player may see."""

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
from four_seasons_env.solver.fair import expectimax
from four_seasons_env.solver.fair.arrays import (
    OUT_OF_POSITIONS,
    SEARCHING,
    FairArrays,
    grow,
    new_arrays,
)
from four_seasons_env.solver.fair.information import hidden_cards, meet_decisions
from four_seasons_env.solver.fair.open_cards import (
    MOST_HIDDEN,
    ORDERS,
    can_win,
    winnable_orders,
)
from four_seasons_env.solver.safe_moves import safe_move

DEFAULT_SECONDS = 60.0
_SLICE = 2**15  # positions made in one call, at least
_SLICES = 4  # a later call makes this part of the positions made so far, if that is more


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
    """What `fair_value` has found out."""

    low: float
    """The chance to win is at least this."""
    high: float
    """And at most this."""
    decisions: tuple[Decision, ...]
    """Those that were looked at, the best first."""
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
    """What searches have found out, for later ones: pass one to several calls of `fair_value`.

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


class _OutOfBudget(Exception):
    """Time, positions or memory have run out; `result` is what a search has returned."""

    def __init__(self, result: Any = None) -> None:
        super().__init__()
        self.result = result


class _Search:
    """One call of `fair_value`: its arrays, and what is left of its budget."""

    def __init__(
        self, game: Game, known: Known, max_positions: float, seconds: float, memory: int
    ) -> None:
        self._moves = all_moves(game.rules)
        self._arrays = known.arrays_for(game)
        self._max_positions, self._memory = max_positions, memory
        self._deadline = time.perf_counter() + seconds

    @property
    def arrays(self) -> FairArrays:
        """What it has found out."""
        return self._arrays

    @property
    def positions(self) -> int:
        """Positions made so far."""
        return int(self._arrays.state[0]["positions"])

    def _run(self, top: int, search: Callable[..., Any], *arguments: Any) -> Any:
        """Run a compiled search until it ends, with so many rows in use.

        Raises:
            _OutOfBudget: if it does not end in time.
        """
        state = self._arrays.state[0]
        result = None
        while True:
            left = self._max_positions - self.positions
            if left <= 0 or time.perf_counter() >= self._deadline:
                raise _OutOfBudget(result)
            slice_ = min(left, max(_SLICE, self.positions // _SLICES))
            state["top"], state["last"] = top, self.positions + slice_
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
                    raise _OutOfBudget(result)
                self._arrays = grow(self._arrays)

    def open_game(self, record: Any) -> tuple[int, int, list[Decision]]:
        """The value where one card is hidden at most, and a way to win."""
        self._arrays.positions[0] = record
        try:
            wins = self._run(0, can_win)
        except _OutOfBudget:
            return 0, 1, []
        if not wins:
            return 0, 0, []
        return 1, 1, [Decision(self._winning_moves(record), 1.0, 1.0)]

    def decision(self, record: Any, move: int, cards: int) -> tuple[int, int]:
        """The value, in orders of the hidden cards, if a move that turns one is played now."""
        self._arrays.positions[0], self._arrays.turns[0] = record, move
        return self._bounds(0, 1, cards, -1)[0]

    def position(self, record: Any, cards: int) -> tuple[int, int, list[Decision]]:
        """The value, in orders of the hidden cards, and the decisions that were looked at.

        As `expectimax.value_of` does it for the positions behind the first decision.
        """
        orders = int(ORDERS[cards])
        low, high, reached = 0, orders, 0
        decisions: list[Decision] = []
        limit, seen, is_all = expectimax.FIRST, 0, False
        try:
            asks = expectimax.asks_open_cards(cards, self._arrays.rules[0])
            self._arrays.positions[0] = record
            if asks and self._run(0, can_win) == 0:  # it looks lost: the upper bound comes first
                high, asks = self._winnable_orders(record, cards), False
            while low < high and not is_all:
                found, held, is_all = self._run(0, _meet, record, limit)
                tree = _Tree(self._arrays, found, held)
                for row in np.argsort(-self._arrays.scores[:found], kind="stable").tolist():
                    if tree.origins[row] < seen:
                        continue
                    bounds, is_over = self._bounds(row, found, cards, low or -1)
                    path = tuple(self._moves[move] for move in tree.path(row))
                    decisions.append(Decision(path, bounds[0] / orders, bounds[1] / orders))
                    low, reached = max(low, bounds[0]), max(reached, bounds[1])
                    if is_over:
                        raise _OutOfBudget
                    if asks and low < high:
                        high, asks = self._winnable_orders(record, cards, 1 + found), False
                    if low == high:
                        break
                seen = held
                limit *= expectimax.GROWTH
            if is_all:
                high = max(low, min(high, reached))
        except _OutOfBudget:
            pass
        return low, high, sorted(decisions, key=lambda each: (-each.low, -each.high))

    def _winnable_orders(self, record: Any, cards: int, row: int = 0) -> int:
        """An upper bound of the value: in how many orders one who knows the order can win.

        Args:
            row: where the position may be put; those before it are in use.
        """
        self._arrays.positions[row] = record
        try:
            return int(self._run(row + 1, winnable_orders, row, cards, 0))
        except _OutOfBudget as stopped:
            return int(ORDERS[cards] if stopped.result is None else stopped.result)

    def _bounds(self, row: int, used: int, cards: int, cut: int) -> tuple[tuple[int, int], bool]:
        """The value of a decision in the first rows, and whether the budget is used up."""
        orders = int(ORDERS[cards])
        try:
            search = expectimax.value_of
            return self._run(used, search, row, cards, cut, orders), False
        except _OutOfBudget as stopped:
            return stopped.result or (0, orders), True

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


class _Tree:
    """How the decisions of an enumeration are reached; it is kept while the arrays are reused.

    Args:
        found: how many there are.
        held: positions that were held.
    """

    def __init__(self, arrays: FairArrays, found: int, held: int) -> None:
        self.origins = arrays.origins[:found].tolist()
        """Where the enumeration held each decision."""
        self._turns = arrays.turns[:found].copy()
        self._parents, self._moves = arrays.parents[:held].copy(), arrays.moves[:held].copy()

    def path(self, row: int) -> list[int]:
        """The moves of a decision, first to last."""
        turn = int(self._turns[row])
        moves, at = [turn], self.origins[row]
        if turn:  # no deal: it is held apart, below the position in which it is played
            at = self._parents[at]
        while at > 0:
            moves.append(int(self._moves[at]))
            at = self._parents[at]
        return moves[::-1]


def _meet(record: Any, limit: int, arrays: FairArrays) -> tuple[int, int, bool]:
    """`meet_decisions` from a position."""
    arrays.positions[0] = record
    found: tuple[int, int, bool] = meet_decisions(limit, arrays)
    return found


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
    exact where the bounds meet (docs/explanation/fair-values.md). With few cards hidden that takes
    milliseconds to seconds. The same positions and memory give the same answer, unless time
    runs out first.

    Args:
        game: a position of any rule set; it stays as it is.
        move: the value if this is played now; None: of the position.
        max_positions: positions to look at, at most. None: no limit.
        seconds: time to take, at most, by a quarter more; loading the compiled code does not
            count. None: no limit, but 60 if `max_positions` is None too.
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
