"""`FourSeasonsVectorEnv`: thousands of games in one compiled call."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from four_seasons_env.engine.deals import check_seed
from four_seasons_env.env import GameEnv
from four_seasons_env.episodes.batch import (
    MAX_MOVES,
    Batch,
    RunningGames,
    check_choice,
    check_positive,
)
from four_seasons_env.episodes.stepping import EPISODE
from four_seasons_env.game import Game
from four_seasons_env.rendering import RENDER_MODES, draw_as, prepare_rendering
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules

_INFO_KEYS = ("deal", "cards_up", "won", "illegal")


class GameVectorEnv(gym.vector.VectorEnv[Any, NDArray[np.int64], Any]):
    """What the vector environments share, whatever an action is."""

    metadata: dict[str, Any] = {
        **GameEnv.metadata,
        "render_modes": ["ansi", "rgb_array"],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self, batch: RunningGames, render_mode: str | None, copy: bool, reveal_deal: bool = True
    ) -> None:
        self.num_envs = len(batch.games)
        self.render_mode = check_choice("render_mode", render_mode, RENDER_MODES)
        prepare_rendering(self.render_mode)
        self._batch = batch
        self.rules = batch.rules
        self.single_observation_space = batch.observation_space
        self.single_action_space = batch.action_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.copy = copy
        reveal = check_choice("reveal_deal", reveal_deal, (True, False))
        self._info_keys = _INFO_KEYS if reveal else _INFO_KEYS[1:]
        self._all = np.ones(self.num_envs, np.bool_)
        self._finals = self._new_finals()

    def _new_finals(self) -> tuple[NDArray[Any], NDArray[np.int8], NDArray[Any]]:
        """Episodes, masks and observations for `RunningGames.keep_finals`.

        Memory that is not written costs nothing (unlike that of `np.zeros_like`).
        """
        batch = self._batch
        return (
            np.zeros(self.num_envs, EPISODE),
            np.zeros(batch.masks.shape, np.int8),
            np.zeros(batch.observations.shape, batch.observations.dtype),
        )

    def _as_observations(self, observations: NDArray[Any], masks: NDArray[np.int8]) -> Any:
        """What is given out of observations and the masks that belong to them."""
        return observations

    @functools.cached_property
    def observation_space(self) -> gym.Space[Any]:  # type: ignore[override]
        """The batch's space, made when it is asked for: its bounds outweigh the observations."""
        return batch_space(self.single_observation_space, self.num_envs)

    @property
    def games(self) -> NDArray[Any]:
        """The positions, a GAME array of shape (n,), as a read-only view."""
        self._batch.check_started()
        games = self._batch.games.view()
        games.flags.writeable = False
        return games

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal moves as a bool array of shape (n, A).

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        self._batch.check_started()
        return self._give(self._batch.masks).view(np.bool_)

    def _give(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self.copy else array

    def _observations(self) -> Any:
        batch = self._batch
        return self._as_observations(self._give(batch.observations), self._give(batch.masks))

    def _infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = {"action_mask": self._give(self._batch.masks)}
        for key in self._info_keys:
            infos[key] = self._give(self._batch.episodes[key])
        for key in list(infos):
            infos[f"_{key}"] = self._give(self._all)
        return infos

    def reset(
        self,
        *,
        seed: int | Sequence[int] | NDArray[np.integer[Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every game.

        Args:
            seed: game i takes the seed ``seed + i``, or ``seed[i]`` of a sequence.
            options: `{"deal": number}`, `{"deal": [one number a game]}` or `{"deck": text}`; the
                episodes that follow are training deals.
        """
        batch = self._batch
        asked = batch.read_options(options)
        if seed is not None:
            if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str):
                seeds = np.array([check_seed(each) for each in seed], np.uint64)
                if len(seeds) != self.num_envs:
                    raise ValueError(f"{self.num_envs} games take as many seeds, not {len(seeds)}")
            else:
                first = check_seed(seed)
                super().reset(seed=first)
                seeds = np.uint64(first) + np.arange(self.num_envs, dtype=np.uint64)
            batch.seed(seeds)
        elif not batch.seeded:
            batch.seed(self.np_random.integers(0, 2**63, self.num_envs, np.uint64))
        batch.reset(asked)
        return self._observations(), self._infos()

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one action in each game; actions is an integer array of shape (n,).

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
            ValueError: for actions of a wrong shape or type, or out of range.
            IllegalMove: for an illegal action where `illegal="raise"`; no game has moved then.
        """
        self._batch.check_started()
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be integers of shape ({self.num_envs},), not {actions.dtype} of "
                f"shape {actions.shape}"
            )
        batch = self._batch
        ended = batch.step(actions.astype(np.int64, copy=False))
        finals: dict[str, Any] = {}
        if ended:
            if self.copy:
                self._finals = self._new_finals()
            batch.keep_finals(*self._finals)
            finals = self._final_infos()
            batch.deal_anew(batch.done)
        infos = self._infos()
        infos |= finals
        return (
            self._observations(),
            self._give(batch.rewards),
            self._give(batch.terminated),
            self._give(batch.truncated),
            infos,
        )

    def _final_infos(self) -> dict[str, Any]:
        """The infos of the episodes that ended in this step; rows of others are zeros."""
        done = self._give(self._batch.done)
        episodes, masks, observations = self._finals
        info: dict[str, Any] = {"action_mask": masks}
        for key in self._info_keys:
            info[key] = episodes[key]
        info["episode"] = {"r": episodes["score"], "l": episodes["steps"], "_r": done, "_l": done}
        for key in list(info):
            info[f"_{key}"] = done
        return {
            "final_obs": self._as_observations(observations, masks),
            "_final_obs": done,
            "final_info": info,
            "_final_info": done,
        }

    def state(self) -> dict[str, NDArray[Any]]:
        """A copy of all that the games to come depend on, as arrays by name, for `restore`."""
        self._batch.check_started()
        return {name: array.copy() for name, array in self._batch.state().items()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on from a `state` of an environment with the same arguments, bit for bit.

        Raises:
            ValueError: if the state is of other arguments, or its arrays do not belong together;
                nothing has changed then.
            InvalidGame: if one of its games is no position of the rules; likewise.
        """
        buffers = self._batch.state()
        wrong = [
            name
            for name in buffers.keys() | state.keys()
            if name not in buffers
            or name not in state
            or (buffers[name].shape, buffers[name].dtype) != (state[name].shape, state[name].dtype)
        ]
        if wrong:
            raise ValueError(
                f"the state is of an environment with other arguments: {', '.join(sorted(wrong))}"
            )
        self._batch.restore(state)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self._batch.close()

    def render(self) -> tuple[Any, ...] | None:
        """The positions, each as the single environment renders it.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset.
        """
        self._batch.check_started()
        if self.render_mode is None:
            return None
        return tuple(
            draw_as(self.render_mode, Game.from_record(record, self.rules))
            for record in self._batch.games
        )


class FourSeasonsVectorEnv(GameVectorEnv):
    """Many games of `FourSeasonsEnv`, stepped in one call, without Python per game.

    Game ``i`` of ``reset(seed=s)`` plays the same deals and gives the same results as the single
    environment after ``reset(seed=s + i)``. An episode that ends is followed by the next deal in
    the same step (`AutoresetMode.SAME_STEP`): observation, mask and info are the new episode's, and
    `infos["final_obs"]` and `infos["final_info"]` the old one's, in the rows where
    `infos["_final_obs"]` is True. `infos["final_info"]["episode"]` holds its return `r` and its
    length `l`. The keys `final_*` are there only in a step in which an episode has ended.

    Args:
        num_envs: number of games.
        copy: give out copies. With False, observations, rewards, masks and infos are views of
            buffers that the next step overwrites: faster, for callers who copy anyway.
        num_threads: threads that share the games; the results do not depend on it. Pays from some
            thousand games on. A forked process starts threads of its own.

    The other arguments are those of `FourSeasonsEnv`.

    Raises:
        ValueError: for an argument that is unknown or out of range.
    """

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "four-seasons",
        observation: str = "tops",
        reward: str | RewardFunction = "foundation",
        mask: str = "legal",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        *,
        copy: bool = True,
        num_threads: int = 1,
        reveal_deal: bool = True,
    ) -> None:
        check_positive("num_envs", num_envs)
        batch = Batch(num_envs, rules, observation, reward, mask, illegal, max_moves, num_threads)
        super().__init__(batch, render_mode, copy, reveal_deal)
