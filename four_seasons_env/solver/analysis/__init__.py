"""Analysis of one position: its score, its safe moves, and proofs that it is lost.

- `frame`: what they look up for one game.
- `relaxation`: the relaxed game, whose losses are losses.
- `features`: the score of a position.
- `safe_moves`: cards that can go up at once without regret.
"""
