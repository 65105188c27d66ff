"""`next_deal_ppo`: sb3-contrib's MaskablePPO on the environment whose actions are positions.

The algorithm is unmodified. This project adds the environment (`four_seasons_env.next_deal`) and
the policy class (`four_seasons_env.agents.learned.candidates`). Hyperparameters are those of
`next_deal_ppo.yaml`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from four_seasons_env.agents.learned.candidates.encoders import ENCODERS
from four_seasons_env.agents.learned.maskable_ppo import PpoSettings, algorithm_arguments
from four_seasons_env.agents.schemas import Positive, Share, one_of
from four_seasons_env.next_deal.batch import OBSERVATIONS
from four_seasons_env.next_deal.enumeration import ORDERS
from four_seasons_env.next_deal.stepping import ENDINGS

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecEnv

NAME = "next_deal_ppo"


@dataclass(kw_only=True)
class Hyperparameters(PpoSettings):
    """The hyperparameters in `next_deal_ppo.yaml`."""

    observation: Annotated[str, one_of(OBSERVATIONS)]
    network: Annotated[str, one_of(ENCODERS)]
    candidates: Positive
    expansions: Positive
    order: Annotated[str, one_of(ORDERS)]
    endings: Annotated[str, one_of(ENDINGS)]
    ending_expansions: Positive
    averaging: Share
    """The policy that is validated and saved is the mean of the weights over this last share of
    the run so far; 0: the latest weights."""
    play_candidates: Positive
    play_expansions: Positive
    play_ending_expansions: Positive

    def __post_init__(self) -> None:
        """Check that the network can read the observation, and has the right number of layers.

        Raises:
            ValueError: if not.
        """
        sparse = self.observation == "features"
        if sparse != (self.network == "tables"):
            needed = "features" if self.network == "tables" else "tops or cards"
            raise ValueError(
                f"network {self.network!r} reads observation {needed}, not {self.observation!r}"
            )
        if sparse and len(self.layers) != 4:
            raise ValueError(
                f"layers of network 'tables' are four numbers (suits, piles, game, dense), not "
                f"{self.layers}"
            )


def environment_arguments(settings: Hyperparameters) -> dict[str, Any]:
    """Arguments of the environment to train on."""
    names = (
        *("candidates", "expansions", "order", "endings", "ending_expansions"),
        *("observation", "reward", "max_moves"),
    )
    return {name: getattr(settings, name) for name in names}


def playing_arguments(settings: Hyperparameters) -> dict[str, Any]:
    """Arguments of the environment in which a trained policy plays."""
    return {
        "candidates": settings.play_candidates,
        "expansions": settings.play_expansions,
        "order": settings.order,
        "endings": settings.endings,
        "ending_expansions": settings.play_ending_expansions,
    }


def make_model(
    env: VecEnv,
    settings: Hyperparameters,
    seed: int,
    learning_rate: Callable[[float], float] | None = None,
) -> MaskablePPO:
    """A MaskablePPO model; the arguments are those of
    `four_seasons_env.agents.learned.maskable_ppo.make_model`."""
    from sb3_contrib import MaskablePPO

    from four_seasons_env.agents.learned.candidates.policy import CandidatePolicy

    return MaskablePPO(
        CandidatePolicy,
        env,
        learning_rate=learning_rate or settings.falling_rate,
        **algorithm_arguments(settings),
        policy_kwargs={
            "features_extractor_class": ENCODERS[settings.network],
            "features_extractor_kwargs": {"widths": settings.layers},
        },
        device="cpu",
        seed=seed,
    )
