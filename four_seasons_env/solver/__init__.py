"""The perfect-information solver: what can be won by a player who sees every card?"""

from four_seasons_env.solver.search import Solution, solve

__all__ = ["Solution", "solve"]
