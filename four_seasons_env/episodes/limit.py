"""One limit of an episode: what an environment's spec says of it is what the environment keeps."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from four_seasons_env.episodes.batch import RunningGames, check_positive

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec


def shorter(max_moves: int, max_episode_steps: int | None) -> int:
    """The limit of games of which both are asked.

    Raises:
        ValueError: for a limit that is not a positive integer.
    """
    if max_episode_steps is None:
        return max_moves
    check_positive("max_episode_steps", max_episode_steps)
    return min(check_positive("max_moves", max_moves), max_episode_steps)


class LimitInSpec:
    """For environments over a batch: `spec.max_episode_steps` is the `max_moves` of the games.

    The limit is not registered. Gymnasium would then wrap each environment in a `TimeLimit` of that
    many steps, whatever `max_moves` is, which calls a game truncated that is won with its last
    move. A `TimeLimit` that one asks for, by `gym.make(..., max_episode_steps=...)`, comes on top.
    """

    _batch: RunningGames
    _spec: EnvSpec | None = None

    @property
    def spec(self) -> Any:
        """What `gym.make` or `gym.make_vec` has made this environment of, if they have."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:
            spec = dataclasses.replace(spec, max_episode_steps=self._batch.max_moves)
        self._spec = spec
