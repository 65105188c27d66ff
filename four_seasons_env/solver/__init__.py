"""The perfect-information solver: what can be won by a player who sees every card?

- `search`: `solve`, which has the beams and the proof work side by side.
- `beam`: the search for wins, on GAME records and with the engine's own moves; complete where it
  left nothing out.
- `proof`: the search for losses, in the easier game of `relaxation`.
- `reasons`: `why_lost`, which tells the few moments that a loss comes from.
- `shorten`: a pass that makes solutions shorter.

docs/solver.md explains why its answers are proofs. No other part of the package imports the
solver, so only those who use it wait for its compilation (half a minute, once).
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
