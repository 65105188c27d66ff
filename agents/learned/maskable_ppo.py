"""`maskable_ppo`: sb3-contrib's MaskablePPO with the hyperparameters of `maskable_ppo.yaml`.

Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from four_seasons_env.agents.learned.network_agent import ACTIVATION_MODULES
from four_seasons_env.agents.learned.settings import MoveSettings, Settings, read_settings
from four_seasons_env.agents.schemas import Amount, Positive, Share

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecEnv

NAME = "maskable_ppo"


@dataclass(kw_only=True)
class PpoSettings(Settings):
    """What MaskablePPO is set by, whatever an action is."""

    n_steps: Positive
    n_epochs: Positive
    gae_lambda: Share
    clip_range: Amount
    ent_coef: Amount
    vf_coef: Amount


@dataclass(kw_only=True)
class Hyperparameters(PpoSettings, MoveSettings):
    """The hyperparameters in `maskable_ppo.yaml`."""


def read_hyperparameters(
    path: Path | None = None, overrides: Iterable[str] = ()
) -> Hyperparameters:
    """The hyperparameters of a run; see
    `four_seasons_env.agents.learned.settings.read_settings`."""
    return read_settings(Hyperparameters, NAME, path, overrides)


def algorithm_arguments(settings: PpoSettings) -> dict[str, Any]:
    """The hyperparameters that MaskablePPO takes under the same names."""
    names = (
        *("n_steps", "batch_size", "n_epochs", "gamma", "gae_lambda", "clip_range"),
        *("ent_coef", "vf_coef", "max_grad_norm"),
    )
    return {name: getattr(settings, name) for name in names}


def make_model(
    env: VecEnv,
    settings: Hyperparameters,
    seed: int,
    learning_rate: Callable[[float], float] | None = None,
) -> MaskablePPO:
    """A MaskablePPO model, on a GPU if torch finds one.

    Args:
        env: the games, with masks.
        settings: the hyperparameters.
        seed: of the network and of exploration.
        learning_rate: a function of the share of the run that remains; by default the settings'.
    """
    from sb3_contrib import MaskablePPO

    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=learning_rate or settings.falling_rate,
        **algorithm_arguments(settings),
        policy_kwargs={
            "net_arch": {"pi": settings.layers, "vf": settings.layers},
            "activation_fn": ACTIVATION_MODULES[settings.activation],
        },
        seed=seed,
    )


def layer_names(hidden: int) -> list[str]:
    """Names of the policy's linear layers, first to last, in Stable-Baselines3's weights."""
    return [f"mlp_extractor.policy_net.{2 * i}" for i in range(hidden)] + ["action_net"]


def cloning_loss(
    model: MaskablePPO,
    observations: torch.Tensor,
    masks: torch.Tensor,
    moves: torch.Tensor,
    returns: torch.Tensor,
) -> torch.Tensor:
    """The loss that fits the policy to a teacher's moves, and the values to their returns.

    Cross-entropy over the legal moves, plus squared error of the value network.

    Args:
        model: the learner.
        observations: float32 of shape (n, L).
        masks: bool of shape (n, A).
        moves: int64 of shape (n,), the teacher's.
        returns: float32 of shape (n,), discounted.
    """
    values, log_probabilities, _ = model.policy.evaluate_actions(
        observations, moves, action_masks=masks
    )
    fit = torch.nn.functional.mse_loss(values.flatten(), returns)
    loss: torch.Tensor = model.vf_coef * fit - log_probabilities.mean()
    return loss
