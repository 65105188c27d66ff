"""`evaluate`: what a policy of any library comes to on named deals, with masks.

A policy that is shown no masks mostly chooses illegal moves, after which the position stays: its
games do not fail, they stand still until the episode is cut. So masks are handed to the policy
here, and what it has done against them is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

Policy = Callable[[Any, NDArray[np.int8]], Any]
"""From observations of n games, and masks of shape (n, A), to n actions."""

FIRST_DEAL = 10_000
"""The first of the validation deals."""


class Evaluation(NamedTuple):
    """What a policy came to, one game a deal."""

    games: int
    won: float
    """Share of the games."""
    cards_up: float
    """Cards on the foundations at the end, the mean."""
    illegal: int
    """Actions against the mask, in all games together."""


def evaluate(
    envs: gym.vector.VectorEnv[Any, Any, Any], policy: Policy, deal: int = FIRST_DEAL
) -> Evaluation:
    """Play one game of each of ``envs.num_envs`` consecutive deals.

    Args:
        envs: a native vector environment of this package, as `gymnasium.make_vec` gives it, or that
            in `VectorMaskInObservation`; it is reset.
        policy: called with what the environment gives out and with `infos["action_mask"]`, int8 of
            shape (n, A), of all games at once; returns n actions. What it answers for games that
            are over is not counted.
        deal: the first deal. Deals 10,000 to 19,999 are there to choose by, 0 to 9,999 to report.

    Raises:
        ValueError: for actions that are not n integers in range, or a negative deal.
    """
    count = envs.num_envs
    observations, infos = envs.reset(options={"deal": [deal + i for i in range(count)]})
    over = np.zeros(count, np.bool_)
    won, cards_up, illegal = np.zeros(count), np.zeros(count), 0
    while not over.all():
        masks = infos["action_mask"]
        actions = np.asarray(policy(observations, masks)).astype(np.int64).reshape(count)
        actions[over] = masks[over].argmax(axis=1)  # of episodes that are not looked at
        observations, _, terminated, truncated, infos = envs.step(actions)
        ended = (terminated | truncated) & ~over
        last = infos.get("final_info", infos)
        illegal += int(np.where(ended, last["illegal"], infos["illegal"])[~over].sum())
        won[ended], cards_up[ended] = last["won"][ended], last["cards_up"][ended]
        over |= ended
    return Evaluation(count, float(won.mean()), float(cards_up.mean()), illegal)
