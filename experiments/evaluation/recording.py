"""`play_recorded`: deals played as a comparison plays them, and the games as moves."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.experiments.evaluation.people import Person
from four_seasons_env.experiments.evaluation.play import play_deals
from four_seasons_env.experiments.evaluation.players import Player
from four_seasons_env.play.records import Record
from four_seasons_env.rules import Rules


def play_recorded(
    player: Player, rules: Rules, deals: Sequence[int], seed: int = 0
) -> tuple[pd.DataFrame, list[Record]]:
    """Play deals as a comparison does; people have played theirs already.

    Args:
        player: who plays.
        rules: the rule set.
        deals: the deals' numbers.
        seed: of the agent's chance and of the reshuffles.

    Returns:
        The results, see `play_deals`, and the games in the same order.
    """
    if isinstance(player, Person):
        return player.results(deals), player.games(deals)
    moves = all_moves(rules)
    played: list[list[str]] = [[] for _ in deals]

    def note(games: NDArray[np.int64], numbers: NDArray[np.int64]) -> None:
        for game, number in zip(games.tolist(), numbers.tolist(), strict=True):
            played[game].append(moves[number].text)

    results = play_deals(
        player.make(rules), rules, deals, seed, forbid_repeats=player.forbids_repeats, watch=note
    )
    return results, [
        Record(rules.name, tuple(texts), deal=int(deal), player=player.agent)
        for deal, texts in zip(deals, played, strict=True)
    ]


def warm_up(player: Player, rules: Rules) -> None:
    """Have another agent of a player's kind play a training deal, once in this process.

    What has to be compiled or loaded for that then belongs to the time of no deal that counts.
    """
    if not isinstance(player, Person):
        _warm_up(player, rules)


@functools.cache
def _warm_up(player: Player, rules: Rules) -> None:
    play_deals(player.make(rules), rules, [TRAIN_FROM], forbid_repeats=player.forbids_repeats)
