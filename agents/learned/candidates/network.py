"""Networks that score candidates, evaluated in compiled code; `encoders` trains them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.dense import Dense, apply_to_all, dense_layer
from four_seasons_env.agents.network.evaluation import (
    Weights,
    evaluate_all,
    heads_of,
    network_of,
    new_evaluation,
)
from four_seasons_env.next_deal.features import pile_count

HEADS = ("score", "value")
"""What the networks say of a candidate."""


class CandidateNetwork(Protocol):
    """Scores candidates one by one.

    Args:
        weights: tensors by their names in torch.
        layers: the card's.
        slots: length of a candidate's row in the observations.

    Raises:
        PolicyFileError: for layers that it cannot have, or weights that are missing or have
            another shape.
    """

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None: ...

    def evaluate(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score and value of each candidate, float32 of shape (m, 2).

        Args:
            rows: all places of all decisions, of shape (n, slots).
            chosen: the row of each candidate, int64 of shape (m,).
        """
        ...


class TableScorer(CandidateNetwork):
    """The network `tables` (`four_seasons_env.agents.network`)."""

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None:
        self._network = network_of(weights, layers, HEADS)
        self._evaluation = new_evaluation(self._network, pile_count(slots))

    def evaluate(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `CandidateNetwork.evaluate`."""
        outputs = np.empty((len(chosen), len(HEADS)), np.float32)
        evaluate_all(rows, chosen, self._network, self._evaluation, outputs)
        return outputs


class MlpScorer(CandidateNetwork):
    """The network `mlp`: a multilayer perceptron with ReLUs, and the heads."""

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None:
        self._hidden = [
            dense_layer(weights, f"{2 * i}", *sizes)
            for i, sizes in enumerate(pairwise([slots, *layers]))
        ]
        self._heads = heads_of(weights, layers[-1], HEADS)

    def evaluate(self, rows: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.float32]:
        """See `CandidateNetwork.evaluate`."""
        x = rows[chosen].astype(np.float32)
        for layer in self._hidden:
            x = np.maximum(_applied(layer, x), 0)
        return _applied(self._heads, x)


def _applied(layer: Dense, x: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty((len(x), len(layer.bias)), np.float32)
    apply_to_all(x, layer, out)
    return out


NETWORKS: dict[str, type[CandidateNetwork]] = {"tables": TableScorer, "mlp": MlpScorer}
"""Networks by their names in hyperparameters and policy cards."""
