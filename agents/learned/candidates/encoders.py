"""`TableEncoder` encodes candidates; `network` evaluates the same weights without torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from four_seasons_env.agents.network.module import PositionNetwork


class TableEncoder(BaseFeaturesExtractor):
    """Encodes candidates by sums of table rows, followed by a dense layer
    (`four_seasons_env.agents.network`).

    Its output, of shape (n, K, width + 1), is the encoding of each candidate followed by a 1, and
    zeros in unused places.

    Args:
        observation_space: of a next-deal environment with the observation `features`.
        widths: of the rows of suits, piles and game, and of the dense layer.
    """

    def __init__(
        self, observation_space: spaces.Dict, widths: Sequence[int] = (64, 32, 64, 32)
    ) -> None:
        (candidates,) = observation_space["action_mask"].shape or ()
        super().__init__(observation_space, candidates * (widths[-1] + 1))
        self.width = widths[-1]
        self.network = PositionNetwork(widths)

    def forward(self, observations: dict[str, torch.Tensor]) -> torch.Tensor:
        """See the class."""
        is_candidate = observations["action_mask"] != 0
        decisions, places = is_candidate.nonzero(as_tuple=True)
        positions = observations["observation"]
        if positions.is_floating_point():  # Stable-Baselines3 converts some of them
            positions = positions.to(torch.int16)
        rows = decisions * positions.shape[1] + places
        encoded = self.network.encode(positions.flatten(0, 1), decisions, rows)
        out = encoded.new_zeros(*is_candidate.shape, self.width + 1)
        out[decisions, places] = nn.functional.pad(encoded, (0, 1), value=1.0)
        return out


PREFIXES = ("features_extractor.network.", "mlp_extractor.")
"""Of the names that the weights of encoder and heads have in Stable-Baselines3."""
