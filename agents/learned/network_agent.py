"""`NetworkAgent`: plays a network whose actions are moves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.evaluation import apply_to_all, dense_layer
from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError
from four_seasons_env.arguments import nearest
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.observations import KINDS, VECTORS, encode_all, observation_length
from four_seasons_env.rules import Rules

HIDDEN, LAST = "mlp_extractor.policy_net.", "action_net."
"""Prefixes of the weights' names in the policy of Stable-Baselines3."""


class NetworkAgent:
    """Plays by the score that a trained network gives each move.

    The scores are a policy's log-odds.

    Args:
        rules: the rule set to play.
        card: describes the network.
        weights: its tensors, by their names in the policy of Stable-Baselines3.
        deterministic: choose the legal move with the highest score (True), or sample one (False or
            None).

    Raises:
        PolicyFileError: if the weights do not fit the card or the rules.
    """

    def __init__(
        self,
        rules: Rules,
        card: PolicyCard,
        weights: Mapping[str, NDArray[np.float32]],
        deterministic: bool | None = None,
    ) -> None:
        if card.observation not in VECTORS:
            hint = nearest(card.observation, VECTORS)
            raise PolicyFileError(f"unknown observation {card.observation!r}: {hint}")
        self.mask = card.mask
        self.train_seed = card.training.get("seed")
        self.observation = card.observation
        self.deterministic = bool(deterministic)
        self._rule = compile_rules(rules)
        self._kind = KINDS[card.observation]
        self._length = observation_length(rules, card.observation)
        sizes = [self._length, *card.layers, len(all_moves(rules))]
        names = [f"{HIDDEN}{2 * i}" for i in range(len(card.layers))] + [LAST.rstrip(".")]
        try:
            self._layers = [
                dense_layer(weights, name, *shape)
                for name, shape in zip(names, pairwise(sizes), strict=True)
            ]
        except PolicyFileError as error:
            raise PolicyFileError(
                f"with observation {card.observation!r} and layers {card.layers}: {error}"
            ) from None

    def scores(self, games: NDArray[Any], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """The score of each move, minus infinity where it is illegal; float32 of shape (n, A)."""
        x = np.empty((len(games), self._length), np.float32)
        encode_all(games, self._rule, self._kind, x)
        for i, layer in enumerate(self._layers):
            out = np.empty((len(games), len(layer.bias)), np.float32)
            apply_to_all(np.maximum(x, 0) if i else x, layer, out)
            x = out
        return np.where(masks, x, -np.inf)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A legal move in each game; see the class."""
        scores = self.scores(games, masks)
        if not self.deterministic:
            # The highest of log-odds plus Gumbel noise is a draw from the policy.
            scores = scores + rng.gumbel(size=scores.shape).astype(np.float32)
        moves: NDArray[np.int64] = scores.argmax(axis=1)
        return moves
