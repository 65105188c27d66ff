"""`FourSeasonsNextDealVectorEnv`: many games of choices among positions in one compiled call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from four_seasons_env.engine.moves import Move
from four_seasons_env.episodes.autoreset import check_autoreset_mode
from four_seasons_env.episodes.settings import MAX_MOVES
from four_seasons_env.next_deal.batch import NextDealBatch
from four_seasons_env.next_deal.settings import (
    CANDIDATES,
    ENDING_EXPANSIONS,
    EXPANSIONS,
    NextDealSettings,
)
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules, get_rules
from four_seasons_env.vector import GameVectorEnv


class FourSeasonsNextDealVectorEnv(GameVectorEnv):
    """Many games of `FourSeasonsNextDealEnv`, stepped in one call, without Python per game.

    Seeds, `autoreset_mode`, `final_obs`, `final_info`, `copy`, `num_threads` and
    `max_episode_steps` are as in `FourSeasonsVectorEnv`; the other arguments are those of
    `FourSeasonsNextDealEnv`. Observations are dictionaries of arrays, `infos["moves"]` is int16 of
    shape (n, longest): the moves of each game's last action, then -1.

    Raises:
        ValueError: for an argument that is unknown or out of range.
    """

    _batch: NextDealBatch

    def __init__(
        self,
        num_envs: int = 1,
        rules: str | Rules = "four-seasons",
        candidates: int = CANDIDATES,
        expansions: int = EXPANSIONS,
        endings: str = "search",
        ending_expansions: int = ENDING_EXPANSIONS,
        order: str = "advice",
        observation: str = "features",
        *,
        reward: str | RewardFunction = "foundation",
        illegal: str = "stay",
        render_mode: str | None = None,
        max_moves: int = MAX_MOVES,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        copy: bool = True,
        num_threads: int = 1,
        max_episode_steps: int | None = None,
        reveal_deal: bool = True,
        deals: Iterable[int] | None = None,
        allow_test_deals: bool = False,
    ) -> None:
        settings = NextDealSettings(
            num_envs=num_envs,
            rules=get_rules(rules),
            candidates=candidates,
            expansions=expansions,
            endings=endings,
            ending_expansions=ending_expansions,
            order=order,
            observation=observation,
            reward=reward,
            illegal=illegal,
            render_mode=render_mode,
            max_moves=max_moves,
            autoreset_mode=check_autoreset_mode(autoreset_mode),
            copy=copy,
            num_threads=num_threads,
            max_episode_steps=max_episode_steps,
            reveal_deal=reveal_deal,
            deals=deals,
            allow_test_deals=allow_test_deals,
        )
        super().__init__(NextDealBatch(settings))

    def moves_of(self, index: int, action: int) -> list[Move]:
        """The moves behind an action of a game; see `FourSeasonsNextDealEnv.moves_of`."""
        self._batch.check_started()
        return self._batch.moves_of(index, action)

    def candidates_like(
        self, before: NDArray[Any], after: NDArray[Any], moves: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The candidates that match a player's moves; see `NextDealBatch.candidates_like`."""
        return self._batch.candidates_like(before, after, moves)

    def _as_observations(
        self, observations: NDArray[Any], masks: NDArray[np.int8]
    ) -> dict[str, NDArray[Any]]:
        return {"observation": observations, "action_mask": self._give(masks)}

    def _info_arrays(self) -> dict[str, NDArray[Any]]:
        return super()._info_arrays() | {"moves": self._batch.played}
