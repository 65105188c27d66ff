"""The learning algorithms: their interface (`Algorithm`), their table, and their players."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv, FourSeasonsVecEnv
from four_seasons_env.agents.bundled import bundled_weights
from four_seasons_env.agents.learned import maskable_dqn, maskable_ppo, next_deal_ppo
from four_seasons_env.agents.learned.candidates import player
from four_seasons_env.agents.learned.candidates.teaching import choice_of
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.learned.sb3_zip import candidate_card, load_zip, move_card
from four_seasons_env.agents.learned.settings import Settings, make_settings, read_settings
from four_seasons_env.agents.options import check_options, check_values
from four_seasons_env.agents.policy_files import PolicyCard, load_policy, rules_fields
from four_seasons_env.agents.registry import Agent
from four_seasons_env.engine.kernel import compile_rules, reshuffle_unseen_all
from four_seasons_env.next_deal.vector import FourSeasonsNextDealVectorEnv
from four_seasons_env.rules import Rules, nearest


@dataclass(frozen=True)
class Algorithm(abc.ABC):
    """One learning algorithm."""

    name: str
    """Registered name of its agent, and of its YAML file."""
    schema: type[Settings]
    make_model: Callable[..., Any]
    """(env, settings, seed) -> a model of Stable-Baselines3."""
    model_class: str
    """`module:class` of the model in a zip of Stable-Baselines3."""
    unit: str
    """What a step is, in the plural: "moves" or "decisions"."""
    threads: ClassVar[int | None] = None
    """Threads of torch and of the games in training; None: as many as torch uses."""

    def read_settings(self, path: Path | None = None, overrides: Iterable[str] = ()) -> Settings:
        """The hyperparameters; see `four_seasons_env.agents.learned.settings.read_settings`."""
        return read_settings(self.schema, self.name, path, overrides)

    def settings_from(self, values: dict[str, Any]) -> Settings:
        """The hyperparameters from a dictionary that holds all of them."""
        return make_settings(self.schema, values, self.name)

    @abc.abstractmethod
    def make_games(
        self, settings: Any, rules: Rules, seed: int | None = None, threads: int = 1
    ) -> FourSeasonsVecEnv:
        """The games to learn from."""

    @abc.abstractmethod
    def policy_of(
        self, model: Any, settings: Any, rules: Rules, training: dict[str, Any]
    ) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """Card and weights of a model's policy; the weights are copies.

        Args:
            model: of Stable-Baselines3, during or after training.
            settings: its hyperparameters.
            rules: the rule set that it is trained on.
            training: `PolicyCard.training`.
        """

    @abc.abstractmethod
    def policy_in_zip(
        self, path: Path, model: Any, rules: Rules
    ) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """Card and weights of a model from a zip.

        Raises:
            PolicyFileError: for a model of another shape.
        """

    @abc.abstractmethod
    def player(
        self,
        card: PolicyCard,
        weights: dict[str, torch.Tensor],
        rules: Rules,
        deterministic: bool | None = None,
        **options: Any,
    ) -> Agent:
        """The player of a trained network."""

    @abc.abstractmethod
    def choice_of(
        self, teacher: Agent, env: FourSeasonsVecEnv, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The teacher's actions, int64 of shape (n,); -1 where it has none."""

    @abc.abstractmethod
    def cloning_loss(
        self,
        model: Any,
        observations: Any,
        masks: torch.Tensor,
        actions: torch.Tensor,
        returns: torch.Tensor,
    ) -> torch.Tensor:
        """The loss of a warm start."""


@dataclass(frozen=True)
class MoveAlgorithm(Algorithm):
    """An algorithm whose actions are moves, and whose networks are multilayer perceptrons."""

    layer_names: Callable[[int], list[str]]
    """Number of hidden layers -> names of the playing network's linear layers."""
    loss: Callable[..., torch.Tensor]
    """See `cloning_loss`."""

    def make_games(
        self, settings: Any, rules: Rules, seed: int | None = None, threads: int = 1
    ) -> FourSeasonsVecEnv:
        """The games to learn from, in one thread: they take a hundredth of the training time."""
        del threads
        return FourSeasonsVecEnv(
            settings.games,
            seed,
            rules=rules,
            observation=settings.observation,
            mask=settings.mask,
            reward=settings.reward,
            max_moves=settings.max_moves,
        )

    def policy_of(
        self, model: Any, settings: Any, rules: Rules, training: dict[str, Any]
    ) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """See `Algorithm.policy_of`."""
        card = PolicyCard(
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

    def policy_in_zip(
        self, path: Path, model: Any, rules: Rules
    ) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """See `Algorithm.policy_in_zip`."""
        card = move_card(path, model, self.name, rules)
        return card, self.playing_weights(model, len(card.layers))

    def playing_weights(self, model: Any, hidden: int) -> dict[str, torch.Tensor]:
        """Copies of the tensors that a player needs."""
        tensors = model.policy.state_dict()
        names = [f"{name}.{part}" for name in self.layer_names(hidden) for part in _PARTS]
        return {name: tensors[name].detach().cpu().clone() for name in names}

    def player(
        self,
        card: PolicyCard,
        weights: dict[str, torch.Tensor],
        rules: Rules,
        deterministic: bool | None = None,
        **options: Any,
    ) -> NetworkAgent:
        """The player of a trained network; see `NetworkAgent`."""
        check_options(self.name, NetworkAgent, options)
        return NetworkAgent(card, weights, self.layer_names(len(card.layers)), rules, deterministic)

    def choice_of(
        self, teacher: Agent, env: FourSeasonsVecEnv, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The teacher's moves; it sees reshuffled stocks."""
        shown = env.venv.games.copy()
        seeds = rng.integers(0, 2**63, len(shown), np.uint64)
        reshuffle_unseen_all(shown, compile_rules(env.venv.rules), seeds)
        return teacher.act(shown, env.action_masks().view(np.int8), rng)

    def cloning_loss(
        self,
        model: Any,
        observations: Any,
        masks: torch.Tensor,
        actions: torch.Tensor,
        returns: torch.Tensor,
    ) -> torch.Tensor:
        """See `four_seasons_env.agents.learned.maskable_ppo.cloning_loss`."""
        return self.loss(model, observations, masks, actions, returns)


_PARTS = ("weight", "bias")


@dataclass(frozen=True)
class NextDealAlgorithm(Algorithm):
    """An algorithm whose actions are positions.

    It trains in one thread: with its small batches two are no faster, and take nearly twice the
    processor time. Further cores are better used for further seeds.
    """

    threads: ClassVar[int | None] = 1

    def make_games(
        self, settings: Any, rules: Rules, seed: int | None = None, threads: int = 1
    ) -> FourSeasonsNextDealVecEnv:
        """The games to learn from."""
        arguments = next_deal_ppo.environment_arguments(settings)
        return FourSeasonsNextDealVecEnv(
            settings.games, seed, rules=rules, num_threads=threads, **arguments
        )

    def policy_of(
        self, model: Any, settings: Any, rules: Rules, training: dict[str, Any]
    ) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """See `Algorithm.policy_of`."""
        card = PolicyCard(
            agent=self.name,
            rules=rules_fields(rules),
            observation=settings.observation,
            mask="distinct",
            layers=settings.layers,
            activation="relu",
            network=settings.network,
            decisions=next_deal_ppo.playing_arguments(settings),
            training=training,
        )
        return card, _candidate_weights(model)

    def policy_in_zip(
        self, path: Path, model: Any, rules: Rules
    ) -> tuple[PolicyCard, dict[str, torch.Tensor]]:
        """See `Algorithm.policy_in_zip`; how it plays is in the algorithm's own YAML file."""
        return candidate_card(path, model, self.read_settings(), rules), _candidate_weights(model)

    def player(
        self,
        card: PolicyCard,
        weights: dict[str, torch.Tensor],
        rules: Rules,
        deterministic: bool | None = None,
        **options: Any,
    ) -> player.NextDealAgent:
        """The player of a trained network; see `NextDealAgent`."""
        check_options(self.name, player.NextDealAgent, options)
        check_values(self.name, player.NextDealAgent, options)
        return player.NextDealAgent(card, weights, rules, deterministic, **options)

    def choice_of(
        self, teacher: Agent, env: FourSeasonsVecEnv, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The candidates to which the teacher's moves lead."""
        assert isinstance(env.venv, FourSeasonsNextDealVectorEnv)
        return choice_of(teacher, env.venv, rng)

    def cloning_loss(
        self,
        model: Any,
        observations: Any,
        masks: torch.Tensor,
        actions: torch.Tensor,
        returns: torch.Tensor,
    ) -> torch.Tensor:
        """See `four_seasons_env.agents.learned.maskable_ppo.cloning_loss`."""
        return maskable_ppo.cloning_loss(model, observations, masks, actions, returns)


def _candidate_weights(model: Any) -> dict[str, torch.Tensor]:
    """Copies of the tensors that a `NextDealAgent` needs."""
    return {
        name: tensor.detach().cpu().clone()
        for name, tensor in model.policy.state_dict().items()
        if name.partition(".")[0] in player.PARTS
    }


ALGORITHMS: dict[str, Algorithm] = {
    each.name: each
    for each in (
        NextDealAlgorithm(
            next_deal_ppo.NAME,
            next_deal_ppo.Hyperparameters,
            next_deal_ppo.make_model,
            "sb3_contrib:MaskablePPO",
            "decisions",
        ),
        MoveAlgorithm(
            maskable_ppo.NAME,
            maskable_ppo.Hyperparameters,
            maskable_ppo.make_model,
            "sb3_contrib:MaskablePPO",
            "moves",
            maskable_ppo.layer_names,
            maskable_ppo.cloning_loss,
        ),
        MoveAlgorithm(
            maskable_dqn.NAME,
            maskable_dqn.Hyperparameters,
            maskable_dqn.make_model,
            "four_seasons_env.agents.learned.maskable_dqn:MaskableDQN",
            "moves",
            maskable_dqn.layer_names,
            maskable_dqn.cloning_loss,
        ),
    )
}


def get_algorithm(name: str) -> Algorithm:
    """A learning algorithm by its agent's name.

    Raises:
        ValueError: for an unknown one, naming the nearest.
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
    **options: Any,
) -> Agent:
    """The player of trained weights.

    Args:
        rules: the rule set to play.
        agent: name of the algorithm.
        path: the folder of a policy, or a zip of Stable-Baselines3; by default the bundled weights.
        deterministic: see `NetworkAgent` and `NextDealAgent`.
        trust: open a zip, although that runs any code that it contains.
        **options: of the algorithm's player.

    Raises:
        FileNotFoundError: if there are no weights.
        ValueError: for an unknown option.
        agents.policy_files.PolicyFileError: for damaged weights, weights for other rules, or a zip
            without trust.
    """
    algorithm = get_algorithm(agent)
    if path is not None and path.suffix == ".zip":
        model = load_zip(path, algorithm.model_class, trust)
        card, weights = algorithm.policy_in_zip(path, model, rules)
    else:
        folder = path or bundled_weights(agent, rules.name)
        card, weights = load_policy(folder, agent, rules)
    return algorithm.player(card, weights, rules, deterministic, **options)
