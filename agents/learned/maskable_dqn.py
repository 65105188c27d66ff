"""`maskable_dqn`: Stable-Baselines3's DQN with masks, and its hyperparameters.

The mask applies in three places, or the network learns from moves that cannot be played:
exploration draws among the legal moves, the greedy choice is the best of them, and the bootstrap
maximum is taken over the legal moves of the *next* position, whose mask is therefore stored in the
replay buffer. The maximum is that of double Q-learning: the network chooses the move, its target
network values it.

Mnih et al., "Human-level control through deep reinforcement learning" (2015); van Hasselt, Guez and
Silver, "Deep Reinforcement Learning with Double Q-learning" (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.common.vec_env import VecEnv

from four_seasons_env.agents.learned.network_agent import ACTIVATION_MODULES
from four_seasons_env.agents.learned.replay import MaskableReplayBuffer
from four_seasons_env.agents.learned.sb3_internals import require
from four_seasons_env.agents.learned.settings import MoveSettings, read_settings
from four_seasons_env.agents.schemas import Count, Positive, Share
from four_seasons_env.agents.scripted.random_agent import any_legal

NAME = "maskable_dqn"

MARGIN = 0.05
"""When cloning, the teacher's move must be worth this much more than any other: about two cards up
(a card is worth 1/52)."""


@dataclass(kw_only=True)
class Hyperparameters(MoveSettings):
    """The hyperparameters in `maskable_dqn.yaml`."""

    buffer_size: Positive
    learning_starts: Count
    gradient_steps: Positive
    tau: Share
    exploration_initial_eps: Share
    exploration_final_eps: Share
    exploration_fraction: Share


def read_hyperparameters(
    path: Path | None = None, overrides: Iterable[str] = ()
) -> Hyperparameters:
    """The hyperparameters of a run; see
    `four_seasons_env.agents.learned.settings.read_settings`."""
    return read_settings(Hyperparameters, NAME, path, overrides)


require(DQN, "_setup_model", "_sample_action", "_store_transition", "_update_learning_rate")


class MaskableDQN(DQN):
    """DQN on environments that provide masks (`env_method("action_masks")`)."""

    replay_buffer: MaskableReplayBuffer

    def _setup_model(self) -> None:
        super()._setup_model()
        self.exploration_rng = np.random.default_rng(self.seed)

    def _action_masks(self) -> NDArray[np.bool_]:
        """The legal moves of the latest positions, bool of shape (n, A)."""
        assert self.env is not None
        masks: NDArray[np.bool_] = self.env.env_method("action_masks")  # type: ignore[assignment]
        assert masks.any(axis=1).all(), "a game without a legal move is over"
        return masks

    def masked_values(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """The value of each move, minus infinity where it is not legal; shape (n, A)."""
        values: torch.Tensor = self.q_net(observations)
        return values.masked_fill(~masks, -torch.inf)

    def predict(
        self,
        observation: Any,
        state: tuple[Any, ...] | None = None,
        episode_start: NDArray[Any] | None = None,
        deterministic: bool = False,
        action_masks: NDArray[Any] | None = None,
    ) -> tuple[NDArray[Any], tuple[Any, ...] | None]:
        """The best legal move for each observation, or at the exploration rate any legal one.

        Args:
            observation: float32 of shape (n, L).
            state: ignored.
            episode_start: ignored.
            deterministic: never explore.
            action_masks: bool of shape (n, A).

        Raises:
            ValueError: without masks.
        """
        if action_masks is None:
            raise ValueError("MaskableDQN.predict needs the legal moves: pass action_masks")
        masks = np.asarray(action_masks, np.bool_)
        with torch.no_grad():
            values = self.masked_values(
                torch.as_tensor(observation, device=self.device),
                torch.as_tensor(masks, device=self.device),
            )
        actions = values.argmax(dim=1).cpu().numpy()
        if not deterministic:
            explores = self.exploration_rng.random(len(actions)) < self.exploration_rate
            actions = np.where(explores, any_legal(masks, self.exploration_rng), actions)
        return actions, state

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        masks = self._action_masks()
        if self.num_timesteps < learning_starts:
            actions = any_legal(masks, self.exploration_rng)
        else:
            actions, _ = self.predict(self._last_obs, action_masks=masks)
        return actions, actions

    def _store_transition(
        self,
        replay_buffer: Any,
        buffer_action: NDArray[Any],
        new_obs: Any,
        reward: NDArray[Any],
        dones: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        # A game that has ended already shows the next game's mask. If it was only truncated, the
        # bootstrap continues from its last position and needs the mask of that one.
        next_masks = self._action_masks()
        for i in np.flatnonzero(dones):
            next_masks[i] = infos[i]["terminal_action_mask"]
        self.replay_buffer.next_masks[self.replay_buffer.pos] = next_masks
        super()._store_transition(replay_buffer, buffer_action, new_obs, reward, dones, infos)

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Take gradient steps, each on a batch of the replay buffer."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        losses = []
        for _ in range(gradient_steps):
            batch, next_masks = self.replay_buffer.sample_with_masks(batch_size)
            with torch.no_grad():
                targets = batch.rewards + (1 - batch.dones) * self.gamma * self.next_values(
                    batch.next_observations, next_masks
                )
            values = self.q_net(batch.observations).gather(1, batch.actions.long())
            loss = torch.nn.functional.smooth_l1_loss(values, targets)
            losses.append(loss.item())
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps
        self.logger.record("train/n_updates", self._n_updates, exclude="tensorboard")
        self.logger.record("train/loss", np.mean(losses))

    def next_values(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        """The bootstrap maximum over the legal moves, shape (n, 1); 0 where the game is over.

        Args:
            observations: float32 of shape (n, L), of the next positions.
            masks: bool of shape (n, A), their legal moves.
        """
        best = self.masked_values(observations, masks).argmax(dim=1, keepdim=True)
        values: torch.Tensor = self.q_net_target(observations).gather(1, best)
        return values * masks.any(dim=1, keepdim=True)


def make_model(
    env: VecEnv,
    settings: Hyperparameters,
    seed: int,
    learning_rate: Callable[[float], float] | None = None,
) -> MaskableDQN:
    """A MaskableDQN model; the arguments are those of
    `four_seasons_env.agents.learned.maskable_ppo.make_model`."""
    space = env.action_space
    assert isinstance(space, spaces.Discrete)
    return MaskableDQN(
        "MlpPolicy",
        env,
        learning_rate=learning_rate or settings.falling_rate,
        buffer_size=settings.buffer_size,
        learning_starts=settings.learning_starts,
        batch_size=settings.batch_size,
        tau=settings.tau,
        gamma=settings.gamma,
        train_freq=1,
        gradient_steps=settings.gradient_steps,
        target_update_interval=env.num_envs,  # at each step of all games
        exploration_fraction=settings.exploration_fraction,
        exploration_initial_eps=settings.exploration_initial_eps,
        exploration_final_eps=settings.exploration_final_eps,
        max_grad_norm=settings.max_grad_norm,
        replay_buffer_class=MaskableReplayBuffer,
        replay_buffer_kwargs={"levels": env.get_attr("rules")[0].cards, "actions": int(space.n)},
        policy_kwargs={
            "net_arch": settings.layers,
            "activation_fn": ACTIVATION_MODULES[settings.activation],
        },
        seed=seed,
    )


def layer_names(hidden: int) -> list[str]:
    """Names of the Q network's linear layers, first to last, in Stable-Baselines3's weights."""
    return [f"q_net.q_net.{2 * i}" for i in range(hidden + 1)]


def cloning_loss(
    model: MaskableDQN,
    observations: torch.Tensor,
    masks: torch.Tensor,
    moves: torch.Tensor,
    returns: torch.Tensor,
) -> torch.Tensor:
    """The loss that fits the values to a teacher's moves and returns.

    Squared error to the returns, plus the large-margin loss of Hester et al., "Deep Q-learning from
    Demonstrations" (2018): the teacher's move should be worth `MARGIN` more than any other.
    The arguments are those of `four_seasons_env.agents.learned.maskable_ppo.cloning_loss`.
    """
    values = model.masked_values(observations, masks)
    chosen = values.gather(1, moves[:, None])
    margins = torch.full_like(values, MARGIN).scatter(1, moves[:, None], 0.0)
    preference = (values + margins).amax(dim=1, keepdim=True) - chosen
    fit = torch.nn.functional.mse_loss(chosen.flatten(), returns)
    return fit + preference.mean()
