"""`maskable_ppo`: sb3-contrib's MaskablePPO, from its hyperparameters to a player of its policy.

Huang and Ontanon, "A Closer Look at Invalid Action Masking in Policy Gradient Algorithms" (2020).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import yaml
from numpy.typing import NDArray

from agents.policy_files import Card, PolicyFileError, load_policy, rules_fields
from four_seasons_env.kernel import compile_rules
from four_seasons_env.moves import all_moves
from four_seasons_env.observations import OBSERVATIONS, encode_all, observation_length
from four_seasons_env.rules import Rules, nearest

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import VecEnv

HERE = Path(__file__).parent
ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh}


@dataclass
class Hyperparameters:
    """What `maskable_ppo.yaml` sets; the names are Stable-Baselines3's where it has them."""

    observation: str = "cards"
    mask: str = "distinct"
    reward: str = "foundation"
    max_moves: int = 200
    games: int = 1024
    n_steps: int = 32
    batch_size: int = 2048
    n_epochs: int = 4
    learning_rate: float = 1.5e-3
    gamma: float = 0.999
    gae_lambda: float = 0.95
    clip_range: float = 0.2
    ent_coef: float = 0.01
    vf_coef: float = 0.5
    max_grad_norm: float = 0.5
    layers: list[int] = field(default_factory=lambda: [256, 256])
    activation: str = "relu"


_DEFAULTS = Hyperparameters()


def read_hyperparameters(path: Path | None = None) -> Hyperparameters:
    """The hyperparameters of a YAML file; without one, of `maskable_ppo.yaml` beside this file.

    Raises:
        ValueError: for a key that there is not, with the nearest one, or a value of a wrong kind.
    """
    values = yaml.safe_load((path or HERE / "maskable_ppo.yaml").read_text())
    known = [each.name for each in dataclasses.fields(Hyperparameters)]
    for key in values:
        if key not in known:
            raise ValueError(f"unknown hyperparameter {key!r}: {nearest(key, known)}")
    settings = Hyperparameters(**values)
    for each in dataclasses.fields(Hyperparameters):
        value, default = getattr(settings, each.name), getattr(_DEFAULTS, each.name)
        number = isinstance(default, float) and isinstance(value, int)
        if isinstance(value, bool) or not (isinstance(value, type(default)) or number):
            kind = type(default).__name__
            raise ValueError(f"{each.name} must be a {kind}, not {value!r}")
    return settings


def make_model(
    env: VecEnv,
    settings: Hyperparameters,
    seed: int,
    learning_rate: Callable[[float], float],
    tensorboard: Path | None = None,
) -> MaskablePPO:
    """A MaskablePPO model with the given hyperparameters, on the CPU or a GPU as torch finds it."""
    from sb3_contrib import MaskablePPO

    return MaskablePPO(
        "MlpPolicy",
        env,
        learning_rate=learning_rate,
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        ent_coef=settings.ent_coef,
        vf_coef=settings.vf_coef,
        max_grad_norm=settings.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": settings.layers, "vf": settings.layers},
            "activation_fn": ACTIVATIONS[settings.activation],
        },
        seed=seed,
        tensorboard_log=str(tensorboard) if tensorboard else None,
    )


def make_card(settings: Hyperparameters, rules: Rules, training: dict[str, Any]) -> Card:
    """The card of a policy trained with these hyperparameters."""
    return Card(
        agent="maskable_ppo",
        rules=rules_fields(rules),
        observation=settings.observation,
        mask=settings.mask,
        layers=settings.layers,
        activation=settings.activation,
        training=training,
    )


class PolicyAgent:
    """Plays a trained policy network.

    Args:
        card: what the network is.
        weights: its tensors, by Stable-Baselines3's names.
        rules: the rule set to play.
        greedy: take the likeliest move; otherwise draw one from the policy.
    """

    def __init__(
        self, card: Card, weights: dict[str, torch.Tensor], rules: Rules, greedy: bool = False
    ) -> None:
        if card.observation not in OBSERVATIONS or card.activation not in ACTIVATIONS:
            raise ValueError(f"unknown network: {card.observation}, {card.activation}")
        self.mask = card.mask
        self.train_seed = card.training.get("seed")
        self._greedy = greedy
        self._rule = compile_rules(rules)
        self._kind = OBSERVATIONS.index(card.observation)
        self._length = observation_length(rules, card.observation)
        sizes = [self._length, *card.layers, len(all_moves(rules))]
        layers: list[torch.nn.Module] = []
        for i, (fan_in, fan_out) in enumerate(pairwise(sizes)):
            linear = torch.nn.Linear(fan_in, fan_out)
            last = i == len(card.layers)
            name = "action_net" if last else f"mlp_extractor.policy_net.{2 * i}"
            try:
                linear.load_state_dict(
                    {part: weights[f"{name}.{part}"] for part in ("weight", "bias")}
                )
            except (KeyError, RuntimeError) as error:
                raise PolicyFileError(f"weights do not fit their card at {name}: {error}") from None
            layers += [linear] if last else [linear, ACTIVATIONS[card.activation]()]
        self._network = torch.nn.Sequential(*layers)

    def logits(self, games: NDArray[Any], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """The policy's log-odds of each move, minus infinity where it is not legal."""
        observations = np.empty((len(games), self._length), np.float32)
        encode_all(games, self._rule, self._kind, observations)
        with torch.inference_mode():
            logits: NDArray[np.float32] = self._network(torch.from_numpy(observations)).numpy()
        return np.where(masks, logits, -np.inf)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The likeliest legal move, or one drawn from the policy (by adding Gumbel noise)."""
        scores = self.logits(games, masks)
        if not self._greedy:
            scores = scores + rng.gumbel(size=scores.shape).astype(np.float32)
        moves: NDArray[np.int64] = scores.argmax(axis=1)
        return moves


def load_agent(rules: Rules, path: Path | None = None, greedy: bool = False) -> PolicyAgent:
    """The player of a trained policy; without a path, of the weights kept beside this file.

    Raises:
        FileNotFoundError: where there are no weights.
        agents.policy_files.PolicyFileError: for damaged weights, or weights for other rules.
    """
    folder = path or HERE / "weights" / "maskable_ppo" / rules.name
    card, weights = load_policy(folder, "maskable_ppo", rules)
    return PolicyAgent(card, weights, rules, greedy)
