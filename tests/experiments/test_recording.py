"""The times of a comparison do not include compiling in a first game."""

import time

import numpy as np
import pandas as pd

from four_seasons_env.agents import make_agent
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.matches.play import play_deals, play_games
from four_seasons_env.experiments.matches.players import find_players
from four_seasons_env.rules import RULES

FOUR_SEASONS = RULES["four-seasons"]
COMPILING = 0.5
"""Seconds."""


class Late:
    """The heuristic with a slow first move per process."""

    mask = "distinct"
    compiled = False

    made: list["Late"] = []

    def __init__(self) -> None:
        self.inner = make_agent("heuristic")
        self.games = 0
        Late.made.append(self)

    def act(self, games: np.ndarray, masks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        if not Late.compiled:
            time.sleep(COMPILING)
        Late.compiled = True
        self.games = max(self.games, len(games))
        return self.inner.act(games, masks, rng)


def test_compiling_is_not_timed() -> None:
    (player,) = find_players([f"late={__name__}:Late"], "four-seasons")
    Late.made.clear()
    for _ in range(2):
        played = play_games(player, FOUR_SEASONS, range(TRAIN_FROM, TRAIN_FROM + 3))
    assert played["seconds"].sum() < COMPILING
    assert [agent.games for agent in Late.made] == [1, 3, 3]  # once, by another agent
    alone = play_deals(Late(), FOUR_SEASONS, range(TRAIN_FROM, TRAIN_FROM + 3))
    pd.testing.assert_frame_equal(
        played.drop(columns=["seconds", "game"]), alone.drop(columns="seconds")
    )
