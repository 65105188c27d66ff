"""`FourSeasonsNextDeal-v0`: the game as a choice among positions, one per card of the stock."""

from four_seasons_env.next_deal.next_deal_env import (
    FourSeasonsNextDealEnv,
    FourSeasonsNextDealVectorEnv,
)

__all__ = ["FourSeasonsNextDealEnv", "FourSeasonsNextDealVectorEnv"]
