"""`PolicyAgent`: a policy of any library as an agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.observations import OBSERVATIONS, encode_all, observation_length
from four_seasons_env.rules import Rules, nearest


class PolicyAgent:
    """Plays what a function says for observations and masks.

    Args:
        rules: the rule set to play.
        policy: called with observations, float32 of shape (n, L), and masks, int8 of shape (n, A);
            returns legal actions, integers of shape (n,).
        observation: the kind on which the policy was trained, "tops" or "cards".
        mask: the masks that it takes, "legal" or "distinct".

    Raises:
        ValueError: for an unknown observation.
    """

    kind = "learned"

    def __init__(
        self,
        rules: Rules,
        policy: Callable[[NDArray[np.float32], NDArray[np.int8]], Any],
        observation: str = "tops",
        mask: str = "legal",
    ) -> None:
        if observation not in OBSERVATIONS:
            raise ValueError(
                f"unknown observation {observation!r}: {nearest(observation, OBSERVATIONS)}"
            )
        self.mask = mask
        self.observation = observation
        self._policy = policy
        self._rule = compile_rules(rules)
        self._kind = OBSERVATIONS.index(observation)
        self._length = observation_length(rules, observation)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The policy's actions; a policy draws its own random numbers, ``rng`` is not used."""
        del rng
        observations = np.empty((len(games), self._length), np.float32)
        encode_all(games, self._rule, self._kind, observations)
        return np.asarray(self._policy(observations, masks), np.int64)
