"""`TableEncoder` encodes candidates; `network` evaluates the same weights without torch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from gymnasium import spaces

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


PREFIXES = ("features_extractor.network.", "mlp_extractor.")
"""Of the names that the weights of encoder and heads have in Stable-Baselines3."""
