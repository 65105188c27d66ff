"""A replay buffer with the next positions' masks, and one byte for each slot of an observation."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.type_aliases import ReplayBufferSamples


class MaskableReplayBuffer(ReplayBuffer):
    """Stable-Baselines3's replay buffer at a quarter of the size, with next-state masks.

    All slots of an observation are multiples of 1 / `levels` (see `four_seasons_env.observations`),
    so a byte stores them without loss.

    Args:
        levels: the number of cards in the deck, at most 255.
        actions: size of the action space.
        **kwargs: passed to `ReplayBuffer`.

    Attributes:
        next_masks: bool of shape (size, games, actions), the legal moves of the next positions.
            The caller writes the row at `pos`, and then calls `add`.
    """

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *,
        levels: int,
        actions: int,
        **kwargs: Any,
    ) -> None:
        assert observation_space.shape is not None
        in_bytes = spaces.Box(0, levels, observation_space.shape, np.uint8)
        super().__init__(buffer_size, in_bytes, action_space, **kwargs)
        self.levels = levels
        self.next_masks = np.zeros((self.buffer_size, self.n_envs, actions), np.bool_)

    def add(
        self,
        obs: NDArray[Any],
        next_obs: NDArray[Any],
        action: NDArray[Any],
        reward: NDArray[Any],
        done: NDArray[Any],
        infos: list[dict[str, Any]],
    ) -> None:
        """Add a step of all games, whose `next_masks` have been written."""
        super().add(self._as_bytes(obs), self._as_bytes(next_obs), action, reward, done, infos)

    def _as_bytes(self, observations: NDArray[Any]) -> NDArray[np.uint8]:
        stored: NDArray[np.uint8] = np.rint(observations * self.levels).astype(np.uint8)
        return stored

    def _as_observations(self, stored: NDArray[np.uint8]) -> torch.Tensor:
        observations: torch.Tensor = self.to_torch(stored).float()
        return observations * (1.0 / self.levels)

    def sample_with_masks(self, batch_size: int) -> tuple[ReplayBufferSamples, torch.Tensor]:
        """A random batch, and the masks of its next positions, bool of shape (n, actions).

        ``dones`` marks terminated games only: truncated ones are bootstrapped.
        """
        # From NumPy's global stream, which Stable-Baselines3 seeds.
        rows = np.random.randint(0, self.size(), batch_size)  # noqa: NPY002
        games = np.random.randint(0, self.n_envs, batch_size)  # noqa: NPY002
        ended = self.dones[rows, games] * (1 - self.timeouts[rows, games])
        samples = ReplayBufferSamples(
            self._as_observations(self.observations[rows, games]),
            self.to_torch(self.actions[rows, games]),
            self._as_observations(self.next_observations[rows, games]),
            self.to_torch(ended[:, None]),
            self.to_torch(self.rewards[rows, games][:, None]),
        )
        return samples, self.to_torch(self.next_masks[rows, games])

    def state(self) -> dict[str, NDArray[Any]]:
        """The filled part of the buffer, for `restore`."""
        filled = self.size()
        arrays = {name: getattr(self, name)[:filled] for name in _ARRAYS}
        return arrays | {"pos": np.array(self.pos), "full": np.array(self.full)}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Restore a saved `state`."""
        for name in _ARRAYS:
            getattr(self, name)[: len(state[name])] = state[name]
        self.pos, self.full = int(state["pos"]), bool(state["full"])


_ARRAYS = (
    "observations",
    "next_observations",
    "actions",
    "rewards",
    "dones",
    "timeouts",
    "next_masks",
)
