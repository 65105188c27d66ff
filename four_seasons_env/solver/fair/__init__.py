"""Fair values: the chance to win by the best play that sees only public information.

- `value`: `fair_value`, its answer and its budget.
- `expectimax`: the recursion over decisions and the cards that may be turned.
- `arrays`: its buffers and its transposition table, which grow.
- `keys`: a hash of what a player knows, the same under other names of piles and suits.
"""
