"""`FourSeasonsNextDealVectorEnv`: many games of choices among positions in one compiled call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import takes
from four_seasons_env.engine.moves import Move
from four_seasons_env.next_deal.batch import NextDealBatch
from four_seasons_env.next_deal.settings import NextDealVectorSettings
from four_seasons_env.vector import GameVectorEnv


class FourSeasonsNextDealVectorEnv(GameVectorEnv):
    """Many games of `FourSeasonsNextDealEnv`, stepped in one call, without Python per game.

    Seeds, `final_obs` and `final_info` are as in `FourSeasonsVectorEnv`. Observations are
    dictionaries of arrays, `infos["moves"]` is int16 of shape (n, longest): the moves of each
    game's last action, then -1.
    """

    _batch: NextDealBatch

    @takes(NextDealVectorSettings)
    def __init__(self, settings: NextDealVectorSettings) -> None:
        super().__init__(NextDealBatch(settings), settings)

    def moves_of(self, index: int, action: int) -> list[Move]:
        """The moves behind an action of a game; see `FourSeasonsNextDealEnv.moves_of`."""
        self._batch.check_started()
        return self._batch.moves_of(index, action)

    def _as_observations(
        self, observations: NDArray[Any], masks: NDArray[np.int8]
    ) -> dict[str, NDArray[Any]]:
        return {"observation": observations, "action_mask": self._give(masks)}

    def _info_arrays(self) -> dict[str, NDArray[Any]]:
        return super()._info_arrays() | {"moves": self._batch.played}
