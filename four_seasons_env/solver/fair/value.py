"""`fair_value`: the exact win probability of best play from public information.

The search is `expectimax.position_value`. Here are its budget, its slices and its answer.
"""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass

import numpy as np

from four_seasons_env.arguments import check_limits
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import card_code
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.moves import DEAL, Move, all_moves, find_move
from four_seasons_env.game import Game, Outcome, check_game
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.solver.fair.arrays import (
    OUT_OF_POSITIONS,
    SEARCHING,
    FairArrays,
    grow,
    new_arrays,
)
from four_seasons_env.solver.fair.expectimax import position_value
from four_seasons_env.solver.fair.keys import shared_key

DEFAULT_SECONDS = 60.0
# Hidden cards; `kernel.count_orders` of more does not fit into 62 bits. The second is for rule sets
# with `one_per_suit`.
_MAX_HIDDEN, _MAX_PER_SUIT = 20, 18
_MIN_SLICE = 2**15  # positions made in one call
# A slice starts from the root again, so slices grow: each may be this part of all before.
_GROWTH = 1 / 4


@dataclass(frozen=True)
class Decision:
    """One way to play until the next hidden card is turned, and bounds of its value."""

    moves: tuple[Move, ...]
    """The last of them turns the card; once nothing is hidden, they win."""
    low: float
    """Lower bound of the chance to win."""
    high: float
    """Upper bound of it."""


@dataclass(frozen=True)
class FairValue:
    """The answer of `fair_value`."""

    low: float
    """Lower bound of the chance to win."""
    high: float
    """Upper bound of it."""
    decisions: tuple[Decision, ...]
    """Those whose bounds have been narrowed, the best first. Empty if no play wins."""
    nodes: int
    """Positions examined."""
    seconds: float
    """Time taken."""

    @property
    def value(self) -> float | None:
        """The chance to win; None unless the bounds meet."""
        return self.low if self.low == self.high else None

    @property
    def best(self) -> tuple[Decision, ...]:
        """The decisions that are known to be best."""
        return tuple(each for each in self.decisions if each.low == self.high)


class Known(dict[tuple[Rules, int], FairArrays]):
    """Transposition tables of searches, for later ones: pass one to several calls of `fair_value`.

    Games of the same rules reach the same positions again and again, because suits are
    interchangeable and ranks are counted from the base.

    >>> known, game = Known(), Game("four-seasons(ranks=4,piles=1)", deal=2**32 + 2)
    >>> for _ in range(6):
    ...     game.play("deal")
    >>> first, again = fair_value(game, known=known), fair_value(game, known=known)
    >>> first.value == again.value, again.nodes < first.nodes
    (True, True)
    """


class _Search:
    """One call of `fair_value`: its buffers and its budget."""

    def __init__(
        self, game: Game, known: Known, max_positions: float, seconds: float, memory: int
    ) -> None:
        arrays = new_arrays(game.record[0], game.rules)
        # Games with the same packing have the same moves, under other names of suits and ranks.
        self._known, self._kind = known, (game.rules, int(arrays.frames[0]["packs"]))
        if self._kind in known:
            arrays = known[self._kind]._replace(frames=arrays.frames)
        known[self._kind] = arrays
        self._rule, self.state = arrays.rules[0], arrays.state[0]
        self.state["positions"] = 0
        self._max_positions, self._memory = max_positions, memory
        self.started = time.perf_counter()
        self._deadline = self.started + seconds

    def _next_slice(self) -> int:
        """Positions of the next slice: more each time, as far as there is time; 0 at the end."""
        now, made = time.perf_counter(), int(self.state["positions"])
        if now >= self._deadline:
            return 0
        left = min(self._deadline - now, 1e9)  # the deadline may be infinity
        in_time = int(made / (now - self.started) * left)  # at the rate so far
        size = max(_MIN_SLICE, min(int(made * _GROWTH), in_time))
        return int(min(size, self._max_positions - made))

    def value(self, game: Game) -> tuple[int, int]:
        """Bounds of a position's value, in orders (`count_orders`).

        The search runs in slices, until it ends or the budget is used up. Each slice starts from
        the root again, with the bounds that the transposition table holds.
        """
        record, cards, state = game.record[0].copy(), len(game.unseen), self.state
        record["deck"][record["dealt"] : record["dealt"] + cards].sort()  # their order is not read
        orders = int(kernel.count_orders(self._rule, kernel.unseen_cards(record, self._rule)))
        low, high = 0, orders
        while True:
            # 1. Write the position to row 0.
            arrays = self._known[self._kind]
            frame, root = arrays.frames[0], arrays.rows[0]
            arrays.positions[0] = record
            root["key"] = shared_key(record, self._rule, frame, arrays.suits, arrays.names)
            root["orders"], root["low"], root["high"] = orders, 0, orders
            # 2. Search for a slice.
            state["top"], state["limit"] = 1, int(state["positions"]) + self._next_slice()
            state["status"], state["held"] = SEARCHING, 0
            bounds = position_value(0, cards, -1, orders, arrays)
            low, high = max(low, int(bounds[0])), min(high, int(bounds[1]))
            # 3. Stop, or continue with larger buffers if one was full.
            if state["status"] == SEARCHING or self._next_slice() <= 0:
                return low, high
            if state["status"] != OUT_OF_POSITIONS:
                larger = grow(arrays, self._memory)
                if larger is None:
                    return low, high
                self._known[self._kind] = larger

    def decisions(self, game: Game) -> list[Decision]:
        """Decisions whose bounds the last slice has narrowed, the best first."""
        # 1. The rows of the last enumeration at the root, which follow row 0.
        arrays, moves = self._known[self._kind], all_moves(game.rules)
        rows, orders = arrays.rows[: 1 + int(self.state["held"])], int(arrays.rows[0]["orders"])
        is_listed = (rows["low"] > 0) | (rows["high"] < orders)
        is_listed[0] = False  # the position itself
        listed = np.flatnonzero(is_listed)
        # 2. By the lower bound, then by the upper bound, then by the score.
        decisions = []
        for row in listed[np.lexsort([-rows[name][listed] for name in ("score", "high", "low")])]:
            decision, at = rows[row], row
            # 3. The moves, from the end back to the root.
            path = [DEAL] if decision["turn"] == DEAL else []  # another turn leads to its own row
            while rows[at]["parent"] >= 0:
                path.append(int(rows[at]["move"]))
                at = rows[at]["parent"]
            low, high = int(decision["low"]), int(decision["high"])
            line = tuple(moves[each] for each in path[::-1])
            decisions.append(Decision(line, low / orders, high / orders))
        return decisions


@functools.cache
def _warm_up() -> None:
    """Compile the searches, or load them from the disk, before any clock runs."""
    announce(position_value)
    game = Game(RULES["four-seasons"].replace(ranks=4, piles=1), deal=0)
    _Search(game, Known(), 100, math.inf, 2**30).value(game)


def fair_value(
    game: Game,
    move: Move | str | int | None = None,
    max_positions: int | None = None,
    seconds: float | None = None,
    memory: int = 2**30,
    known: Known | None = None,
) -> FairValue:
    """The chance of winning with the best play from public information.

    The order of the unseen cards that the game holds is ignored, and no limit of moves counts.
    Every decision until the next card is turned is weighed against every other, and every card
    that may come counts as often as it comes (`Game.outcomes`), so the value is exact where the
    bounds meet, for every rule set (docs/explanation/solver.md). With few cards hidden that takes
    milliseconds to seconds; docs/reference/small-games.md shows how long the openings of small
    games take.
    Without `seconds`, the same arguments give the same answer.

    >>> game = Game("four-seasons(ranks=4,piles=1)", deal=2**32 + 3)
    >>> for _ in range(6):
    ...     game.play("deal")
    >>> answer = fair_value(game)  # with eight cards hidden
    >>> f"{answer.value:.1%}", [str(move) for move in answer.best[0].moves]
    ('19.2%', ['deal'])

    Args:
        game: a position of any rule set; it stays as it is.
        move: the value if this is played now; None: of the position.
        max_positions: maximum number of positions to examine. None: no limit.
        seconds: limit of wall time, exceeded by some tenths of a second at most; loading compiled
            code does not count. None: no limit, but 60 if `max_positions` is None too.
        memory: maximum number of bytes that the search may take.
        known: results of earlier searches are used, and those of this one are added. The
            value stays the same; bounds, and which decisions are examined, may differ.

    Raises:
        ValueError: for a limit that is not positive, or for more than 20 hidden cards, or 18 if
            the rules have `one_per_suit`: their orders are counted in 62 bits.
        TypeError: if `game` is not a `Game`, or a limit is not a number.
        IllegalMove: if the rules do not allow the move.

    See Also:
        `solve`: whether a player who sees every card can win.
        `four_seasons_env.small_games`: games whose best fair play is known from the opening.
    """
    # 1. Arguments, and code that is compiled before the clock starts.
    check_game(game)
    check_limits(seconds, max_positions=max_positions, memory=memory)
    if max_positions is None and seconds is None:
        seconds = DEFAULT_SECONDS
    rule, hidden = kernel.compile_rules(game.rules)[0], len(game.unseen)
    most = _MAX_HIDDEN if kernel.equally_likely(rule) else _MAX_PER_SUIT
    if hidden > most:
        too_many = f"hidden cards must be at most {most}, not {hidden}"
        raise ValueError(f"{too_many}: play on, or take fewer ranks")
    _warm_up()
    # 2. The value: of the position, or the mean over the positions to which the move may lead.
    outcomes = [Outcome(None, 1.0, game)] if move is None else game.outcomes(move)
    search = _Search(
        game,
        Known() if known is None else known,
        2**62 if max_positions is None else max_positions,
        math.inf if seconds is None else seconds,
        memory,
    )
    unseen = kernel.unseen_cards(game.record[0], rule)
    won = not_lost = 0
    for card, _, after in outcomes:
        of_card = search.value(after)
        factor = 1 if card is None else int(kernel.order_factor(rule, unseen, card_code(card)))
        won, not_lost = won + factor * of_card[0], not_lost + factor * of_card[1]
    orders = int(kernel.count_orders(rule, unseen))
    low, high = won / orders, not_lost / orders
    # 3. The decisions. Of a move that turns one of several cards, it is the move itself.
    if move is None or len(outcomes) == 1:
        decisions = search.decisions(outcomes[0].game)
    else:
        decisions = [Decision((find_move(game.rules, move),), low, high)]
    taken = time.perf_counter() - search.started
    return FairValue(low, high, tuple(decisions), int(search.state["positions"]), taken)
