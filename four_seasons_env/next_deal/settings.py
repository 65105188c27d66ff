"""`NextDealSettings`: the arguments of the environments whose actions are positions."""

from __future__ import annotations

from dataclasses import dataclass

from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.episodes.settings import EnvSettings
from four_seasons_env.next_deal.enumeration import HELD, ORDERS
from four_seasons_env.next_deal.stepping import ENDINGS
from four_seasons_env.observations import OBSERVATIONS as VECTORS

OBSERVATIONS = ("features", *VECTORS)

CANDIDATES, EXPANSIONS, ENDING_EXPANSIONS = 32, 60, 400
"""Defaults of both environments. Four decisions in five have fewer candidates than that."""

LARGEST_SEARCH = 6500
"""Expansions at most: a larger search would not fit into its table of positions met."""

_LARGEST = {
    "candidates": int(HELD * LARGEST_SEARCH),
    "expansions": LARGEST_SEARCH,
    "ending_expansions": LARGEST_SEARCH,
}


@dataclass(frozen=True, kw_only=True)
class NextDealSettings(EnvSettings):
    """The arguments of `FourSeasonsNextDealEnv` and `FourSeasonsNextDealVectorEnv`."""

    candidates: int
    expansions: int
    endings: str
    ending_expansions: int
    order: str
    observation: str

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, largest in _LARGEST.items():
            if (value := check_positive(name, getattr(self, name))) > largest:
                raise ValueError(f"{name} must be at most {largest:,}, not {value:,}")
        check_choice("endings", self.endings, ENDINGS)
        check_choice("order", self.order, ORDERS)
        check_choice("observation", self.observation, OBSERVATIONS)
