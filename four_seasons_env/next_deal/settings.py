"""`NextDealSettings`: the arguments of the environments whose actions are positions."""

from __future__ import annotations

from dataclasses import dataclass

from four_seasons_env.arguments import check_choice, check_positive
from four_seasons_env.episodes.settings import EnvSettings, VectorSettings
from four_seasons_env.next_deal.stepping import ENDINGS
from four_seasons_env.observations import OBSERVATIONS as VECTORS
from four_seasons_env.positions.enumeration import HELD, LARGEST_SEARCH, ORDERS

OBSERVATIONS = ("features", *VECTORS)

_LARGEST = {
    "candidates": int(HELD * LARGEST_SEARCH),
    "expansions": LARGEST_SEARCH,
    "ending_expansions": LARGEST_SEARCH,
}


@dataclass(frozen=True)
class NextDealSettings(EnvSettings):
    """The arguments of the environments whose actions are positions.

    Args:
        candidates: positions offered, at most. Four decisions in five have fewer candidates than
            the default.
        expansions: positions that the search for candidates expands, at most; it holds 2.5 times as
            many.
        endings: `"search"` (the environment plays the rest once nothing is hidden) or `"policy"`.
        ending_expansions: positions that the search for a win expands, at most.
        order: `"advice"`, a hand-made score, or `"breadth"`, the number of moves that lead to a
            position, which uses no knowledge of the game. It decides which positions are found and
            offered if there are more than the limits allow, and guides the search for a win.
        observation: `"features"`, `"tops"` or `"cards"`.
    """

    candidates: int = 32
    expansions: int = 60
    endings: str = "search"
    ending_expansions: int = 400
    order: str = "advice"
    observation: str = "features"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, largest in _LARGEST.items():
            if (value := check_positive(name, getattr(self, name))) > largest:
                raise ValueError(f"{name} must be at most {largest:,}, not {value:,}")
        check_choice("endings", self.endings, ENDINGS)
        check_choice("order", self.order, ORDERS)
        check_choice("observation", self.observation, OBSERVATIONS)


@dataclass(frozen=True)
class NextDealVectorSettings(NextDealSettings, VectorSettings):
    """The arguments of `FourSeasonsNextDealVectorEnv`."""

    def __post_init__(self) -> None:
        NextDealSettings.__post_init__(self)
        VectorSettings.__post_init__(self)
