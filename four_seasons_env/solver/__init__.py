"""The solver: can a position be won with all cards known, and how likely is a win without that?

- `search`: `solve`, which alternates between the searches for wins and those for losses.
- `beam`, `relaxed_beam`, `nodes`, `exchange_search`: searches for wins. A search that left nothing
  out and has not won proves a loss.
- `proof`, `sat`, `exhaust`: proofs of loss, in the easier game of `relaxation` or the game itself.
- `reasons`: `why_lost`, the few moments that decide a loss.
- `shorten`: a pass that makes solutions shorter.
- `fair`: `fair_value`, the chance to win by the best play without seeing hidden cards.

docs/explanation/solver.md explains why the answers are proofs. The environments do not import the
solver, so only its users wait for its compilation (half a minute, once).
"""

from __future__ import annotations

from four_seasons_env.solver.fair import Decision, FairValue, Known, fair_value
from four_seasons_env.solver.reasons import Reason, why_lost
from four_seasons_env.solver.search import Solution, solve
from four_seasons_env.solver.shorten import shorten

__all__ = [
    "Decision",
    "FairValue",
    "Known",
    "Reason",
    "Solution",
    "fair_value",
    "shorten",
    "solve",
    "why_lost",
]
