"""`solve`: one search after another, in the order of a schedule, until one has an answer.

`shorten` is a simple pass that removes moves from a solution.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from four_seasons_env.arguments import check_limits
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.moves import WASTE, Move, all_moves
from four_seasons_env.engine.threads import cores
from four_seasons_env.game import Game, check_game
from four_seasons_env.records import play_through
from four_seasons_env.rules import RULES
from four_seasons_env.solver.analysis.root import (
    ANY_NUMBER,
    LOST,
    SEARCHING,
    UNDECIDED,
    WON,
    Root,
)
from four_seasons_env.solver.beam import Beam, expand
from four_seasons_env.solver.sat import FormulaSearch
from four_seasons_env.solver.schedule import Step, steps

DEFAULT_SECONDS = 60.0
_STATUS_NAMES = ("unknown", "won", "lost", "unknown")
_ARRANGEMENTS = 32  # of a single beam


@dataclass(frozen=True)
class Solution:
    """The answer of `solve`."""

    status: str
    """`won` (the moves win), `lost` (nobody can win from here) or `unknown` (out of budget)."""
    moves: list[Move]
    """Moves that win, one after the other; empty unless won."""
    positions: int
    """Positions examined."""
    seconds: float
    """Time taken."""
    certificate: str = ""
    """The evidence: `moves` that win, or the method that proved the loss: a `beam` that left
    nothing out, or the `formula` of the relaxed game, which cannot be satisfied. Empty for an
    unknown answer."""
    step: str = ""
    """The step of the schedule that decided, such as `beam, width 100`; empty if none did."""


Method = Beam | FormulaSearch
"""A row of the schedule at work: one search from one position.

``go_on`` continues for some hundredths of a second and makes at most a number of positions. It
returns SEARCHING, WON, LOST or UNDECIDED; after any but the first the search is over."""


@functools.cache
def _warm_up() -> None:
    """Compile the searches, or load them from the disk, before any clock runs."""
    announce(expand)
    small = Game(RULES["four-seasons"].replace(ranks=4, piles=1), deal=0)  # soon decided
    root = Root(small.record[0], small.rules, 2**28)
    for search in Beam(root, 2), Beam(root, None):
        while search.go_on() == SEARCHING:
            pass


def _run(
    root: Root, plan: Iterable[Step], max_positions: float, deadline: float
) -> tuple[int, list[Move], int, Step | None]:
    """Make the searches of a plan until one has an answer, or a limit is reached.

    Returns:
        The status, the moves that win, the positions made and the step that has decided.
    """
    positions, record = 0, root.record
    cards = int(record["deck_size"]) - int(record["dealt"]) + int(record["height"][WASTE])
    for step in plan:
        if cards > step.most:
            continue
        search: Method = (
            FormulaSearch(root)
            if step.method == "formula"
            else Beam(root, step.width, step.arrangements, step.weights())
        )
        status = SEARCHING
        while status == SEARCHING and search.positions < (step.positions or math.inf):
            left = max_positions - positions
            if left <= 0 or time.perf_counter() >= deadline:
                return UNDECIDED, [], positions, None
            before = search.positions
            status = search.go_on(int(min(left, ANY_NUMBER)))
            positions += search.positions - before
        if status in (WON, LOST):
            moves = search.moves() if isinstance(search, Beam) and status == WON else []
            return status, moves, positions, step
    return UNDECIDED, [], positions, None


def solve(
    game: Game,
    max_positions: int | None = None,
    seconds: float | None = None,
    memory: int = 2**30,
    width: int | None = None,
) -> Solution:
    """Find out whether a position can be won by a player who sees every card.

    An answer is a proof: the moves of a win have been played on a copy of the game, and a loss
    rests on a search that left nothing out (docs/explanation/solver.md). The same positions and
    memory give the same answer, unless time runs out first.

    Args:
        game: a position of any rule set; it is not changed.
        max_positions: maximum number of positions to make. None: no limit.
        seconds: limit of wall time, exceeded by some tenths of a second at most; loading compiled
            code does not count. None: no limit, or 60 if `max_positions` is None too.
        memory: maximum number of bytes that a search may take; most take some MiB.
        width: run one beam of this width and no other search, which takes milliseconds.
            None: continue until there is an answer or a limit is reached.

    Raises:
        ValueError: for a limit that is not positive.
        TypeError: if `game` is not a `Game`, or a limit is not a number.
    """
    check_game(game)
    check_limits(seconds, max_positions=max_positions, memory=memory, width=width)
    if max_positions is None and seconds is None:
        seconds = DEFAULT_SECONDS
    _warm_up()
    started = time.perf_counter()
    if game.is_won:
        return Solution("won", [], 0, 0.0, "moves")
    plan = steps() if width is None else [Step("beam", width, _ARRANGEMENTS, narrow=True)]
    status, moves, positions, step = _run(
        Root(game.record[0], game.rules, memory),
        plan,
        math.inf if max_positions is None else max_positions,
        math.inf if seconds is None else started + seconds,
    )
    replay = game.copy()
    for move in moves:
        replay.play(move)
    if status == WON and not replay.is_won:
        raise AssertionError(f"moves that do not win {game!r}: {moves}")
    taken = time.perf_counter() - started
    if step is None:
        return Solution(_STATUS_NAMES[status], moves, positions, taken)
    certificate = "moves" if status == WON else step.method
    return Solution(_STATUS_NAMES[status], moves, positions, taken, certificate, step.name)


def solve_all(games: Sequence[Game], seconds: float) -> list[Solution]:
    """Solve many positions at once, such as those that a training run wants labels for.

    The compiled searches release the GIL, so threads share the work, one for each core. Each
    search may take a quarter of the memory of `solve`.

    Args:
        games: positions, of one rule set or of several.
        seconds: time limit of each.

    Returns:
        What `solve` answers, in the order of the games.
    """
    _warm_up()  # once, and not in each thread
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda game: solve(game, seconds=seconds, memory=2**28), games))


# --- shorter solutions


def _shorter(
    moves: list[Move], i: int, by_places: dict[tuple[int, int], Move]
) -> Iterator[list[Move]]:
    """Lines without move i: without it alone, or joined with the next move from its target."""
    move = moves[i]
    yield moves[:i] + moves[i + 1 :]
    for j in range(i + 1, len(moves)):
        if moves[j].source == move.target:
            between = moves[i + 1 : j]
            yield moves[:i] + between + moves[j + 1 :]
            direct = by_places.get((move.source, moves[j].target))
            if direct:
                yield [*moves[:i], direct, *between, *moves[j + 1 :]]
                yield [*moves[:i], *between, direct, *moves[j + 1 :]]
            return


def shorten(game: Game, moves: Sequence[Move]) -> list[Move]:
    """A solution without some of its unnecessary moves.

    A move is removed, alone or with the next move from its target, or the two are replaced by one
    direct move, if the remaining moves still win. This is repeated until it finds nothing more.
    """
    by_places = {(move.source, move.target): move for move in all_moves(game.rules)}
    best = list(moves)
    found = True
    while found:
        found = False
        i = 0
        while i < len(best):
            for line in _shorter(best, i, by_places):
                reached = game.record.copy()
                played, _ = play_through(reached, game.rules, [move.number for move in line])
                if played == len(line) and reached["cards_up"][0] == game.rules.cards:
                    best = line
                    found = True
                    break
            else:
                i += 1
    return best
