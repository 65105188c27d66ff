"""Environments that show what ours costs in training: one costs nothing, two are timed."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn

from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv, FourSeasonsVecEnv


class ZeroCostVecEnv(FourSeasonsVecEnv):
    """Returns the first observations and masks at every step; no episode ever ends."""

    def reset(self) -> Any:
        """Reset the games, and store their observations and masks."""
        self._observations = super().reset()
        self._masks = super().action_masks()
        self._rewards = np.zeros(self.num_envs, np.float32)
        self._dones = np.zeros(self.num_envs, np.bool_)
        return self._observations

    def step_wait(self) -> VecEnvStepReturn:
        """Return the stored observations; nothing is played."""
        return self._observations, self._rewards, self._dones, self._no_infos

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """The masks of the first positions."""
        return self._masks


class _Timed(FourSeasonsVecEnv):
    """Adds up the seconds spent in an environment (`seconds`)."""

    seconds = 0.0

    def step_wait(self) -> VecEnvStepReturn:
        """A step, timed."""
        clock = time.perf_counter()
        answer = super().step_wait()
        self.seconds += time.perf_counter() - clock
        return answer

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """The masks, timed."""
        clock = time.perf_counter()
        answer = super().env_method(method_name, *method_args, indices=indices, **method_kwargs)
        self.seconds += time.perf_counter() - clock
        return answer


class TimedVecEnv(_Timed):
    """The environment whose actions are moves, timed."""


class TimedNextDealVecEnv(_Timed, FourSeasonsNextDealVecEnv):
    """The environment whose actions are positions, timed."""
