"""`MaskInObservation`: the action mask as a part of the observation, where many libraries look.

The environments return masks in `info["action_mask"]` and from `action_masks()`. Some libraries
pass only observations to a policy and look for the mask there, under their own names (`MASK_KEYS`).
The wrappers accept any environment that returns masks in `info["action_mask"]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.spaces.utils import flatten_space
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector.utils import batch_space
from numpy.typing import DTypeLike

from four_seasons_env.arguments import check_choice, check_type, nearest

MASK_KEYS = {
    "gymnasium": ("observation", "action_mask"),
    "rllib": ("observations", "action_mask"),
    "tianshou": ("obs", "mask"),
    "torchrl": ("observation", "action_mask"),
    "pettingzoo": ("observation", "action_mask"),
}
"""Library -> the keys under which it looks for the observation and for the mask."""


class _MaskJoining(RecordConstructorArgs):
    """What both wrappers do, whatever their base class wraps: one game or a batch."""

    env: Any

    def __init__(
        self,
        env: Any,
        keys: str | Sequence[str] = ("observation", "action_mask"),
        dtype: DTypeLike = "int8",
        flatten: bool = False,
    ) -> None:
        RecordConstructorArgs.__init__(self, keys=keys, dtype=np.dtype(dtype).name, flatten=flatten)
        if isinstance(keys, str):
            if keys not in MASK_KEYS:
                raise ValueError(
                    f"unknown library {keys!r}: {nearest(keys, MASK_KEYS)}, or a pair of keys"
                )
            keys = MASK_KEYS[keys]
        check_type("keys", keys, Sequence)  # type: ignore[type-abstract]
        if len(keys) != 2 or len(set(keys)) != 2 or not all(isinstance(key, str) for key in keys):
            raise ValueError(f"keys must be two different names, not {keys!r}")
        self._keys, self._dtype = (keys[0], keys[1]), np.dtype(dtype)
        self._flatten = check_choice("flatten", flatten, (True, False))
        # That of `Wrapper` or `VectorWrapper`, the next of the bases.
        super(RecordConstructorArgs, self).__init__(env)  # type: ignore[call-arg]
        self._set_spaces()

    def _set_spaces(self) -> None:
        """Set the spaces of observations with masks."""
        raise NotImplementedError

    def _space(self, observation: gym.Space[Any], action: gym.Space[Any]) -> spaces.Dict:
        """The space of one game's observation."""
        if not isinstance(action, spaces.Discrete):
            raise ValueError(f"actions must be Discrete, not {action}")
        if isinstance(observation, spaces.Dict) and "action_mask" in observation.spaces:
            observation = observation["observation"]
        if self._flatten:
            if not isinstance(observation, spaces.Box):
                raise ValueError(f"flatten=True: observations must be a Box, not {observation}")
            observation = flatten_space(observation)
        mask = spaces.Box(0, 1, (int(action.n),), self._dtype.type)
        return spaces.Dict({self._keys[0]: observation, self._keys[1]: mask})

    def _join(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        """An observation with the mask of its info, of one game or of a batch."""
        if "action_mask" not in info:
            raise ValueError(
                'the environment returns no masks in info["action_mask"], as FourSeasons-v0 does'
            )
        if isinstance(observation, dict) and "action_mask" in observation:
            observation = observation["observation"]
        mask = np.asarray(info["action_mask"]).astype(self._dtype)
        if self._flatten:
            observation = observation.reshape(*mask.shape[:-1], -1)
        # At the end of a game no action is legal, but a policy needs one to choose.
        mask[~mask.any(axis=-1)] = 1
        return {self._keys[0]: observation, self._keys[1]: mask}

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """See the environment."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._join(observation, info), info

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """See the environment."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        joined = self._join(observation, info)
        if "final_obs" in info:  # of a batch
            info = info | {"final_obs": self._join(info["final_obs"], info["final_info"])}
        return joined, reward, terminated, truncated, info


class MaskInObservation(_MaskJoining, gym.Wrapper[Any, Any, Any, Any]):
    """Observations become dictionaries that hold the action mask.

    The mask of a game that is over, in which no action is legal, is all ones: a policy that is
    called with the last observation gets a distribution over actions. `info["action_mask"]` has the
    truth. The mask of an episode that is only truncated is that of its position.

    Examples:
        >>> env = MaskInObservation(gym.make("FourSeasons-v0"), keys="rllib")
        >>> observation, _ = env.reset(seed=7)
        >>> observation["observations"].shape, int(observation["action_mask"].sum())
        ((179,), 5)

    Args:
        env: an environment with `Discrete` actions and masks in `info["action_mask"]`.
        keys: names of the observation and of the mask, or a library's name (`MASK_KEYS`).
        dtype: dtype of the mask, such as "int8", "bool" or "float32".
        flatten: reshape an observation of several dimensions, such as that of candidates, into one
            vector, for libraries whose networks take only vectors.

    Raises:
        ValueError: for an argument out of its range, or actions that are not `Discrete`; at the
            first reset, for an environment that returns no masks.
    """

    def _set_spaces(self) -> None:
        self.observation_space = self._space(self.env.observation_space, self.env.action_space)


class VectorMaskInObservation(_MaskJoining, gym.vector.VectorWrapper):
    """`MaskInObservation` for a native vector environment, in one step for all games.

    Examples:
        >>> envs = VectorMaskInObservation(gym.make_vec("FourSeasons-v0", num_envs=3))
        >>> {key: each.shape for key, each in envs.reset(seed=7)[0].items()}
        {'observation': (3, 179), 'action_mask': (3, 32)}

    Args:
        env: a vector environment with `Discrete` actions and masks of shape (n, A) in
            `infos["action_mask"]`. If the next episode starts in the step that ends one,
            `infos["final_obs"]` takes its mask from `infos["final_info"]`.
        keys: see `MaskInObservation`, as for the other arguments.
    """

    def _set_spaces(self) -> None:
        self.single_observation_space = self._space(
            self.env.single_observation_space, self.env.single_action_space
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
