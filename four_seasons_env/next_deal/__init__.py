"""`FourSeasonsNextDeal-v0`: the game as a choice among positions, one for each card of the stock.

Between two cards of the stock nothing is hidden, so a player decides in which position the next
card is turned. Here that position is the action. `four_seasons_env.positions` finds the positions
and describes them, `stepping` plays episodes, and `env` and `vector` are the environments.
"""

from four_seasons_env.next_deal.env import FourSeasonsNextDealEnv
from four_seasons_env.next_deal.vector import FourSeasonsNextDealVectorEnv

__all__ = ["FourSeasonsNextDealEnv", "FourSeasonsNextDealVectorEnv"]
