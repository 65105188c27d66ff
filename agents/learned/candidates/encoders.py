"""Networks that encode candidates: `TableEncoder` (sparse features), `MlpEncoder` (vectors).

They train; `network` evaluates the same weights without torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from gymnasium import spaces
from torch import nn

from four_seasons_env.agents.learned.candidates.policy import CandidateEncoder
from four_seasons_env.agents.network.module import PositionNetwork


class TableEncoder(CandidateEncoder):
    """Sums rows of tables, followed by a dense layer (`four_seasons_env.agents.network`).

    Args:
        observation_space: of a next-deal environment with the observation `features`.
        widths: of the rows of suits, piles and game, and of the dense layer.
    """

    def __init__(
        self, observation_space: spaces.Dict, widths: Sequence[int] = (64, 32, 64, 32)
    ) -> None:
        super().__init__(observation_space, widths[-1])
        self.widths = list(widths)
        self.network = PositionNetwork(widths)

    def read(self, observations: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """See `CandidateEncoder.read`."""
        if observations.is_floating_point():  # Stable-Baselines3 converts some of them
            observations = observations.to(torch.int16)
        decisions = chosen[:, 0]
        rows = decisions * observations.shape[1] + chosen[:, 1]
        return self.network.encode(observations.flatten(0, 1), decisions, rows)


class MlpEncoder(CandidateEncoder):
    """A multilayer perceptron over each candidate's vector.

    Args:
        observation_space: of a next-deal environment with the observation `tops` or `cards`.
        widths: units of its layers.
    """

    def __init__(self, observation_space: spaces.Dict, widths: Sequence[int] = (128, 64)) -> None:
        super().__init__(observation_space, widths[-1])
        self.widths = list(widths)
        (_, slots) = observation_space["observation"].shape or ()
        layers: list[nn.Module] = []
        for fan_in, fan_out in zip((slots, *widths[:-1]), widths, strict=True):
            layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
        self.network = nn.Sequential(*layers)

    def read(self, observations: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """See `CandidateEncoder.read`."""
        encoded: torch.Tensor = self.network(observations[chosen[:, 0], chosen[:, 1]].float())
        return encoded


ENCODERS: dict[str, type[CandidateEncoder]] = {"tables": TableEncoder, "mlp": MlpEncoder}
"""Encoders by their names in hyperparameters and policy cards."""
PREFIXES = ("features_extractor.network.", "mlp_extractor.")
"""Of the names that the weights of encoder and heads have in Stable-Baselines3."""
