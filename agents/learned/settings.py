"""The hyperparameters of the algorithms of this folder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from four_seasons_env.agents.learned.next_deal_agent import SOLVER
from four_seasons_env.agents.network.evaluation import widths_of
from four_seasons_env.episodes.settings import MASKS
from four_seasons_env.next_deal.stepping import ENDINGS
from four_seasons_env.observations import OBSERVATIONS
from four_seasons_env.positions.enumeration import ORDERS
from four_seasons_env.rewards import REWARDS
from four_seasons_env.schemas import Amount, Positive, Share, one_of


@dataclass(kw_only=True)
class PpoSettings:
    """Hyperparameters of MaskablePPO for any action space; named as in Stable-Baselines3."""

    reward: Annotated[str, one_of(REWARDS)]
    max_moves: Positive
    """Longest training episode, in moves."""
    games: Positive
    """Games played in parallel."""
    n_steps: Positive
    n_epochs: Positive
    batch_size: Annotated[int, Meta(ge=2)]
    learning_rate: Amount
    """Rate at the start. It falls linearly to a twentieth, before the end of the run."""
    gamma: Share
    gae_lambda: Share
    clip_range: Amount
    ent_coef: Amount
    vf_coef: Amount
    max_grad_norm: Amount
    layers: Annotated[list[Positive], Meta(min_length=1)]
    """Units of the hidden layers."""

    def rate(self, done: float) -> float:
        """The learning rate when this share of the run is done, 0 to 1."""
        return self.learning_rate * max(1 - done, 0.05)


@dataclass(kw_only=True)
class MaskablePpoSettings(PpoSettings):
    """The hyperparameters in `maskable_ppo.yaml`."""

    observation: Annotated[str, one_of(OBSERVATIONS)]
    mask: Annotated[str, one_of(MASKS)]


@dataclass(kw_only=True)
class NextDealPpoSettings(PpoSettings):
    """The hyperparameters in `next_deal_ppo.yaml`."""

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
    play_endings: Annotated[str, one_of((*ENDINGS, SOLVER))]
    """How it plays once nothing is hidden: as in training, or by the solver."""
    value_weight: Amount
    """A player without chance decides for the most score + value_weight x value."""

    def __post_init__(self) -> None:
        """Check the number of layers.

        Raises:
            ValueError: unless there are four.
        """
        widths_of(self.layers)
