"""`NextDealSettings`: the arguments of the environments whose actions are positions."""

from __future__ import annotations

from dataclasses import dataclass

from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.episodes.settings import EnvSettings
from four_seasons_env.next_deal.enumeration import ORDERS
from four_seasons_env.next_deal.stepping import ENDINGS
from four_seasons_env.observations import OBSERVATIONS as VECTORS

OBSERVATIONS = ("features", *VECTORS)

CANDIDATES, EXPANSIONS, ENDING_EXPANSIONS = 32, 60, 400
"""Defaults of both environments. Four decisions in five have fewer candidates than that."""

LARGEST_SEARCH = 6500
"""Expansions at most: a larger search would not fit into its table of positions met."""


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
        check_positive("candidates", self.candidates)
        for name in ("expansions", "ending_expansions"):
            if (value := check_positive(name, getattr(self, name))) > LARGEST_SEARCH:
                raise ValueError(f"{name} must be at most {LARGEST_SEARCH:,}, not {value:,}")
        check_choice("endings", self.endings, ENDINGS)
        check_choice("order", self.order, ORDERS)
        check_choice("observation", self.observation, OBSERVATIONS)
