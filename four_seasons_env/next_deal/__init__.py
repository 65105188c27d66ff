"""`FourSeasonsNextDeal-v0`: the game as a choice among positions, one for each card of the stock.

Between two cards of the stock nothing is hidden: what a player decides is the position in which the
next card is turned. Here that is the action. `reach` finds what can be reached, `enumeration` says
in which order, `features` what is seen of a position, `stepping` plays episodes, and `env` and
`vector` are the environments.
"""

from four_seasons_env.next_deal.env import FourSeasonsNextDealEnv
from four_seasons_env.next_deal.vector import FourSeasonsNextDealVectorEnv

__all__ = ["FourSeasonsNextDealEnv", "FourSeasonsNextDealVectorEnv"]
