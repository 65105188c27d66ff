"""`NextDealBatch`: a batch of running games whose actions are positions."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from four_seasons_env.arguments import whole_number
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import Move, all_moves
from four_seasons_env.episodes.running import RunningGames
from four_seasons_env.game import IllegalMove
from four_seasons_env.next_deal import stepping
from four_seasons_env.next_deal.settings import NextDealSettings
from four_seasons_env.observations import KINDS, observation_length
from four_seasons_env.positions.enumeration import ORDERS
from four_seasons_env.positions.features import GAME_ROWS, PILE_ROWS, SUIT_ROWS, row_length
from four_seasons_env.positions.search import write_path


class NextDealBatch(RunningGames):
    """Running games whose actions are positions."""

    _compiled = stepping

    def __init__(self, settings: NextDealSettings) -> None:
        super().__init__(settings)
        self._settings = stepping.CompiledNextDealSettings(
            **self._common_settings(),
            free=compile_rules(self.rules.without_refills),
            observation=KINDS.get(settings.observation),
            order=ORDERS.index(settings.order),
            expansions=int(settings.expansions),
            endings=stepping.ENDINGS.index(settings.endings),
            ending_expansions=int(settings.ending_expansions),
        )
        count, k = len(self.games), int(settings.candidates)
        self.masks = np.zeros((count, k), np.int8)
        if settings.observation == "features":
            self.observations = np.zeros((count, k, row_length(self.rules.piles)), np.int16)
        else:
            length = observation_length(self.rules, settings.observation)
            self.observations = np.zeros((count, k, length), np.float32)
        self.played = np.full((count, stepping.LONGEST), -1, np.int16)
        # int16 and uint8 are wide enough: a search holds at most 2^14 positions
        # (`search.new_search`), and no rule set has 256 moves.
        held = stepping.held(settings.expansions) + 1
        self._buffers = stepping.NextDealBuffers(
            **self._common_buffers(),
            observations=self.observations,
            rows=np.zeros((count, k), np.int16),
            deals=np.zeros((count, k), np.bool_),
            parents=np.zeros((count, held), np.int16),
            moves=np.zeros((count, held), np.uint8),
            played=self.played,
        )
        self._share_buffers()

    def spaces(self) -> tuple[gym.Space[Any], gym.spaces.Discrete]:
        """See `RunningGames.spaces`."""
        rows = self.observations
        largest = max(SUIT_ROWS, PILE_ROWS, GAME_ROWS) if rows.dtype == np.int16 else 1
        masks = gym.spaces.Box(0, 1, self.masks.shape[1:], np.int8)
        candidates = gym.spaces.Box(0, largest, rows.shape[1:], rows.dtype.type)
        both = gym.spaces.Dict({"observation": candidates, "action_mask": masks})
        return both, gym.spaces.Discrete(self.masks.shape[1])

    def _new_scratch(self) -> stepping.Scratch:
        settings = self._settings
        # One search serves both purposes in turn: offering candidates, and playing endings.
        most = max(settings.expansions, settings.ending_expansions)
        return stepping.new_scratch(self.rules, self.masks.shape[1], most)

    def played_by(self, index: int) -> list[int]:
        """The moves of a game's last action."""
        played = self.played[index]
        return [int(move) for move in played[played >= 0]]

    def moves_of(self, index: int, action: int) -> list[Move]:
        """The moves of an action of a game, including the deal that ends it.

        Raises:
            ValueError: for an action that is not offered.
            TypeError: for an action that is not an integer.
        """
        action = whole_number("action", action)
        offered = int(self.masks[index].sum())
        if not 0 <= action < offered:
            raise ValueError(f"action {action} is not offered: there are {offered} candidates")
        path = np.zeros(stepping.LONGEST, np.int64)
        own = self._buffers
        row = int(own.rows[index, action])
        length = write_path(row, own.parents[index], own.moves[index], path)
        moves = all_moves(self.rules)
        deal = [moves[0]] if own.deals[index, action] else []
        return [moves[number] for number in path[:length]] + deal

    def _refuse_illegal(self, index: int, action: int, where: str) -> None:
        offered = int(self.masks[index].sum())
        raise IllegalMove(f"action {action}{where} is not offered: there are {offered} candidates")
