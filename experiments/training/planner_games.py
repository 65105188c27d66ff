"""The planner's games in a training, split over workers: the same games however they are split.

A game depends on its deal and the weights alone. Workers import this file, which does without
torch.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.agents.planner.agent import PlannerAgent
from four_seasons_env.agents.planner.self_play import Played, SelfPlay
from four_seasons_env.agents.planner.value_learning import Hyperparameters, self_play_of
from four_seasons_env.agents.planner.value_network import Network
from four_seasons_env.engine.kernel import GAME
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.parallel.pool import Pool
from four_seasons_env.rules import Rules

Deals = NDArray[np.int64] | range


@dataclass(frozen=True)
class _Games:
    """What a worker needs to know of the games that it plays, beside the weights."""

    rules: Rules
    settings: Hyperparameters
    deals: Deals


class PlannerGames:
    """Plays the planner's games on a pool of workers.

    Args:
        rules: the rule set to play.
        settings: with the limits of its searches.
        pool: the workers.
    """

    def __init__(self, rules: Rules, settings: Hyperparameters, pool: Pool) -> None:
        self._rules, self._settings, self._pool = rules, settings, pool

    def play(self, network: Network, deals: NDArray[np.int64]) -> Played:
        """Play deals to learn from; see
        `four_seasons_env.agents.planner.self_play.SelfPlay.play`."""
        parts = self._pool.map(_play, self._parts(deals), *network)
        positions = np.empty(sum(len(part.positions) for part in parts), GAME)
        np.concatenate([part.positions for part in parts], out=positions)
        targets = np.concatenate([part.targets for part in parts])
        return Played(positions, targets, sum(part.won for part in parts))

    def validate(self, network: Network, deals: range) -> pd.DataFrame:
        """Play deals as the planner does in training, without votes; see `play_deals`."""
        parts = self._pool.map(_validate, self._parts(deals), *network)
        return pd.concat(parts, ignore_index=True)

    def _parts(self, deals: Deals) -> list[_Games]:
        """Parts of deals, each half of a worker's share of what is left: workers end together."""
        parts = []
        while len(deals):
            count = max(len(deals) // (2 * self._pool.size), 1)
            parts.append(_Games(self._rules, self._settings, deals[:count]))
            deals = deals[count:]
        return parts


@functools.lru_cache(maxsize=1)
def _self_play(rules: Rules, settings: Hyperparameters) -> SelfPlay:
    """Kept by a worker, with its buffers, from one part to the next."""
    return self_play_of(rules, settings)


def _play(games: _Games, *network: NDArray[np.float32]) -> Played:
    deals = np.asarray(games.deals)
    return _self_play(games.rules, games.settings).play(Network(*network), deals)


def _validate(games: _Games, *network: NDArray[np.float32]) -> pd.DataFrame:
    settings = games.settings
    agent = PlannerAgent(
        games.rules,
        Network(*(each.copy() for each in network)),
        nodes=settings.nodes,
        expansions=settings.expansions,
        endgame=0,
    )
    return play_deals(agent, games.rules, games.deals)
