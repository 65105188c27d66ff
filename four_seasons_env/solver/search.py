"""`solve`: one beam search after another, alternating with searches for a proof of loss."""

from __future__ import annotations

import functools
import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import whole_number
from four_seasons_env.engine.deals import check_seed
from four_seasons_env.engine.jit import announce
from four_seasons_env.engine.moves import Move
from four_seasons_env.game import Game
from four_seasons_env.rules import RULES
from four_seasons_env.solver import beam as beams
from four_seasons_env.solver import components, exhaust, nodes, relaxed_beam, sat
from four_seasons_env.solver import proof as proofs
from four_seasons_env.solver.exchange_search import ExchangeSearch
from four_seasons_env.solver.features import WEIGHTS
from four_seasons_env.solver.frame import make_frame
from four_seasons_env.solver.node_values import make_puzzle
from four_seasons_env.solver.oracle import Oracle

DEFAULT_SECONDS = 60.0
_SLICE = 5_000  # positions played on from in one call: 0.02 s with five piles, 0.2 s with twelve

_FIRST = ((100, 8), (400, 8), (800, 16))  # widths and arrangements of the first beams
_ARRANGEMENTS = 32  # of a single beam
_SPREADS = (0.1, 0.2, 0.4)  # standard deviation of each weight's factor in the others
_MORE = (1, 2, 4, 8)  # how many times the arrangements of the first beams, for their width
_BYTES = 20_000  # that a beam may take for each position of its width, while arrays double
_CONFLICTS = 1_000  # of the formula in one call: some tenths of a second
_MOST_CONFLICTS = 30_000  # of the formula; deals that it proves lost take 6,000 at most
_FORMULA_MEMORY = 2**26  # bytes that a formula takes
_QUICK = 7  # beams before the formula and the first relaxed beam: half a second's work
_RELAXED_EVERY = 4  # beams for each relaxed beam or search by nodes
_RELAXED_FIRST = 2  # relaxed beams, before they become rare:
_RELAXED_RARELY = 4  # searches by nodes for each
_RELAXED_WIDTHS = (15_000, 40_000, 5_000)
_RELAXED_DISCOUNTS = 3  # of these, for relaxed beams; searches by nodes use all
_DISCOUNTS = ((0.3, 0.7, 1.0), (0.1, 0.5, 0.8, 1.0), (0.7, 0.9, 1.0), (0.05, 0.3, 0.6, 0.8, 1.0))
_LONG = 1_000_000  # positions that must be left for such beams, and for searches by nodes
_NODES_AT_ONCE = 2  # searches by nodes of some width
_NODES = (
    (400, False), (100, True), (200, True), (400, True),
    (200, False), (100, True), (200, True), (800, True),
)  # fmt: skip
# their widths, in turn, and whether they begin with exchanges
_SPELL, _LONGER_SPELLS = 1_000, 2  # steps of the first search with exchanges; times as many later
_PROOF_SHARE = 8  # positions of beams for each position of the proof
_EXHAUST_FROM = 8  # beams that have not won before the whole game is searched beside them
_EXHAUST_SHARE = 4  # positions of beams for each position of that search
_UNKNOWN: tuple[str, list[Move], str] = ("unknown", [], "")


@dataclass(frozen=True)
class Solution:
    """The answer of `solve`."""

    status: str
    """`won` (the moves win), `lost` (nobody can win from here) or `unknown` (out of budget)."""
    moves: list[Move]
    """Moves that win, one after the other; empty unless won."""
    positions: int
    """Positions looked at."""
    seconds: float
    """Time taken."""
    certificate: str = ""
    """The evidence: `moves` that win; a `beam` that left nothing out; a complete search of the
    `relaxed game`; its `formula`, which cannot be satisfied; a complete search of its `nodes`, in
    the game itself or in the easier one with `exchanges`; a complete search of the `whole game`.
    Empty for an unknown answer."""


class _OutOfBudget(Exception):
    """Time or positions have run out."""


class _Solver:
    """One call of `solve`: its searches and what is left of its budget."""

    def __init__(
        self, game: Game, max_positions: float, seconds: float, seed: int, memory: int
    ) -> None:
        self._game = game
        self._frames = make_frame(game.record[0], game.rules)
        self._max_positions = max_positions
        self._deadline = time.perf_counter() + seconds
        self._rng = np.random.default_rng(seed)
        self._relaxed_rng = np.random.default_rng((seed, 1))
        self._nodes_rng = np.random.default_rng((seed, 2))
        self._oracle: Oracle | None = None
        self._exchanges: ExchangeSearch | None = None
        self._spell = _SPELL  # steps of the next spell of it; 0: it has ended
        self._memory = memory
        self.positions = 0

    def _left(self) -> int:
        """Positions that may still be looked at."""
        left = self._max_positions - self.positions
        if left <= 0 or time.perf_counter() >= self._deadline:
            raise _OutOfBudget
        return int(min(left, 2**62))

    def run_one(self, width: int) -> tuple[str, list[Move], str]:
        """As `run`, with one beam of this width and no other search."""
        record, rules = self._game.record[0], self._game.rules
        beam = beams.Beam(record, rules, self._frames, width, _ARRANGEMENTS, WEIGHTS, self._memory)
        if self._run_beam(beam) == beams.WON:
            return "won", beam.moves(), "moves"
        return ("lost", [], "beam") if beam.is_complete else _UNKNOWN

    def run(self) -> tuple[str, list[Move], str]:
        """The status, the moves and the evidence.

        Raises:
            _OutOfBudget: if there is no answer in time.
        """
        game = self._game
        record = game.record[0]
        proof = proofs.Proof(record, game.rules, self._frames, self._memory // 4)
        whole = exhaust.Exhaustive(record, game.rules, self._frames, self._memory // 8)
        number = searches = 0
        is_relaxed_win = False  # then the relaxed game proves nothing
        while True:
            before = self.positions
            width, arrangements, weights = self._beam_settings(number)
            parts = record, game.rules, self._frames, width, arrangements, weights
            beam = beams.Beam(*parts, 5 * self._memory // 8)
            ended = self._run_beam(beam, is_wide=width > _FIRST[-1][0])
            if ended == beams.WON:
                return "won", beam.moves(), "moves"
            made = self.positions - before
            if ended == beams.OVER and beam.is_complete:
                return "lost", [], "beam"
            if not is_relaxed_win and self._proves(proof, proofs, made // _PROOF_SHARE):
                return "lost", [], "relaxed game"
            number += 1
            if number == _QUICK and self._memory >= 4 * _FORMULA_MEMORY:
                found = self._formula()
                if found == sat.LOST:
                    return "lost", [], "formula"
                is_relaxed_win = found == sat.SATISFIABLE
            if number >= _QUICK and (number - _QUICK) % _RELAXED_EVERY == 0:
                turn = (number - _QUICK) // _RELAXED_EVERY
                if turn < _RELAXED_FIRST or turn % _RELAXED_RARELY == 0:
                    moves = self._run_relaxed_beam(turn)
                    if moves:
                        return "won", moves, "moves"
                for _ in range(_NODES_AT_ONCE if turn else 0):
                    searches += 1
                    answer = self._search_nodes(searches)
                    if answer != _UNKNOWN:
                        return answer
                answer = self._search_exchanges() if turn else _UNKNOWN
                if answer != _UNKNOWN:
                    return answer
            if number > _EXHAUST_FROM and self._proves(whole, exhaust, made // _EXHAUST_SHARE):
                return "lost", [], "whole game"

    def _run_relaxed_beam(self, number: int) -> list[Move]:
        """The moves that win, if a relaxed beam finds them."""
        if self._memory < relaxed_beam.MEMORY or self._left() < _LONG:
            return []
        spread = _SPREADS[number % len(_SPREADS)] if number else 0.0
        beam = relaxed_beam.RelaxedBeam(
            self._game.record[0],
            self._game.rules,
            self._frames,
            _RELAXED_WIDTHS[number % len(_RELAXED_WIDTHS)],
            WEIGHTS * (1 + spread * self._relaxed_rng.standard_normal(len(WEIGHTS))),
            _DISCOUNTS[int(self._relaxed_rng.integers(_RELAXED_DISCOUNTS))],
        )
        status = beams.SEARCHING if beam.is_possible else beams.OVER
        while status == beams.SEARCHING:
            before = beam.positions
            status = beam.go_on(self._left())
            self.positions += beam.positions - before
        return beam.moves() if status == beams.WON else []

    def _search_nodes(self, number: int) -> tuple[str, list[Move], str]:
        """What a search by nodes finds, as `run`.

        Their weights differ as those of the beams do: which nodes are chosen depends much on luck.

        Args:
            number: of the search, from 1 on.
        """
        again, turn = divmod(number - 1, len(_NODES))
        spread = _SPREADS[turn % len(_SPREADS)] if number > len(_DISCOUNTS) else 0.0
        weights = WEIGHTS * (1 + spread * self._nodes_rng.standard_normal(len(WEIGHTS)))
        discounts = _DISCOUNTS[(turn + again) % len(_DISCOUNTS)]
        root = self._root(weights, discounts)
        if root is None or self._is_too_small():
            return _UNKNOWN
        width, with_exchanges = _NODES[turn]
        search = (ExchangeSearch if with_exchanges else nodes.NodeSearch)(root, width)
        status = beams.SEARCHING
        while status == beams.SEARCHING:
            before = search.positions
            status = search.go_on(self._left())
            self.positions += search.positions - before
        if status == beams.WON:
            return "won", search.moves(), "moves"
        kind = "exchanges" if with_exchanges else "nodes"
        return ("lost", [], kind) if search.is_complete else _UNKNOWN

    def _root(
        self,
        weights: NDArray[np.float64] = WEIGHTS,
        discounts: tuple[float, ...] = _DISCOUNTS[0],
    ) -> nodes.Root | None:
        """What searches by nodes start from; None where there are none (`make_puzzle`)."""
        record, rules, frames = self._game.record[0], self._game.rules, self._frames
        puzzle = make_puzzle(record, rules, frames, weights, discounts)
        if puzzle is None:
            return None
        self._oracle = self._oracle or Oracle(puzzle, rules, frames)
        return nodes.Root(record, rules, frames, puzzle, self._oracle)

    def _is_too_small(self) -> bool:
        """Whether what is left is too little for a search by nodes."""
        return self._memory < components.BYTES or self._left() < _LONG

    def _search_exchanges(self) -> tuple[str, list[Move], str]:
        """What a spell of the search with exchanges that leaves nothing out finds, as `run`.

        A spell is twice as long as the one before it. It starts again, but knows the oracle's
        answers, and the other searches do not wait for long.
        """
        if self._is_too_small():
            return _UNKNOWN
        if self._exchanges is None:
            root = self._root()
            if root is None:
                return _UNKNOWN
            self._exchanges = ExchangeSearch(root, None)
        search = self._exchanges
        for _ in range(self._spell):
            before = search.positions
            status = search.go_on(self._left(), 5 * self._memory // 8)
            self.positions += search.positions - before
            if status == beams.WON:
                return "won", search.moves(), "moves"
            if status == beams.OVER:
                self._spell = 0  # if it had no room, nor will the next have
                if search.is_complete:
                    return "lost", [], "exchanges"
                break
        search.end_spell()
        self._spell *= _LONGER_SPELLS
        return _UNKNOWN

    def _formula(self) -> int:
        """What the formula of the relaxed game says; it makes no positions."""
        formula = sat.FormulaProof(self._game.record[0], self._game.rules, self._frames)
        while formula.status == sat.SEARCHING and formula.conflicts < _MOST_CONFLICTS:
            self._left()
            formula.go_on(_CONFLICTS)
        return formula.status

    def _beam_settings(self, number: int) -> tuple[int, int, NDArray[np.float64]]:
        """Width, arrangements and weights of a beam.

        The time until a deal is won is heavy-tailed, and weights that fail on one deal win another.
        A deal that three beams have not won is won sooner by new beams with other weights than by
        ever wider ones. So most are narrow, one in 4 is 4 times as wide, one in 16 is 16 times as
        wide, and so on.
        """
        if number < len(_FIRST):
            return *_FIRST[number], WEIGHTS
        width, arrangements = _FIRST[-1]
        turn = number - len(_FIRST) + 1
        while turn % 4 == 0 and 4 * width * _BYTES < self._memory:
            turn //= 4
            width, arrangements = 4 * width, 4 * arrangements
        spread = self._rng.choice(_SPREADS)
        factors = 1 + spread * self._rng.standard_normal(len(WEIGHTS))
        return width, arrangements * int(self._rng.choice(_MORE)), WEIGHTS * factors

    def _run_beam(self, beam: beams.Beam, is_wide: bool = False) -> int:
        """Run a beam to its end and return how it ended: NO_ROOM for a wide one without memory."""
        while True:
            before = beam.positions
            try:
                status = beam.go_on(_SLICE, self._left())
            except beams.OutOfMemory:
                if not is_wide:
                    raise
                status = beams.NO_ROOM
            self.positions += beam.positions - before
            if status != beams.SEARCHING:
                return status

    def _proves(self, search: proofs.Proof | exhaust.Exhaustive, of: Any, positions: int) -> bool:
        """Continue a search for this many positions; returns whether it has proved a loss.

        Args:
            of: the module of the search, which names how it may end.
        """
        while positions > 0 and search.status == of.SEARCHING:
            before = search.positions
            search.go_on(min(_SLICE, positions, self._left()))
            self.positions += search.positions - before
            positions -= _SLICE
        return bool(search.status == of.LOST)


@functools.cache
def _warm_up() -> None:
    """Compile the searches, or load them from the disk, before any clock runs."""
    announce(beams.expand)
    game = Game("four-seasons", deal=0)
    frames = make_frame(game.record[0], game.rules)
    beam = beams.Beam(game.record[0], game.rules, frames, 1, 1, WEIGHTS, 2**20)
    beam.go_on(1, 1)
    beam.grow_tables()
    proof = proofs.Proof(game.record[0], game.rules, frames, 2**20)
    proof.go_on(1)
    proof.grow_table()
    whole = exhaust.Exhaustive(game.record[0], game.rules, frames, 2**20)
    whole.go_on(1)
    whole.grow()
    small = Game(RULES["four-seasons"].replace(ranks=4, piles=1), deal=0)  # soon decided
    frames = make_frame(small.record[0], small.rules)
    relaxed_beam.RelaxedBeam(small.record[0], small.rules, frames, 1).go_on(1)
    puzzle = make_puzzle(small.record[0], small.rules, frames)
    assert puzzle is not None  # no card comes back
    oracle = Oracle(puzzle, small.rules, frames)
    root = nodes.Root(small.record[0], small.rules, frames, puzzle, oracle)
    search = nodes.NodeSearch(root, 1)
    while search.go_on(1_000) == beams.SEARCHING:
        pass


def solve(
    game: Game,
    max_positions: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    memory: int = 2**30,
    width: int | None = None,
) -> Solution:
    """Find out whether a position can be won by a player who sees every card.

    An answer is a proof: the moves of a win have been played on a copy of the game, and a loss
    rests on a search that left nothing out (docs/explanation/solver.md). The same seed, positions
    and memory give the same answer, unless time runs out first.

    Args:
        game: a position of any rule set; it is not changed.
        max_positions: positions to make, at most. None: no limit.
        seconds: time limit, exceeded by some hundredths of a second at most; loading the compiled
            code does not count. None: no limit, or 60 if `max_positions` is None too.
        seed: of the random choices of the searches.
        memory: bytes that the searches may take, at most; they start with some MiB.
        width: run one beam of this width and no other search, which takes milliseconds.
            None: continue until there is an answer or a limit is reached.

    Raises:
        ValueError: for a limit that is not positive, or a negative seed.
        TypeError: if `game` is not a `Game`, or a limit is not a number.
    """
    if not isinstance(game, Game):
        raise TypeError(f"solve takes a Game, such as Game('four-seasons', deal=17), not {game!r}")
    check_seed(seed)
    for name, limit in (("max_positions", max_positions), ("memory", memory), ("width", width)):
        if limit is not None and whole_number(name, limit) < 1:
            raise ValueError(f"{name} must be more than 0, not {limit!r}")
    if seconds is not None:
        if isinstance(seconds, bool) or not isinstance(seconds, (int, float, np.number)):
            raise TypeError(f"seconds is a number, not {seconds!r}")
        if not seconds > 0:
            raise ValueError(f"seconds must be more than 0, not {seconds!r}")
    if max_positions is None and seconds is None:
        seconds = DEFAULT_SECONDS
    _warm_up()
    started = time.perf_counter()
    solver = _Solver(
        game,
        math.inf if max_positions is None else max_positions,
        math.inf if seconds is None else seconds,
        seed,
        memory,
    )
    status, moves, certificate = "won", list[Move](), "moves"
    if not game.is_won:
        try:
            status, moves, certificate = solver.run() if width is None else solver.run_one(width)
        except (_OutOfBudget, beams.OutOfMemory):
            status, certificate = "unknown", ""
    replay = game.copy()
    for move in moves:
        replay.play(move)
    if status == "won" and not replay.is_won:
        raise AssertionError(f"moves that do not win {game!r}: {moves}")
    seconds_taken = time.perf_counter() - started
    return Solution(status, moves, solver.positions, seconds_taken, certificate)
