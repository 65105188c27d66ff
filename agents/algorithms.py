"""The learning algorithms: what each brings (`Algorithm`), which there are, and their players."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from agents import maskable_dqn, maskable_ppo
from agents.network import NetworkAgent
from agents.policy_files import Card, load_policy, rules_fields
from agents.settings import Settings, make_settings, read_settings
from agents.zips import load_zip
from four_seasons_env.rules import Rules, nearest

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Algorithm:
    """One learning algorithm, as a row of functions."""

    name: str
    """Registered name of its agent, and of its YAML file."""
    schema: type[Settings]
    make_model: Callable[..., Any]
    """(env, settings, seed) -> a Stable-Baselines3 model."""
    layer_names: Callable[[int], list[str]]
    """Number of hidden layers -> names of the playing network's linear layers."""
    cloning_loss: Callable[..., torch.Tensor]
    """(model, observations, masks, moves, returns) -> what a warm start brings down."""
    model_class: str
    """`module:class` of what a zip of Stable-Baselines3 holds."""

    def read_settings(self, path: Path | None = None, overrides: Iterable[str] = ()) -> Settings:
        """Its hyperparameters; see `agents.settings.read_settings`."""
        return read_settings(self.schema, self.name, path, overrides)

    def settings_from(self, values: dict[str, Any]) -> Settings:
        """Its hyperparameters from a dictionary that holds all of them."""
        return make_settings(self.schema, values, self.name)

    def policy_of(
        self, model: Any, settings: Settings, rules: Rules, training: dict[str, Any]
    ) -> tuple[Card, dict[str, torch.Tensor]]:
        """Card and weights of what a model plays, apart from it.

        Args:
            model: being trained, or trained.
            settings: its hyperparameters.
            rules: the rule set that it is trained on.
            training: what the card is to remember.
        """
        card = Card(
            agent=self.name,
            rules=rules_fields(rules),
            observation=settings.observation,
            mask=settings.mask,
            layers=settings.layers,
            activation=settings.activation,
            exploration=getattr(settings, "exploration_final_eps", None),
            training=training,
        )
        return card, self.playing_weights(model, len(settings.layers))

    def playing_weights(self, model: Any, hidden: int) -> dict[str, torch.Tensor]:
        """Copies of the tensors that a model's player needs."""
        tensors = model.policy.state_dict()
        names = [f"{name}.{part}" for name in self.layer_names(hidden) for part in _PARTS]
        return {name: tensors[name].detach().cpu().clone() for name in names}

    def player(
        self,
        card: Card,
        weights: dict[str, torch.Tensor],
        rules: Rules,
        deterministic: bool | None = None,
    ) -> NetworkAgent:
        """The player of a trained network; see `NetworkAgent`."""
        return NetworkAgent(card, weights, self.layer_names(len(card.layers)), rules, deterministic)


_PARTS = ("weight", "bias")

ALGORITHMS: dict[str, Algorithm] = {
    maskable_ppo.NAME: Algorithm(
        maskable_ppo.NAME,
        maskable_ppo.Hyperparameters,
        maskable_ppo.make_model,
        maskable_ppo.layer_names,
        maskable_ppo.cloning_loss,
        "sb3_contrib:MaskablePPO",
    ),
    maskable_dqn.NAME: Algorithm(
        maskable_dqn.NAME,
        maskable_dqn.Hyperparameters,
        maskable_dqn.make_model,
        maskable_dqn.layer_names,
        maskable_dqn.cloning_loss,
        "agents.maskable_dqn:MaskableDQN",
    ),
}


def get_algorithm(name: str) -> Algorithm:
    """A learning algorithm by its agent's name.

    Raises:
        ValueError: for one that there is not, with the nearest.
    """
    if name not in ALGORITHMS:
        raise ValueError(f"no learning agent {name!r}: {nearest(name, ALGORITHMS)}")
    return ALGORITHMS[name]


def load_agent(
    rules: Rules,
    agent: str,
    path: Path | None = None,
    deterministic: bool | None = None,
    trust: bool = False,
) -> NetworkAgent:
    """The player of trained weights.

    Args:
        rules: the rule set to play.
        agent: name of the algorithm.
        path: the folder of a policy, or a zip of Stable-Baselines3; by default the weights that are
            kept beside this file.
        deterministic: see `NetworkAgent`.
        trust: open a zip, although that can run any code that its maker put into it.

    Raises:
        FileNotFoundError: where there are no weights.
        agents.policy_files.PolicyFileError: for damaged weights, weights for other rules, or a zip
            without trust.
    """
    algorithm = get_algorithm(agent)
    if path is not None and path.suffix == ".zip":
        card, model = load_zip(path, agent, algorithm.model_class, rules, trust)
        weights = algorithm.playing_weights(model, len(card.layers))
    else:
        folder = path or HERE / "weights" / agent / rules.name
        card, weights = load_policy(folder, agent, rules)
    return algorithm.player(card, weights, rules, deterministic)
