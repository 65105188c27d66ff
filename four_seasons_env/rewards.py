"""Rewards: `foundation` (the default) and `win`, or a custom function.

A custom reward is called as ``reward(before, after)`` with two GAME arrays of shape (n,), the
positions before and after a step (for an episode that has ended, ``after`` is its final position),
and returns n finite numbers, or one for all games. It is called once in each step for all games; n
is 1 in the single environment. ``after`` is read-only, because the games go on from there.

Examples:
    A point for each card that goes up:

    >>> import gymnasium as gym
    >>> def cards(before, after):
    ...     return after["cards_up"].astype(float) - before["cards_up"]
    >>> env = gym.make("FourSeasons-v0", reward=cards)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import nearest
from four_seasons_env.engine.jit import jit

RewardFunction = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

REWARDS = ("foundation", "win")
FOUNDATION, WIN = range(len(REWARDS))
CUSTOM = -1

ILLEGAL_PENALTY = 0.01
"""Cost of an illegal action with ``illegal="stay"``: half of what a card put up earns."""


@jit
def reward_of(kind, rule, put_up, won):
    """The reward of a step, by its kind.

    Args:
        kind: FOUNDATION, the share of the deck put up in this step, plus 1 on winning, so that a
            won game earns about 2; or WIN, 1 on winning; or CUSTOM, 0: `earn` adds it later.
        rule: the compiled rule set.
        put_up: cards put up in this step, negative if some were worried back.
        won: whether the game is won.
    """
    if kind == FOUNDATION:
        return put_up / rule.cards + (1.0 if won else 0.0)
    if kind == WIN:
        return 1.0 if won else 0.0
    return 0.0


def check_reward(reward: str | RewardFunction) -> int:
    """A reward's number for the compiled functions, CUSTOM for a callable.

    Raises:
        ValueError: for an unknown reward, with the nearest one.
    """
    if callable(reward):
        return CUSTOM
    if not isinstance(reward, str) or reward not in REWARDS:
        raise ValueError(
            f"unknown reward {reward!r}: {nearest(reward, REWARDS)}, or a callable(before, after)"
        )
    return REWARDS.index(reward)


def earn(
    reward: RewardFunction, before: NDArray[Any], after: NDArray[Any], unpaid: NDArray[np.bool_]
) -> NDArray[Any]:
    """The custom rewards of a step, from one call for all games.

    Args:
        reward: the function.
        before: GAME array of shape (n,), the positions before the step.
        after: the positions after it.
        unpaid: bool of shape (n,), the games that earn 0, whatever the function returns.

    Raises:
        ValueError: if the function returns neither one number for each game nor one for all, or
            a number that is not finite.
    """
    count = len(before)
    earned = np.asarray(reward(before, after))
    if earned.shape not in ((), (count,)) or earned.dtype.kind not in "biuf":
        raise ValueError(
            f"the reward must return numbers of shape ({count},), one per game, or one for all, "
            f"not {earned.dtype} of shape {earned.shape}"
        )
    paid: NDArray[Any] = np.where(unpaid, 0.0, earned)
    if not np.isfinite(paid).all():
        game = int(np.isfinite(paid).argmin())
        raise ValueError(f"the reward must be finite, not {paid[game]} in game {game}")
    return paid
