"""`maskable_ppo` and `next_deal_ppo`: sb3-contrib's MaskablePPO, unmodified, as two learners.

The actions of the first are moves (`four_seasons_env.agents.learned.move_policy`). The actions of
the second are positions (`four_seasons_env.next_deal`), and one network reads each position
(`four_seasons_env.agents.learned.candidate_policy`). Hyperparameters are in the YAML files of the
same names.

Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020).
"""

from __future__ import annotations

import abc
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta
from sb3_contrib import MaskablePPO
from stable_baselines3.common.utils import ConstantSchedule

from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv, FourSeasonsVecEnv
from four_seasons_env.agents.learned.candidate_policy import CandidatePolicy, TableEncoder
from four_seasons_env.agents.learned.move_policy import MovePolicy
from four_seasons_env.agents.learned.next_deal_agent import SOLVER
from four_seasons_env.agents.learned.sb3_learner import Sb3Learner
from four_seasons_env.agents.network.evaluation import widths_of
from four_seasons_env.agents.network.rows import move_widths_of
from four_seasons_env.engine.masks import MASKS
from four_seasons_env.next_deal.stepping import ENDINGS
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
    averaging: Share
    """The policy that is validated and saved is the mean of the weights over this last share of
    the run so far; 0: the latest weights."""

    def rate(self, done: float) -> float:
        """The learning rate when this share of the run is done, 0 to 1."""
        return self.learning_rate * max(1 - done, 0.05)


@dataclass(kw_only=True)
class MaskablePpoSettings(PpoSettings):
    """The hyperparameters in `maskable_ppo.yaml`."""

    mask: Annotated[str, one_of(MASKS)]

    def __post_init__(self) -> None:
        """Check the layers; see `move_widths_of`."""
        move_widths_of(self.layers)


@dataclass(kw_only=True)
class NextDealPpoSettings(PpoSettings):
    """The hyperparameters in `next_deal_ppo.yaml`."""

    candidates: Positive
    expansions: Positive
    order: Annotated[str, one_of(ORDERS)]
    endings: Annotated[str, one_of(ENDINGS)]
    ending_expansions: Positive
    play_candidates: Positive
    play_expansions: Positive
    play_endings: Annotated[str, one_of((*ENDINGS, SOLVER))]
    """How it plays once nothing is hidden: as in training, or by the solver."""
    value_weight: Amount
    """A player without chance chooses the highest score + value_weight x value."""

    def __post_init__(self) -> None:
        """Check the layers; see `widths_of`."""
        widths_of(self.layers)


class Ppo(Sb3Learner):
    """sb3-contrib's MaskablePPO."""

    smallest = {
        "games": 2,
        "n_steps": 64,
        "batch_size": 64,
        "max_moves": 50,  # games end
        "learning_rate": 1e-9,
    }

    def new_model(self) -> Any:
        """See `Sb3Learner.new_model`."""
        env, policy, policy_arguments = self._env_and_policy()
        # The hyperparameters that MaskablePPO takes under the same names.
        named = self._chosen(
            *("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range"),
            *("ent_coef", "vf_coef", "max_grad_norm"),
        )
        model = MaskablePPO(
            policy,
            env,
            learning_rate=self.settings.learning_rate,
            **named,
            policy_kwargs=policy_arguments,
            device="cpu",
            seed=self.seed,
        )
        # The games of published runs.
        games = self.settings.games
        env.seed(range(self.seed * games, (self.seed + 1) * games))
        return model

    @abc.abstractmethod
    def _env_and_policy(self) -> tuple[FourSeasonsVecEnv, type[Any], dict[str, Any]]:
        """The games to learn from, the class of the policy, and its arguments.

        Another optimiser is an argument of the policy, `optimizer_class`, with its own
        `optimizer_kwargs`. `update` sets its learning rate.
        """

    def _chosen(self, *names: str) -> dict[str, Any]:
        """Hyperparameters by name."""
        return {name: getattr(self.settings, name) for name in names}

    def schedule(self, done: float) -> None:
        """The learning rate, by the run's limits of steps and time."""
        self.model.lr_schedule = ConstantSchedule(self.settings.rate(done))


class MoveLevelPpo(Ppo):
    """MaskablePPO whose actions are moves."""

    name = "maskable_ppo"
    schema = MaskablePpoSettings
    unit = "moves"
    log_steps = 131_072
    played_weights = {"network.": ""}

    def _env_and_policy(self) -> tuple[FourSeasonsVecEnv, type[Any], dict[str, Any]]:
        settings, arguments = self.settings, self._chosen("mask", "reward", "max_moves")
        arguments |= {"observation": "places", "num_threads": None}
        optimizer = {"betas": (0.9, 0.99), "eps": 1e-5, "fused": True}
        return (
            FourSeasonsVecEnv(settings.games, rules=self.rules, **arguments),
            MovePolicy,
            {"rules": self.rules, "layers": settings.layers, "optimizer_kwargs": optimizer},
        )

    def card_fields(self) -> dict[str, Any]:
        """See `Learner.card_fields`."""
        return {"observation": "places", "mask": self.settings.mask}

    def schedule(self, done: float) -> None:
        """The learning rate, and the weight of the entropy, which falls, too."""
        super().schedule(done)
        self.model.ent_coef = self.settings.ent_coef * max(1 - done, 0.1)


class NextDealPpo(Ppo):
    """MaskablePPO whose actions are positions."""

    name = "next_deal_ppo"
    schema = NextDealPpoSettings
    unit = "decisions"
    played_weights = {"features_extractor.network.": "", "mlp_extractor.": ""}

    def _env_and_policy(self) -> tuple[FourSeasonsVecEnv, type[Any], dict[str, Any]]:
        arguments = self._chosen(
            *("candidates", "expansions", "order", "endings", "ending_expansions"),
            *("reward", "max_moves"),
        )
        arguments |= {"rules": self.rules, "num_threads": None}
        widths = {"widths": self.settings.layers}
        return (
            FourSeasonsNextDealVecEnv(self.settings.games, **arguments),
            CandidatePolicy,
            {"features_extractor_class": TableEncoder, "features_extractor_kwargs": widths},
        )

    def card_fields(self) -> dict[str, Any]:
        """See `Learner.card_fields`."""
        return {
            "observation": "features",
            "mask": "distinct",
            "decisions": {
                "candidates": self.settings.play_candidates,
                "expansions": self.settings.play_expansions,
                "order": self.settings.order,
                "endings": self.settings.play_endings,
                "ending_expansions": self.settings.ending_expansions,
                "value_weight": self.settings.value_weight,
            },
        }
