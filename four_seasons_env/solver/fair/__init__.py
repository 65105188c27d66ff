"""Fair values: how likely a game is won by the best play of one who sees only what may be seen.

- `value`: `fair_value`, its answer and its budget.
- `expectimax`: the search over decisions and the cards that may be turned.
- `information`: what can be done before the next hidden card is turned.
- `open_cards`: the end of the search, where no more than one card is hidden, and the upper bound.
- `keys`: what a player knows as a hash, the same whatever piles and suits are called.
- `arrays`: what they read and write.
"""

from __future__ import annotations

from four_seasons_env.solver.fair.value import Decision, FairValue, Known, fair_value

__all__ = ["Decision", "FairValue", "Known", "fair_value"]
