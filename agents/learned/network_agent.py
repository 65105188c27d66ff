"""`NetworkAgent`: plays a network whose actions are moves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError
from four_seasons_env.agents.scripted.random_agent import any_legal
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.engine.moves import all_moves
from four_seasons_env.observations import OBSERVATIONS, encode_all, observation_length
from four_seasons_env.rules import Rules, nearest

ACTIVATION_MODULES: dict[str, type[torch.nn.Module]] = {
    "relu": torch.nn.ReLU,
    "tanh": torch.nn.Tanh,
}
_FUNCTIONS = {"relu": torch.relu, "tanh": torch.tanh}


class NetworkAgent:
    """Plays by the score that a trained network gives each move.

    The scores are log-odds (of a policy) or action values (of a Q network). Greedy play takes the
    legal move with the highest score. Otherwise a policy samples its move, and a Q network takes a
    random legal move at its final exploration rate.

    Args:
        card: describes the network.
        weights: its tensors, by name.
        layer_names: names of its linear layers, first to last.
        rules: the rule set to play.
        deterministic: greedy play. None: greedy for a Q network, sampled for a policy.

    Raises:
        PolicyFileError: if the weights do not fit the card or the rules.
    """

    def __init__(
        self,
        card: PolicyCard,
        weights: dict[str, torch.Tensor],
        layer_names: list[str],
        rules: Rules,
        deterministic: bool | None = None,
    ) -> None:
        if card.observation not in OBSERVATIONS:
            hint = nearest(card.observation, OBSERVATIONS)
            raise PolicyFileError(f"unknown observation {card.observation!r}: {hint}")
        if card.activation not in _FUNCTIONS:
            raise PolicyFileError(
                f"unknown activation {card.activation!r}: {nearest(card.activation, _FUNCTIONS)}"
            )
        self.mask = card.mask
        self.train_seed = card.training.get("seed")
        self.observation = card.observation
        self._exploration = card.exploration
        self.deterministic = (
            card.exploration is not None if deterministic is None else deterministic
        )
        self._activate = _FUNCTIONS[card.activation]
        self._rule = compile_rules(rules)
        self._kind = OBSERVATIONS.index(card.observation)
        self._length = observation_length(rules, card.observation)
        sizes = list(pairwise([self._length, *card.layers, len(all_moves(rules))]))
        self._layers = [
            _layer(weights, name, fan_in, fan_out, card)
            for name, (fan_in, fan_out) in zip(layer_names, sizes, strict=True)
        ]

    def scores(self, games: NDArray[Any], masks: NDArray[np.int8]) -> NDArray[np.float32]:
        """The score of each move, minus infinity where it is illegal; float32 of shape (n, A)."""
        observations = np.empty((len(games), self._length), np.float32)
        encode_all(games, self._rule, self._kind, observations)
        with torch.inference_mode():
            x = torch.from_numpy(observations)
            for i, (weight, bias) in enumerate(self._layers):
                x = torch.nn.functional.linear(self._activate(x) if i else x, weight, bias)
        return np.where(masks, x.numpy(), -np.inf)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """A legal move in each game; see the class."""
        scores = self.scores(games, masks)
        if self._exploration is None and not self.deterministic:
            # The highest of log-odds plus Gumbel noise is a draw from the policy.
            scores = scores + rng.gumbel(size=scores.shape).astype(np.float32)
        moves: NDArray[np.int64] = scores.argmax(axis=1)
        if self._exploration is not None and not self.deterministic:
            explores = rng.random(len(moves)) < self._exploration
            moves = np.where(explores, any_legal(masks, rng), moves)
        return moves


def _layer(
    weights: dict[str, torch.Tensor], name: str, fan_in: int, fan_out: int, card: PolicyCard
) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of a linear layer, of the shapes that follow from the card."""
    shapes = {"weight": (fan_out, fan_in), "bias": (fan_out,)}
    for part, shape in shapes.items():
        tensor = weights.get(f"{name}.{part}")
        if tensor is None or tuple(tensor.shape) != shape:
            found = "missing" if tensor is None else f"of shape {tuple(tensor.shape)}"
            raise PolicyFileError(
                f"the weights do not fit their card: {name}.{part} is {found}, but observation "
                f"{card.observation!r} and layers {card.layers} make it {shape}"
            )
    return weights[f"{name}.weight"], weights[f"{name}.bias"]
