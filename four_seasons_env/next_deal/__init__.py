"""`FourSeasonsNextDeal-v0`: the game as a choice among positions, one for each card of the stock.

Between two cards of the stock nothing is hidden, so a player decides in which position the next
card is turned. Here that position is the action. `four_seasons_env.positions` finds the positions
and describes them, `stepping` plays episodes, and `next_deal_env` has the environments.
"""

from four_seasons_env.next_deal.next_deal_env import (
    FourSeasonsNextDealEnv,
    FourSeasonsNextDealVectorEnv,
)

__all__ = ["FourSeasonsNextDealEnv", "FourSeasonsNextDealVectorEnv"]
