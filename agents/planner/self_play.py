"""Games that the planner plays to learn from, and the targets that they give.

Each decision of a game ends in a position about to deal. Its target is the lambda-return: a mean of
the values of the positions that followed, weighted less the later they come, and of the game's
outcome. Workers play the games; they import this file, which does without torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from four_seasons_env.agents.network.evaluation import network_of
from four_seasons_env.agents.planner.best_stop import (
    HEADS,
    SearchLimits,
    best_stop_or_win,
    new_evaluator,
    turn,
)
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import GAME, start
from four_seasons_env.positions.features import row_length, write_row
from four_seasons_env.positions.search import WON, may_stop
from four_seasons_env.rules import Rules
from four_seasons_env.schemas import Amount, Positive, Rate, Share

ROWS_PER_GAME = 64
"""Rows that each game has room for. It needs 53 at most, one for each card of a stock and the last
decision (a redeal hides nothing, so it adds none); compiled code writes them without a check."""


@dataclass(kw_only=True)
class PlannerSettings:
    """How the planner learns: the hyperparameters in `planner.yaml`."""

    layers: Annotated[list[Positive], Meta(min_length=4, max_length=4)]
    """Widths of the network; see `four_seasons_env.agents.network.sums.Widths`."""
    games: Positive
    """Games between two updates."""
    positions: Positive
    """Maximum number of positions that a search holds, while cards are hidden."""
    expansions: Positive
    """Maximum number of positions that a search expands, while cards are hidden."""
    ending_positions: Positive
    """Maximum number of positions that a search for a win holds, once nothing is hidden."""
    ending_expansions: Positive
    td_lambda: Share
    """Weight of the later values in a target at first; it changes evenly to the final one."""
    final_td_lambda: Share
    """Late in a run the values are good, and a target that relies on them varies less."""
    batch_size: Positive
    learning_rate: Rate
    """The learning rate of AdamW at first; falls by equal factors to the final one over the run."""
    final_learning_rate: Rate
    weight_decay: Amount
    """Decay of the weights by AdamW; without it the network learns single games by heart."""
    averaging: Share
    """The saved network is a mean over about this share of the games so far (Polyak and Juditsky
    1992)."""

    def rate(self, done: float) -> float:
        """The learning rate when this share of the run is done, 0 to 1."""
        fall = self.final_learning_rate / self.learning_rate
        return float(self.learning_rate * fall**done)

    def lambda_at(self, done: float) -> float:
        """`td_lambda` when this share of the run is done, 0 to 1."""
        return self.td_lambda + done * (self.final_td_lambda - self.td_lambda)


@jit
def _play_deals(deals, evaluator, search, limits, td_lambda, game, rows):
    """Play deals, and write the positions that were chosen.

    Args:
        deals: their numbers, int64 of shape (n,).
        evaluator: `four_seasons_env.agents.planner.best_stop.Evaluator`.
        search: buffers with room for the largest search of the limits.
        limits: `four_seasons_env.agents.planner.best_stop.SearchLimits`.
        td_lambda: weight of later values in a target, float32.
        game: GAME (1,), scratch.
        rows: int16 of shape (n * `ROWS_PER_GAME`, slots), written: the positions' features.

    Returns:
        The targets of the positions, float32 of shape (written,), and how many games were won.
    """
    rule = evaluator.rule
    targets = np.zeros(len(rows), np.float32)
    written = won_games = 0
    for deal in deals:
        # 1. Play the deal: decide, write the position, turn the card, until it ends.
        start(game[0], rule, deal)
        first = written
        while True:
            best, over = best_stop_or_win(game[0], evaluator, search, limits)
            won = search.values[best] == WON
            over = over or won or not may_stop(search, best)
            write_row(game[0] if over else search.positions[best], rule, rows[written])
            targets[written] = np.float32(won) if over else search.values[best]
            written += 1
            if over:
                break
            turn(search, best, rule, game)
        won_games += won
        # 2. Backwards from the result: each target is the lambda-return of what followed. With
        # lambda 0.9, values 0.5 and 0.6, and a win: 1 for the last, 0.96 for the one before.
        following = np.float32(won)
        for i in range(written - 1, first - 1, -1):
            value = targets[i]
            targets[i] = following
            following = td_lambda * following + (np.float32(1) - td_lambda) * value
    return targets[:written], won_games


class Task(NamedTuple):
    """Games to play."""

    rules: Rules
    settings: PlannerSettings  # of which the limits of searches apply
    td_lambda: float


class Played(NamedTuple):
    """Games that have been played, one after the other."""

    rows: NDArray[np.int16]  # (n, slots), the positions chosen
    targets: NDArray[np.float32]  # (n,)
    won: int


def play_part(
    work: tuple[Task, NDArray[np.int64]], weights: dict[str, NDArray[np.float32]]
) -> Played:
    """Play deals; a game depends on its deal and the weights alone.

    Args:
        work: a `Task`, and its deals, int64 of shape (n,).
        weights: of the network, by name.
    """
    (rules, settings, td_lambda), deals = work
    network = network_of(weights, settings.layers, HEADS)
    limits = SearchLimits(**{name: getattr(settings, name) for name in SearchLimits._fields})
    rows = np.zeros((len(deals) * ROWS_PER_GAME, row_length(rules.piles)), np.int16)
    targets, won = _play_deals(
        deals,
        new_evaluator(rules, network),
        limits.new_search(rules),
        limits,
        np.float32(td_lambda),
        np.zeros(1, GAME),
        rows,
    )
    return Played(rows[: len(targets)], targets, int(won))
