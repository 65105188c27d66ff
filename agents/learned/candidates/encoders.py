"""Networks that encode candidates: `TableEncoder` (sparse features), `MlpEncoder` (vectors).

They train; `network` evaluates the same weights without torch.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from gymnasium import spaces
from torch import nn

from four_seasons_env.agents.learned.candidates.policy import CandidateEncoder
from four_seasons_env.agents.learned.candidates.sum_rows import SumRows
from four_seasons_env.next_deal.features import GAME_ROWS, PILE_ROWS, SUIT_ROWS


class TableEncoder(CandidateEncoder):
    """Sums rows of three tables (`sum_rows`), followed by a dense layer.

    Args:
        observation_space: of a next-deal environment with the observation `features`.
        widths: of the rows of suits, piles and game, and of the dense layer.
    """

    def __init__(
        self, observation_space: spaces.Dict, widths: Sequence[int] = (64, 32, 64, 32)
    ) -> None:
        a, b, c, width = widths
        super().__init__(observation_space, width)
        self.widths = list(widths)

        def table(rows: int, columns: int, scale: float) -> nn.Parameter:
            return nn.Parameter(scale * torch.randn(rows, columns))

        # Sums of some thirty, six and thirty rows start at about unit size.
        self.suits = table(SUIT_ROWS, a, 0.15)
        self.piles = table(PILE_ROWS, b, 0.3)
        self.game = table(GAME_ROWS, c, 0.15)
        self.dense = nn.Linear(a + b + c, width)
        nn.init.normal_(self.dense.weight, std=(a + b + c) ** -0.5)
        nn.init.zeros_(self.dense.bias)

    def read(self, observations: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """See `CandidateEncoder.read`."""
        if observations.is_floating_point():  # Stable-Baselines3 converts some of them
            observations = observations.to(torch.int16)
        decisions = chosen[:, 0]
        rows = decisions * observations.shape[1] + chosen[:, 1]
        flat = observations.flatten(0, 1)
        pooled = SumRows.apply(  # type: ignore[no-untyped-call]
            flat, decisions, rows, self.suits, self.piles, self.game
        )
        return torch.relu(self.dense(pooled))


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
        self.layers = nn.Sequential(*layers)

    def read(self, observations: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        """See `CandidateEncoder.read`."""
        encoded: torch.Tensor = self.layers(observations[chosen[:, 0], chosen[:, 1]].float())
        return encoded


ENCODERS: dict[str, type[CandidateEncoder]] = {"tables": TableEncoder, "mlp": MlpEncoder}
"""Encoders by their names in hyperparameters and policy cards."""
