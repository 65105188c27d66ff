"""Stable-Baselines3: a `VecEnv` over the native batch, with action masks for sb3-contrib.

Examples:
    >>> env = FourSeasonsVecEnv(1024, observation="cards", mask="distinct")
    >>> model = MaskablePPO("MlpPolicy", env)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import names_nearest
from four_seasons_env.engine.deals import check_seed
from four_seasons_env.env import GameEnv, fixed_arguments
from four_seasons_env.episodes.settings import Deals, Starts, arguments_in
from four_seasons_env.extras import missing_extra
from four_seasons_env.game import MAX_MOVES, Game
from four_seasons_env.next_deal.next_deal_env import FourSeasonsNextDealVectorEnv
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules
from four_seasons_env.vector import (
    FOR_ALL_GAMES,
    FourSeasonsVectorEnv,
    GameVectorEnv,
    OneOfMany,
)

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
    from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvStepReturn
except ModuleNotFoundError as error:
    raise missing_extra("this adapter", error) from error

Seeds = int | Sequence[int] | NDArray[Any] | None

_NUMBERS = ("deal", "cards_up", "won", "is_success", "illegal")
"""The keys of `final_info` with one number for each game."""


_fixed = functools.partial(fixed_arguments, but=("num_envs", "render_mode"))  # `VecEnv` sets them


@_fixed
class FourSeasonsVecEnv(VecEnv):
    """`FourSeasonsVectorEnv` with the conventions of Stable-Baselines3.

    Infos are empty dictionaries, except for games whose episode has ended in the step. Those get
    `terminal_observation`, `terminal_action_mask` (bool, of that observation),
    `TimeLimit.truncated`, `episode` (`r` return, `l` length), `won`, `is_success` (the same),
    `cards_up`, `illegal` and, unless `reveal_deal=False`, `deal`. Do not write into the empty ones:
    they are reused. `env_method("action_masks")` and `get_attr("action_masks")` return the masks of
    the last observations as one bool array of shape (n, A).

    `VecMonitor` and `Monitor` are not needed: `episode` is there. Stable-Baselines3 warns that
    `VecMonitor` replaces it; the numbers are the same.

    Games always start again in the step that ends them, so there is no `autoreset_mode`.
    """

    @names_nearest
    def __init__(
        self,
        num_envs: int,
        seed: Seeds = None,
        *,
        rules: str | Rules = "four-seasons",
        observation: str = "tops",
        mask: str = "legal",
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
        copy: bool = True,
        num_threads: int | None = 1,
        max_episode_steps: int | None = None,
    ) -> None:
        """Make the environment; `FourSeasonsVectorEnv` says more about its arguments.

        Args:
            num_envs: number of games.
            seed: as for `seed`; None for random deals. A model with a seed replaces it by its own.
            rules: a rule set's name or a `Rules`.
            observation: `"tops"`, `"cards"` or `"places"`.
            mask: `"legal"`, `"distinct"` or `"no_repeats"`.
            reward: `"foundation"`, `"win"` or a callable.
            illegal: `"stay"` or `"raise"`.
            render_mode: None, `"ansi"` or `"rgb_array"`.
            max_moves: moves until an episode is truncated.
            reveal_deal: whether infos have `deal`.
            deals: numbers of deals to draw from; None for all training deals.
            starts: positions in which episodes begin, a list of games or a `Games`; None for deals.
            allow_test_deals: whether `deals` and `starts` may hold test deals.
            copy: return copies, not views of buffers that the next step overwrites.
            num_threads: threads that share the games; None for as many as pay.
            max_episode_steps: as `max_moves`, by Gymnasium's name; the smaller of the two counts.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        self._play(FourSeasonsVectorEnv(**arguments_in(locals(), "seed")), seed)

    def _play(self, venv: GameVectorEnv, seed: Seeds) -> None:
        """Become the environment of these games."""
        self.venv = venv  # before `VecEnv`, which asks for the render mode of each game
        super().__init__(
            venv.num_envs, self.venv.single_observation_space, self.venv.single_action_space
        )
        self.metadata = GameEnv.metadata
        self._no_infos: list[dict[str, Any]] = [{} for _ in range(venv.num_envs)]
        if seed is not None:
            self.seed(seed)

    def seed(self, seed: Seeds = None) -> Sequence[int | None]:
        """Choose the training deals that games play from the next reset on.

        Stable-Baselines3 calls this with the seed of a model. Models of two seeds share no games:
        with the seeds ``seed + i`` of the native environment, those of 0 and 1 would share almost
        all.

        Args:
            seed: a number, of which each game gets a number of its own; None for any number. Or a
                sequence or an array with a number for each game, such as
                ``range(7, 7 + num_envs)`` for the games of the native ``reset(seed=7)``.

        Returns:
            The seed of each game.

        Raises:
            ValueError: for a number that is not an integer from 0 to 2^64 - 1.
        """
        if not isinstance(seed, (Sequence, np.ndarray)):
            # Mixed, not counted up: else games of one model would be those of the next one.
            number = super().seed()[0] if seed is None else check_seed(seed)
            mixed = np.random.SeedSequence(number).generate_state(self.num_envs, np.uint64)
            seed = list(map(int, mixed))
        self._seeds = [check_seed(each) for each in seed]
        return self._seeds

    def reset(self) -> Any:
        """Start an episode in every game; seeds and options set before are used once."""
        seeds = None if None in self._seeds else self._seeds
        observations, infos = self.venv.reset(seed=seeds, options=self._native_options())
        self._reset_seeds()
        self._reset_options()
        keys = [key for key in ("deal", "cards_up") if key in infos]
        self.reset_infos = [{key: int(infos[key][i]) for key in keys} for i in range(self.num_envs)]
        return observations

    def _native_options(self) -> dict[str, Any] | None:
        """The options of all games, one dictionary for each, as the native environment takes them.

        Such as {"deal": [1, 2]} from [{"deal": 1}, {"deal": 2}].
        """
        if not any(self._options):
            return None
        key, *more = {key for each in self._options for key in each}
        if more or not all(self._options):
            raise ValueError(
                "options must be a deal, a deck or a game, the same option for all games or none"
            )
        values = [each[key] for each in self._options]
        # The native environment takes one deck for all games, but a position for each.
        if key == "deck":
            return {"game": [Game(self.venv.rules, deck=deck) for deck in values]}
        return {key: values}

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Take the actions in all games; returns observations, rewards, dones and infos."""
        observations, rewards, _, truncated, infos = self.venv.step(self._actions)
        # Only games whose episode has ended get an info of their own: the loop is over these.
        sb3_infos = self._no_infos.copy()
        dones = np.zeros(self.num_envs, np.bool_)
        if "final_info" in infos:
            final = infos["final_info"]
            dones = infos["_final_info"]
            for i in np.flatnonzero(dones).tolist():
                sb3_infos[i] = {
                    "terminal_observation": _row(infos["final_obs"], i),
                    "terminal_action_mask": final["action_mask"][i].astype(np.bool_),
                    "TimeLimit.truncated": bool(truncated[i]),
                    "episode": {
                        "r": float(final["episode"]["r"][i]),
                        "l": int(final["episode"]["l"][i]),
                    },
                }
                sb3_infos[i] |= {key: final[key][i].item() for key in _NUMBERS if key in final}
        return observations, rewards.astype(np.float32), dones, sb3_infos

    def close(self) -> None:
        """Close the native environment."""
        self.venv.close()

    @property
    def games(self) -> NDArray[Any]:
        """The positions, a GAME array of shape (n,), as a read-only view; see `stock_order`."""
        return self.venv.games

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal moves as a bool array of shape (n, A)."""
        return self.venv.action_masks()

    def has_attr(self, attr_name: str) -> bool:
        """Whether `get_attr` returns it, also before the first reset."""
        return attr_name in dir(OneOfMany(self.venv, 0))

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> Any:
        """An attribute of each game (`OneOfMany`); `action_masks` as the class says."""
        if attr_name == "action_masks":
            masks = self.action_masks()
            return masks if indices is None else masks[list(self._get_indices(indices))]
        return [getattr(OneOfMany(self.venv, i), attr_name) for i in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Refused: the games share settings that cannot change."""
        self.venv.set_attr(attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: VecEnvIndices = None,
        **method_kwargs: Any,
    ) -> Any:
        """Call a method of each game (`OneOfMany`); `action_masks` as the class says.

        Raises:
            ValueError: for indices with `set_deals` or `set_starts`, which are of all games.
        """
        if method_name == "action_masks":
            return self.get_attr(method_name, indices)
        if method_name in FOR_ALL_GAMES:  # checked once for all games
            if indices is not None:
                raise ValueError(f"{method_name} is for all games: leave out indices")
            getattr(self.venv, method_name)(*method_args, **method_kwargs)
            return [None] * self.num_envs
        methods = self.get_attr(method_name, indices)
        return [method(*method_args, **method_kwargs) for method in methods]

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """True for Monitor, because the batch returns its `episode` infos."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> list[Any]:
        """A picture of each game, uint8 of shape (height, width, 3), with `"rgb_array"`."""
        if self.render_mode != "rgb_array":
            return [None] * self.num_envs
        return list(self.venv.render())


@_fixed
class FourSeasonsNextDealVecEnv(FourSeasonsVecEnv):
    """`FourSeasonsNextDealVectorEnv` with the conventions of `FourSeasonsVecEnv`."""

    @names_nearest
    def __init__(
        self,
        num_envs: int,
        seed: Seeds = None,
        *,
        rules: str | Rules = "four-seasons",
        candidates: int = 32,
        expansions: int = 60,
        endings: str = "search",
        ending_expansions: int = 400,
        order: str = "advice",
        observation: str = "features",
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
        copy: bool = True,
        num_threads: int | None = 1,
        max_episode_steps: int | None = None,
    ) -> None:
        """Make the environment; `FourSeasonsNextDealVectorEnv` says more about its arguments.

        Args:
            num_envs: number of games.
            seed: as for `seed`; None for random deals. A model with a seed replaces it by its own.
            rules: a rule set's name or a `Rules`.
            candidates: maximum number of positions offered.
            expansions: maximum number of positions that the search for candidates expands.
            endings: `"search"` or `"policy"`.
            ending_expansions: maximum number of positions that the search for a win expands.
            order: `"advice"` or `"breadth"`.
            observation: `"features"`, `"tops"` or `"cards"`.
            reward: `"foundation"`, `"win"` or a callable.
            illegal: `"stay"` or `"raise"`.
            render_mode: None, `"ansi"` or `"rgb_array"`.
            max_moves: moves until an episode is truncated.
            reveal_deal: whether infos have `deal`.
            deals: numbers of deals to draw from; None for all training deals.
            starts: positions in which episodes begin, a list of games or a `Games`; None for deals.
            allow_test_deals: whether `deals` and `starts` may hold test deals.
            copy: return copies, not views of buffers that the next step overwrites.
            num_threads: threads that share the games; None for as many as pay.
            max_episode_steps: as `max_moves`, by Gymnasium's name; the smaller of the two counts.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        self._play(FourSeasonsNextDealVectorEnv(**arguments_in(locals(), "seed")), seed)


def _row(observations: Any, index: int) -> Any:
    """A copy of one game's observation."""
    if isinstance(observations, dict):
        return {key: _row(each, index) for key, each in observations.items()}
    return observations[index].copy()
