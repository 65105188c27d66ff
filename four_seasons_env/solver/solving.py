"""`solve`: one search after another, in the order of a schedule, until one has an answer.

solve -> _run -> the steps of `schedule` -> `Beam` or `FormulaSearch`, slice by slice
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from four_seasons_env.arguments import check_limits
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.moves import WASTE, Move
from four_seasons_env.engine.threads import cores
from four_seasons_env.game import Game, check_game
from four_seasons_env.rules import RULES
from four_seasons_env.solver.analysis.root import LOST, SEARCHING, UNDECIDED, UNLIMITED, WON, Root
from four_seasons_env.solver.beam import Beam, expand
from four_seasons_env.solver.sat import FormulaSearch
from four_seasons_env.solver.schedule import Step, steps

DEFAULT_SECONDS = 60.0
_STATUS_NAMES = {WON: "won", LOST: "lost", UNDECIDED: "unknown"}
_ARRANGEMENTS = 32  # of a single beam


@dataclass(frozen=True)
class Solution:
    """The answer of `solve`.

    >>> solution = solve(Game("florentine", deal=2**32), seconds=10)
    >>> len(solution.moves) > 0, solution.certificate
    (True, 'moves')
    """

    status: str
    """`won` (the moves win), `lost` (nobody can win from here) or `unknown` (out of budget)."""
    moves: list[Move]
    """Moves that win, in order; empty unless won."""
    positions: int
    """Positions examined."""
    seconds: float
    """Time taken."""
    certificate: str = ""
    """The evidence: `moves` that win, or the method that proved the loss: a `beam` that pruned
    nothing, or the `formula` of the relaxed game, which cannot be satisfied. Empty for an unknown
    answer."""
    step: str = ""
    """The step of the schedule that decided, such as `beam, width 100`; empty if none did."""


Method = Beam | FormulaSearch
"""One search from one position, as a row of the schedule describes it.

``advance(positions)`` searches for some hundredths of a second and examines at most a number of
positions. It returns SEARCHING, WON, LOST or UNDECIDED; after any but the first the search is over.
"""


@functools.cache
def _warm_up() -> None:
    """Compile the searches, or load them from the disk, before any clock runs."""
    announce(expand)
    small = Game(RULES["four-seasons"].replace(ranks=4, piles=1), deal=0)  # soon decided
    root = Root(small.record[0], small.rules, 2**28)
    for search in Beam(root, 2), Beam(root, None):
        while search.advance() == SEARCHING:
            pass


def _new_search(step: Step, root: Root) -> Method:
    if step.method == "formula":
        return FormulaSearch(root)
    return Beam(root, step.width, step.arrangements, step.weights())


def _run(
    root: Root, plan: Iterable[Step], max_positions: int, deadline: float
) -> tuple[int, list[Move], int, Step | None]:
    """Run the searches of a plan until one has an answer, or a limit is reached.

    Args:
        root: the position.
        plan: steps of the schedule.
        max_positions: limit of positions, of all searches together.
        deadline: limit of time, as `time.perf_counter` counts it.

    Returns:
        The status, the moves that win, the positions examined, and the step that decided or None.
    """
    positions, record = 0, root.record
    cards = int(record["deck_size"]) - int(record["dealt"]) + int(record["height"][WASTE])
    for step in plan:
        if cards > step.max_cards:
            continue
        search, status = _new_search(step, root), SEARCHING
        # Slice by slice, until the search is over or the step's budget is spent.
        while status == SEARCHING and search.positions < (step.positions or UNLIMITED):
            left = max_positions - positions
            if left <= 0 or time.perf_counter() >= deadline:
                return UNDECIDED, [], positions, None
            before = search.positions
            status = search.advance(left)
            positions += search.positions - before
        # Both answers are proofs; an undecided search leaves the question to the next step.
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
    rests on a search that pruned nothing or on a formula (docs/explanation/solver.md). The same
    positions and memory give the same answer, unless time runs out first.

    >>> solution = solve(Game(deal=17), seconds=10)
    >>> solution.status, str(solution.moves[0])
    ('won', 'T3>T0')

    Args:
        game: a position of any rule set; it is not changed.
        max_positions: maximum number of positions to examine. None: no limit.
        seconds: limit of wall time, exceeded by some tenths of a second at most; loading compiled
            code does not count. None: no limit, or 60 if `max_positions` is None too.
        memory: maximum number of bytes that a search may take; most take some MiB.
        width: run one beam of this width and no other search, which takes milliseconds.
            None: continue until there is an answer or a limit is reached.

    Raises:
        ValueError: for a limit that is not positive.
        TypeError: if `game` is not a `Game`, or a limit is not a number.

    See Also:
        `fair_value`: the chance to win of the best player who does not see the hidden cards.
        `solve_all`: many positions, on all processors.
    """
    # 1. Arguments, and code that is compiled before the clock starts.
    check_game(game)
    check_limits(seconds, max_positions=max_positions, memory=memory, width=width)
    if max_positions is None and seconds is None:
        seconds = DEFAULT_SECONDS
    _warm_up()
    started = time.perf_counter()
    if game.is_won:
        return Solution("won", [], 0, 0.0, "moves")
    # 2. The searches.
    plan = steps() if width is None else [Step("beam", width, _ARRANGEMENTS, narrow=True)]
    status, moves, positions, step = _run(
        Root(game.record[0], game.rules, memory),
        plan,
        min(int(max_positions or UNLIMITED), UNLIMITED),
        math.inf if seconds is None else started + seconds,
    )
    # 3. The proof of a win: `Game` rejects illegal moves.
    replay = game.copy()
    for move in moves:
        replay.play(move)
    if status == WON and not replay.is_won:
        raise AssertionError(f"moves that do not win {game!r}: {moves}")
    solution = Solution(_STATUS_NAMES[status], moves, positions, time.perf_counter() - started)
    if step is None:
        return solution
    return replace(solution, certificate="moves" if status == WON else step.method, step=step.name)


def solve_all(games: Sequence[Game], seconds: float) -> list[Solution]:
    """Solve many positions at once, for example to label the positions of a training run.

    The compiled searches release the GIL, so threads share the work, one for each core. Each
    search may take a quarter of the memory of `solve`.

    Args:
        games: positions, of one rule set or of several.
        seconds: time limit of each.

    Returns:
        What `solve` answers, in the order of the games.

    Examples:
        >>> games = [Game("florentine", deal) for deal in range(2**32, 2**32 + 2)]
        >>> [solution.status for solution in solve_all(games, seconds=10)]
        ['won', 'won']
    """
    _warm_up()  # once, and not in each thread
    with ThreadPoolExecutor(cores()) as pool:
        return list(pool.map(lambda game: solve(game, seconds=seconds, memory=2**28), games))
