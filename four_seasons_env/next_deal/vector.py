"""`FourSeasonsNextDealVectorEnv`: many games of choices among positions in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.moves import Move
from four_seasons_env.episodes.batch import MAX_MOVES, check_positive
from four_seasons_env.next_deal.batch import NextDealBatch
from four_seasons_env.next_deal.env import CANDIDATES, ENDING_EXPANSIONS, EXPANSIONS
from four_seasons_env.rewards import RewardFunction
from four_seasons_env.rules import Rules
from four_seasons_env.vector import GameVectorEnv


class FourSeasonsNextDealVectorEnv(GameVectorEnv):
    """Many games of `FourSeasonsNextDealEnv`, stepped in one call, without Python per game.

    Seeds, autoreset, `final_obs`, `final_info`, `copy` and `num_threads` are as in
    `FourSeasonsVectorEnv`; the other arguments are those of `FourSeasonsNextDealEnv`. Observations
    are dictionaries of arrays, `infos["moves"]` is int16 of shape (n, longest): the moves of each
    game's last action, then -1.

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
        copy: bool = True,
        num_threads: int = 1,
        reveal_deal: bool = True,
    ) -> None:
        check_positive("num_envs", num_envs)
        batch = NextDealBatch(
            num_envs,
            rules,
            candidates=candidates,
            expansions=expansions,
            endings=endings,
            ending_expansions=ending_expansions,
            order=order,
            observation=observation,
            reward=reward,
            illegal=illegal,
            max_moves=max_moves,
            threads=num_threads,
        )
        super().__init__(batch, render_mode, copy, reveal_deal)

    def moves_of(self, index: int, action: int) -> list[Move]:
        """The moves behind an action of a game; see `FourSeasonsNextDealEnv.moves_of`."""
        self._batch.check_started()
        return self._batch.moves_of(index, action)

    def candidates_like(
        self, before: NDArray[Any], after: NDArray[Any], moves: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Which candidates a move-level player has decided for; see `NextDealBatch`."""
        return self._batch.candidates_like(before, after, moves)

    def _as_observations(
        self, observations: NDArray[Any], masks: NDArray[np.int8]
    ) -> dict[str, NDArray[Any]]:
        return {"observation": observations, "action_mask": masks}

    def _infos(self) -> dict[str, Any]:
        infos = super()._infos()
        infos["moves"] = self._give(self._batch.played)
        infos["_moves"] = self._give(self._all)
        return infos
