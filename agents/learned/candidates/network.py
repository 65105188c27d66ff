"""`CandidateNetwork` scores candidates in compiled code; `encoders` trains it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.evaluation import (
    Weights,
    evaluate_all,
    network_of,
    new_evaluation,
)
from four_seasons_env.positions.features import pile_count

HEADS = ("score", "value")
"""What the network says of a candidate."""


class CandidateNetwork:
    """Scores candidates one by one (`four_seasons_env.agents.network`).

    Args:
        weights: tensors by their names in torch.
        layers: the card's.
        slots: length of a candidate's row in the observations.

    Raises:
        PolicyFileError: for layers that it cannot have, or weights that are missing or have
            another shape.
    """

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None:
        self._network = network_of(weights, layers, HEADS)
        self._evaluation = new_evaluation(self._network, pile_count(slots))

    def evaluate(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score and value of each candidate, float32 of shape (m, 2).

        Args:
            rows: all places of all decisions, of shape (n, slots).
            chosen: the row of each candidate, int64 of shape (m,).
        """
        outputs = np.empty((len(chosen), len(HEADS)), np.float32)
        evaluate_all(rows, chosen, self._network, self._evaluation, outputs)
        return outputs
