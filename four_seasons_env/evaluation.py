"""`evaluate`: how well a policy of any library plays certain deals, with masks.

A policy without masks mostly chooses illegal moves. These leave the position as it is, so its games
stand still until they are truncated. Therefore `evaluate` passes masks to the policy and counts the
actions that are against them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from four_seasons_env.arguments import WrongType, check_integers, whole_number
from four_seasons_env.vector import GameVectorEnv

Chooser = Callable[[Any, NDArray[np.int8]], Any]
"""A function of observations of n games and masks of shape (n, A) that returns n actions."""

FIRST_DEAL = 10_000
"""The first of the validation deals."""


class Evaluation(NamedTuple):
    """The results of a policy, one game for each deal."""

    games: int
    won: float
    """Share of the games that were won."""
    cards_up: float
    """Mean number of cards on the foundations at the end."""
    illegal: int
    """Actions against the mask, in all games."""


def evaluate(
    envs: gym.vector.VectorEnv[Any, Any, Any], policy: Chooser, deal: int = FIRST_DEAL
) -> Evaluation:
    """Play one game of each of ``envs.num_envs`` consecutive deals.

    Examples:
        The first legal move of each position wins nothing:

        >>> envs = gym.make_vec("FourSeasons-v0", num_envs=100, mask="no_repeats")
        >>> evaluate(envs, lambda observations, masks: masks.argmax(axis=1))
        Evaluation(games=100, won=0.0, cards_up=1.86, illegal=0)

    Args:
        envs: a native vector environment of this package, as `gymnasium.make_vec` returns it, also
            inside `VectorMaskInObservation`; it is reset. Its autoreset mode does not matter.
        policy: called with the observations and `infos["action_mask"]`, int8 of shape (n, A), of
            all games at once; returns n actions. Its actions for games that are over do not count.
        deal: the first deal. Use deals 10,000 to 19,999 for selection, and 0 to 9,999 only to
            report.

    Raises:
        TypeError: for other environments, and actions that are not integers.
        ValueError: for actions that are not n numbers in range, or a negative deal.

    See Also:
        `four_seasons_env.agents.policy`: makes an agent of a policy, for `four-seasons compare`.
    """
    inner = getattr(envs, "unwrapped", envs)
    if not isinstance(inner, GameVectorEnv):
        raise WrongType(
            "envs must be a native vector environment of this package, which lays out a deal for "
            'each game, such as gym.make_vec("FourSeasons-v0", num_envs=100), not '
            f"{type(inner).__name__}"
        )
    count, deal = envs.num_envs, whole_number("deal", deal)
    observations, infos = envs.reset(options={"deal": [deal + i for i in range(count)]})
    # With "Disabled", games that have ended are reset here; otherwise the environment does it.
    by_hand = envs.metadata.get("autoreset_mode") is gym.vector.AutoresetMode.DISABLED
    over = np.zeros(count, np.bool_)
    won, cards_up, illegal = np.zeros(count), np.zeros(count), 0
    while not over.all():
        masks = infos["action_mask"]
        chosen = np.asarray(policy(observations, masks)).reshape(-1)
        actions = check_integers("actions", chosen, count).copy()
        # Games whose deal has ended play on, by the first legal action: they do not count any more.
        actions[over] = masks[over].argmax(axis=1)
        observations, _, terminated, truncated, infos = envs.step(actions)
        ended = (terminated | truncated) & ~over
        # With "SameStep", infos are those of the next episode already.
        last = infos.get("final_info", infos)
        illegal += int(np.where(ended, last["illegal"], infos["illegal"])[~over].sum())
        won[ended], cards_up[ended] = last["won"][ended], last["cards_up"][ended]
        over |= ended
        done = terminated | truncated
        if by_hand and done.any():
            observations, infos = envs.reset(options={"reset_mask": done})
    return Evaluation(count, float(won.mean()), float(cards_up.mean()), illegal)
