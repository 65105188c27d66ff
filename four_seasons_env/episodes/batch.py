"""`Batch`: a batch of running games whose actions are moves."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.kernel import new_masks
from four_seasons_env.episodes import stepping
from four_seasons_env.episodes.running import RunningGames
from four_seasons_env.episodes.settings import MoveSettings
from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.observations import (
    KINDS,
    SHOWN,
    largest_counts,
    observation_length,
    observation_space,
    show_all,
)


class Batch(RunningGames):
    """Running games whose actions are moves.

    Attributes:
        observations: array of shape (n, L).
    """

    _compiled = stepping
    settings: MoveSettings

    def __init__(self, settings: MoveSettings) -> None:
        super().__init__(settings)
        count, observation = len(self.games), settings.observation
        self._settings = stepping.CompiledSettings(
            **self._common_settings(),
            distinct=settings.mask == "distinct",
            observation=KINDS[observation],
            shares=(1 / largest_counts(self.rules, observation)).astype(np.float32),
        )
        words, self.masks = new_masks(count, self.rules)  # the same memory
        shape = (count, observation_length(self.rules, observation))
        self.observations = np.zeros(shape, np.float32)
        self._buffers = stepping.Buffers(
            **self._common_buffers(),
            words=words,
            shown=np.zeros(count, SHOWN),
            counts=np.zeros(shape, np.uint8),
        )
        self._share_buffers()

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """See `RunningGames.spaces`."""
        actions = gym.spaces.Discrete(self.masks.shape[1])
        return observation_space(self.rules, self.settings.observation), actions

    def observe(self, out: NDArray[Any]) -> None:
        """See `RunningGames.observe`."""
        show_all(self._buffers.counts, self._settings.shares, out)

    def _observe_some(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        stepping.show_some(self._buffers.counts, self._settings.shares, out, chosen)

    def _deal_again(self, chosen: NDArray[np.bool_], out: NDArray[Any]) -> None:
        if not self._drawn_from:  # one call takes less time than several
            stepping.deal_again(self._whole, out, chosen)
        else:
            super()._deal_again(chosen, out)

    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        # The game knows why a move breaks the rules. If it plays the move, then only the mask has
        # left it out.
        try:
            Game.from_own_record(self.games[index], self.rules).play(action)
        except IllegalMove as error:
            raise IllegalMove(f"action {action}{where}: {error}") from None
        raise IllegalMove(
            f"action {action}{where} only renames spaces, which mask='distinct' leaves out"
        )
