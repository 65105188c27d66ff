"""Fair values: the chance to win by the best play that sees only public information.

- `value`: `fair_value`, its answer and its budget.
- `expectimax`: the search over decisions and the cards that may be turned.
- `information`: the decisions before the next hidden card is turned.
- `open_cards`: the end of the search, with at most one card hidden, and the upper bound.
- `keys`: a hash of what a player knows, the same under other names of piles and suits.
- `relaxed_search`: a search that proves losses of open cards, in the relaxed game.
- `arrays`: the arrays that they read and write.
"""

from __future__ import annotations

from four_seasons_env.solver.fair.value import Decision, FairValue, Known, fair_value

__all__ = ["Decision", "FairValue", "Known", "fair_value"]
