"""One limit of an episode, on which an environment and its spec agree."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from four_seasons_env.episodes.running import RunningGames

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec


class LimitInSpec:
    """For environments over a batch: `spec.max_episode_steps` is the `max_moves` of the games.

    The limit is not registered. Otherwise Gymnasium would wrap each environment in a `TimeLimit` of
    that many steps, whatever `max_moves` is, and would truncate games that are won with their last
    move. `gym.make(..., max_episode_steps=...)` adds a `TimeLimit` to this limit.
    """

    _batch: RunningGames
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> Any:
        """The spec that `gym.make` or `gym.make_vec` has made this environment from, if any."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            spec = dataclasses.replace(spec, max_episode_steps=self._batch.max_moves)
        self._spec = spec
