"""`solve`: beams that widen, and between them a search for a proof of loss."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from four_seasons_env.game import Game
from four_seasons_env.moves import Move
from four_seasons_env.solver.beam import WON, Beam, OutOfMemory
from four_seasons_env.solver.frame import make_frame
from four_seasons_env.solver.outlook import WEIGHTS
from four_seasons_env.solver.proof import LOST, SEARCHING, Proof

DEFAULT_SECONDS = 60.0
_SLICE = 20_000  # positions played on from in one call, about 0.03 s
_FIRST_WIDTH = 100
_WIDER = 4
_ARRANGEMENTS = 8
_JITTER = 0.15  # of the weights, after the first beam


@dataclass(frozen=True)
class Solution:
    """What `solve` has found out."""

    status: str
    """`won` (the moves win), `lost` (nobody can win from here) or `unknown`."""
    moves: list[Move]
    """Moves that win, to be played one after the other; none unless won."""
    positions: int
    """Positions looked at."""
    seconds: float
    """Time taken."""


class _OutOfBudget(Exception):
    pass


class _Solver:
    def __init__(self, game: Game, max_positions: int | None, seconds: float | None, seed: int, memory: int):
        self.game = game
        self.record = game.record[0]
        self.frames = make_frame(self.record, game.rules)
        self.started = time.perf_counter()
        self.deadline = self.started + seconds if seconds is not None else np.inf
        self.most = max_positions if max_positions is not None else np.inf
        self.rng = np.random.default_rng(seed)
        self.memory = memory
        self.positions = 0

    def _spend(self, positions: int) -> None:
        self.positions += positions
        if self.positions >= self.most or time.perf_counter() >= self.deadline:
            raise _OutOfBudget

    def run(self) -> tuple[str, list[Move]]:
        proof = Proof(self.record, self.game.rules, self.frames, self.memory // 4)
        width, arrangements, weights = _FIRST_WIDTH, _ARRANGEMENTS, WEIGHTS
        while True:
            before = self.positions
            beam = Beam(
                self.record, self.game.rules, self.frames, width, arrangements, weights,
                3 * self.memory // 4,
            )  # fmt: skip
            try:
                ended = self._run_beam(beam)
            except OutOfMemory:
                return "unknown", []
            if ended == WON:
                return "won", beam.line(self.game.rules)
            if not beam.state["left_out"][0]:
                return "lost", []
            if self._prove(proof, (self.positions - before) // 2):
                return "lost", []
            width *= _WIDER
            arrangements *= 2
            weights = WEIGHTS * (1 + _JITTER * self.rng.standard_normal(len(WEIGHTS)))

    def _run_beam(self, beam: Beam) -> int | None:
        made = 0
        while True:
            status = beam.go_on(_SLICE)
            now = int(beam.state["positions"][0])
            if status != SEARCHING:
                self.positions += now - made
                return status
            self._spend(now - made)
            made = now

    def _prove(self, proof: Proof, positions: int) -> bool:
        if not proof.is_possible:
            return False
        while positions > 0 and proof.proofs["status"][0] == SEARCHING:
            seen = int(proof.proofs["seen"][0])
            if proof.go_on(min(_SLICE, positions)) == LOST:
                return True
            positions -= _SLICE
            self._spend(int(proof.proofs["seen"][0]) - seen)
        return False


def solve(
    game: Game,
    max_positions: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    memory: int = 2**30,
) -> Solution:
    """Find out whether a position can be won by a player who sees every card."""
    if max_positions is None and seconds is None:
        seconds = DEFAULT_SECONDS
    solver = _Solver(game, max_positions, seconds, seed, memory)
    if game.is_won:
        status, moves = "won", []
    else:
        try:
            status, moves = solver.run()
        except _OutOfBudget:
            status, moves = "unknown", []
    replay = game.copy()
    for move in moves:
        replay.play(move)
    if status == "won" and not replay.is_won:
        raise AssertionError("the moves found do not win")
    return Solution(status, moves, solver.positions, time.perf_counter() - solver.started)
