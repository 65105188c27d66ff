"""`FourSeasonsVectorEnv`: thousands of games in one compiled call.

The games are those of one batch (`episodes.running`). This file returns what they leave in their
buffers, as copies or as views.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from four_seasons_env.arguments import check_integers, names_nearest, nearest
from four_seasons_env.env import (
    GameEnv,
    GameView,
    LimitInSpec,
    fixed_arguments,
    refuse_setting,
)
from four_seasons_env.episodes.options import (
    RESET_MASK,
    check_reset_mask,
    read_options,
    read_seeds,
)
from four_seasons_env.episodes.running import Batch, RunningGames
from four_seasons_env.episodes.settings import Deals, MoveSettings, Starts, arguments_in
from four_seasons_env.game import MAX_MOVES
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules

FOR_ALL_GAMES = ("set_deals", "set_starts")
"""Methods of one game that replace something of all games of its batch."""

_INFO_KEYS = ("deal", "cards_up", "won", "illegal")


class GameVectorEnv(LimitInSpec, gym.vector.VectorEnv[Any, NDArray[np.int64], Any]):
    """The part that the vector environments share, whatever an action is."""

    metadata: dict[str, Any] = GameEnv.metadata

    def __init__(self, batch: RunningGames) -> None:
        self._batch, self._copy, self._mode = batch, batch.settings.copy, batch.settings.mode
        self.metadata = {**type(self).metadata, "autoreset_mode": self._mode}
        self.single_observation_space, self.single_action_space = batch.spaces()
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._info_keys = _INFO_KEYS if batch.settings.reveal_deal else _INFO_KEYS[1:]
        self._share_buffers()

    @property
    def num_envs(self) -> int:  # type: ignore[override]
        """Number of games."""
        return len(self._batch.games)

    @property
    def rules(self) -> Rules:
        """The rule set."""
        return self._batch.rules

    @property
    def render_mode(self) -> str | None:  # type: ignore[override]
        """What `render` returns for each game."""
        return self._batch.settings.render_mode

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """When the next episode starts."""
        return self._mode

    @property
    def copy(self) -> bool:
        """Whether it returns copies, not views."""
        return self._copy

    def _share_buffers(self) -> None:
        """Make the views that infos return, and the parts that all infos share, once."""
        # `_key` of infos, Gymnasium's mask of the games that have a key: all of them.
        self._all = np.ones(self.num_envs, np.bool_)
        self._all.flags.writeable = False
        self._arrays = self._info_arrays()
        self._shared_infos = {f"_{key}": self._all for key in self._arrays} | self._arrays

    def _info_arrays(self) -> dict[str, NDArray[Any]]:
        """The buffers that infos return, by their keys."""
        episodes = self._batch.episodes
        return {"action_mask": self._batch.masks} | {key: episodes[key] for key in self._info_keys}

    def __getstate__(self) -> dict[str, Any]:
        """The state without views of the games' buffers."""
        state = vars(self).copy()
        for name in ("_all", "_arrays", "_shared_infos"):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become a copy."""
        vars(self).update(state)
        self._share_buffers()

    def _new_observations(self) -> NDArray[Any]:
        """An array to write observations into."""
        return np.empty_like(self._batch.observations) if self._copy else self._batch.observations

    @functools.cached_property
    def observation_space(self) -> gym.Space[Any]:  # type: ignore[override]
        """All games' space, built on first use: its bounds take more room than the observations."""
        return batch_space(self.single_observation_space, self.num_envs)

    @property
    def games(self) -> NDArray[Any]:
        """The positions, a GAME array of shape (n,), as a read-only view."""
        self._batch.check_started()
        games = self._batch.games.view()
        games.flags.writeable = False
        return games

    def action_masks(self) -> NDArray[np.bool_]:
        """The legal moves as a bool array of shape (n, A)."""
        self._batch.check_started()
        return self._give(self._batch.masks).view(np.bool_)

    def set_deals(self, deals: Deals | None) -> None:
        """Draw the deals of later episodes from these; None for all training deals.

        Raises:
            ValueError: for anything that the argument `deals` refuses.
        """
        self._batch.set_deals(deals)

    def set_starts(self, starts: Starts | None, share: float = 1.0, reshuffle: bool = True) -> None:
        """Begin later episodes of all games in these positions; see `GameView.set_starts`."""
        self._batch.set_starts(starts, share, reshuffle)

    def _give(self, array: NDArray[Any]) -> NDArray[Any]:
        return array.copy() if self._copy else array

    def _as_observations(self, observations: NDArray[Any], masks: NDArray[np.int8]) -> Any:
        """The observations to return, from new arrays of observations and the games' masks."""
        return observations

    def _infos(self) -> dict[str, Any]:
        infos = self._shared_infos.copy()
        if self._copy:
            for key, array in self._arrays.items():
                infos[key] = array.copy()
        return infos

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | NDArray[np.integer[Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every game, or in the games that a reset mask marks.

        Args:
            seed: game i takes the seed ``seed + i``, or ``seed[i]`` of a sequence; None continues
                with the game's training deals, or starts them at random. Two training runs with
                the seeds 0 and 1 would share almost all games: pass ``seed * num_envs``.
            options: `{"deal": number}`, `{"deal": [one number for each game]}`, `{"deck": text}`,
                `{"game": game}` or `{"game": [one Game for each game]}`; the episodes that follow
                are training deals.
                `{"reset_mask": mask}`, a bool array of shape (n,): only these games are reset, and
                only their `_key` in infos is True; the infos of the others are unchanged.

        Raises:
            ValueError: for an unknown option, a bad seed, deal, deck, game or mask.
            TypeError: if a game is not a `Game`.
            gymnasium.error.ResetNeeded: for a reset mask of a part of the games at the first reset.
        """
        # 1. Check everything before anything changes: which games, where they start, their seeds.
        batch = self._batch
        positions = read_options(options, self.rules, self.num_envs)
        chosen = self._all
        if options and RESET_MASK in options:
            chosen = check_reset_mask(options[RESET_MASK], self.num_envs)
            if not chosen.all():
                batch.check_started()
        seeds, given = read_seeds(seed, self.num_envs)
        # 2. Start the streams of training deals: from the seeds, or at random if there is none yet.
        if seed is not None and np.ndim(seed) == 0:  # type: ignore[arg-type]
            super().reset(seed=int(seeds[0]))
        if not batch.seeded and not given.all():
            drawn = self.np_random.integers(0, 2**63, self.num_envs, np.uint64)
            seeds, given = np.where(given, seeds, drawn), self._all
        if given.any():
            batch.seed(seeds, given & chosen)
        # 3. Start the episodes. In infos, `_key` is True for the games that were reset.
        observations = self._new_observations()
        batch.reset(observations, positions, chosen)
        infos = self._infos()
        if chosen is not self._all:
            infos |= dict.fromkeys([f"_{key}" for key in self._arrays], chosen.copy())
        return self._as_observations(observations, batch.masks), infos

    def step(self, actions: NDArray[np.int64]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one action in each game; actions is an integer array of shape (n,).

        With NEXT_STEP, a game whose episode ended in the step before gets its next deal instead;
        its action is ignored, and its reward is 0.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset; with DISABLED, for a game that has
                ended and was not reset.
            TypeError: for actions that are not integers.
            ValueError: for actions of a wrong shape, or out of range.
            IllegalMove: for an illegal action where `illegal="raise"`; then no game has moved.
        """
        batch = self._batch
        batch.check_started()
        actions = check_integers("actions", actions, len(self._all))
        # All games step; those that have ended get their next deals, as the autoreset mode says.
        observations = self._new_observations()
        ended = batch.step(actions, observations)
        # With SAME_STEP, infos are those of the new episodes; `final_info` is that of the old ones.
        infos = self._infos()
        if ended and self._mode is AutoresetMode.SAME_STEP:
            infos |= self._final_infos(*batch.finals(self._copy))
        elif ended:
            infos |= {"is_success": self._give(batch.episodes["won"])}
            infos |= {"_is_success": self._give(batch.done)}
        ends = self._give(batch.terminated), self._give(batch.truncated)
        observations = self._as_observations(observations, batch.masks)
        return observations, self._give(batch.rewards), *ends, infos

    def _final_infos(
        self, episodes: NDArray[Any], masks: NDArray[np.int8], observations: NDArray[Any]
    ) -> dict[str, Any]:
        """The infos of the episodes that ended in this step."""
        done = self._give(self._batch.done)
        info: dict[str, Any] = {"action_mask": masks}
        for key in self._info_keys:
            info[key] = episodes[key]
        info["is_success"] = episodes["won"]
        info["episode"] = {"r": episodes["score"], "l": episodes["steps"], "_r": done, "_l": done}
        info |= {f"_{key}": done for key in info}
        return {
            "final_obs": self._as_observations(observations, masks),
            "_final_obs": done,
            "final_info": info,
            "_final_info": done,
        }

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The answer of each game's environment: a method's result, or an attribute.

        Args:
            name: a method or an attribute of `OneOfMany`, such as `game` (a copy of the position).
            *args: arguments of the method.
            **kwargs: keyword arguments of the method.

        Raises:
            AttributeError: for a name that a game of a batch does not have.
        """
        if name in FOR_ALL_GAMES:  # checked once for all games
            getattr(self, name)(*args, **kwargs)
            return (None,) * self.num_envs
        answers = [getattr(OneOfMany(self, index), name) for index in range(self.num_envs)]
        return tuple(each(*args, **kwargs) if callable(each) else each for each in answers)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """See `call`."""
        return self.call(name)

    def set_attr(self, name: str, values: Any) -> None:
        """Refused: the games share settings that cannot change."""
        refuse_setting(name)

    def close_extras(self, **kwargs: Any) -> None:
        """End the threads."""
        self._batch.close()

    def render(self) -> tuple[Any, ...]:
        """The positions, each as the single environment renders it."""
        return self.call("render")


class OneOfMany(GameView):
    """A game of a vector environment, with the attributes of its single environment.

    Only the vector environment resets and steps it.

    Raises:
        IndexError: for an index without a game.
    """

    def __init__(self, env: GameVectorEnv, index: int) -> None:
        self._batch, self._index = env._batch, range(env.num_envs)[index]
        self.unwrapped = self
        self.observation_space = env.single_observation_space
        self.action_space = env.single_action_space
        self.spec = env.spec  # of the batch, with the limit of an episode
        if hasattr(env, "moves_of"):  # its actions are positions
            self.moves_of = functools.partial(env.moves_of, self._index)

    def __getattr__(self, name: str) -> Any:
        if hasattr(GameVectorEnv, name):
            raise AttributeError(f"one game of a batch has no {name!r}: use that of the batch")
        known = [each for each in dir(self) if not each.startswith("_")]
        raise AttributeError(f"one game of a batch has no {name!r}: {nearest(name, known)}")


@fixed_arguments
class FourSeasonsVectorEnv(GameVectorEnv):
    """Many games of `FourSeasonsEnv`, stepped in one call, without Python per game.

    Game ``i`` of ``reset(seed=s)`` plays the same deals and gives the same results as the single
    environment after ``reset(seed=s + i)``. By default the next deal follows in the step in which
    an episode ends. Observation, mask and info of that step belong to the new episode;
    `infos["final_obs"]` and `infos["final_info"]` belong to the old one, in the rows where
    `infos["_final_obs"]` is True. `infos["final_info"]["episode"]` holds its return `r` and its
    length `l`; `is_success` is the same as `won`. The keys `final_*` exist only in a step in which
    an episode has ended.

    `autoreset_mode` and `metadata["autoreset_mode"]` hold the mode. The masks `_key` in infos are
    read-only, because all of them are the same array.

    Examples:
        >>> envs = FourSeasonsVectorEnv(1024, mask="no_repeats")
        >>> observations, infos = envs.reset(seed=7)
        >>> actions = infos["action_mask"].argmax(axis=1)
        >>> observations, rewards, terminated, truncated, infos = envs.step(actions)
        >>> observations.shape, rewards.shape, infos["action_mask"].shape
        ((1024, 179), (1024,), (1024, 32))

    See Also:
        `FourSeasonsEnv`: one game, with the contract of observations and rewards.
        `four_seasons_env.adapters.sb3.FourSeasonsVecEnv`: the same batch for Stable-Baselines3.
        `evaluate`: how well a policy plays, one game for each deal.
    """

    @names_nearest
    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "four-seasons",
        observation: str = "tops",
        *,
        mask: str = "legal",
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        reveal_deal: bool = True,
        deals: Deals | None = None,
        starts: Starts | None = None,
        allow_test_deals: bool = False,
        autoreset_mode: str | AutoresetMode = "SameStep",
        copy: bool = True,
        num_threads: int | None = 1,
        max_episode_steps: int | None = None,
    ) -> None:
        """Make the environment; `FourSeasonsEnv` says more about the arguments that both have.

        Args:
            num_envs: number of games.
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
            autoreset_mode: when the next episode starts: `"SameStep"`: in the step that ends one;
                `"NextStep"`: the step after an end gives the game its next deal, whatever its
                action, with reward 0; `"Disabled"`: games that have ended are reset by
                `reset(options={"reset_mask": terminated | truncated})`. Or a
                `gymnasium.vector.AutoresetMode`.
            copy: return copies. With False, observations, rewards, masks and infos are views of
                buffers that the next step overwrites: somewhat faster, for callers that copy
                anyway. Do not write into them: the next step trusts its masks. The rows of
                `final_obs` and `final_info` for games that have not ended mean nothing then.
            num_threads: threads that share the games; the results do not depend on it. None: as
                many as make this batch faster, and no more than the cores that this process may
                use, by its affinity and its container's quota. A forked process starts its own
                threads.
            max_episode_steps: as `max_moves`, by Gymnasium's name; the smaller of the two counts.

        Raises:
            ValueError: for an argument that is out of range, with the nearest valid one.
            TypeError: for an unknown argument, with the nearest one.
        """
        super().__init__(Batch(MoveSettings(**arguments_in(locals()))))
