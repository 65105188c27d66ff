"""The solver: can a position be won with all cards known, and how likely is a win without that?

- `solving`: `solve` and `solve_all`, which make one search after another, as `schedule` says.
- `beam`: searches for wins. A search that pruned nothing and has not won proves a loss.
- `sat`: proofs of loss, in the easier game of `analysis.relaxation`.
- `analysis`: where searches start, the score of a position, and safe moves. It imports none of the
  others.
- `fair`: `fair_value`, the chance to win by the best play without seeing hidden cards. It imports
  `analysis` only.

docs/explanation/solver.md explains why the answers are proofs. The environments do not import the
solver, so only its users wait for its compilation (half a minute, once).
"""

from __future__ import annotations

from four_seasons_env.solver.fair.value import Decision, FairValue, Known, fair_value
from four_seasons_env.solver.solving import Solution, solve, solve_all

__all__ = [
    "Decision",
    "FairValue",
    "Known",
    "Solution",
    "fair_value",
    "solve",
    "solve_all",
]
