"""The decision of a player of moves, as an action of the next-deal environment."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.registry import Agent
from four_seasons_env.engine import kernel
from four_seasons_env.next_deal.vector import FourSeasonsNextDealVectorEnv

_LONGEST = 60
"""Moves of a decision at most; a teacher that needs more is taken to repeat positions."""


def choice_of(
    teacher: Agent, env: FourSeasonsNextDealVectorEnv, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Let a teacher continue each game until a card is turned, and find that position.

    The teacher sees reshuffled stocks.

    Returns:
        The action of each game, int64 of shape (n,); -1 where the position is not a candidate.
    """
    rule = kernel.compile_rules(env.rules)
    games = env.games.copy()
    kernel.reshuffle_unseen_all(games, rule, rng.integers(0, 2**63, len(games), np.uint64))
    words, masks = kernel.new_masks(len(games), env.rules)
    goes_on = np.zeros(len(games), np.bool_)
    choice = np.full(len(games), -1, np.int64)
    undecided = np.ones(len(games), np.bool_)
    for _ in range(_LONGEST):
        kernel.legal_all(games, rule, teacher.mask == "distinct", words, goes_on)
        undecided &= goes_on
        if not undecided.any():
            break
        moves = np.zeros(len(games), np.int64)
        moves[undecided] = teacher.act(games[undecided], masks[undecided], rng)
        before = games.copy()
        playing = games[undecided]
        kernel.play_all(playing, rule, moves[undecided])
        games[undecided] = playing
        found, ended = env.candidates_like(before, games, moves)
        ended &= undecided
        choice[ended] = found[ended]
        undecided &= ~ended
    return choice
