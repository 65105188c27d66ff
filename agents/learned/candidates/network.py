"""Networks that score candidates, evaluated in compiled code; `encoders` trains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.network.dense import Dense, apply_sparse, dense_layer
from four_seasons_env.agents.network.tables import (
    Candidates,
    TableNetwork,
    Widths,
    evaluate,
    sums_length,
    tables_of,
)

ENCODER, HEADS = "features_extractor.", "mlp_extractor."
"""Prefixes of the weights' names in the policy of Stable-Baselines3."""

Weights = Mapping[str, NDArray[np.float32]]


class CandidateNetwork(Protocol):
    """Scores candidates one by one.

    Args:
        weights: by their names in the policy of Stable-Baselines3.
        layers: the card's.
        slots: length of a candidate's row in the observations.

    Raises:
        agents.network.dense.ShapeError: for weights that are missing or have another shape.
    """

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None: ...

    def evaluate(
        self, rows: NDArray[Any], decisions: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Score and value of each candidate, float32 of shape (m, 2).

        Args:
            rows: all places of all decisions, of shape (n, slots).
            decisions: the decision of each candidate, in rising order, int64 of shape (m,).
            chosen: the row of each candidate, int64 of shape (m,).
        """
        ...


class TableScorer(CandidateNetwork):
    """The network `tables`: sums of table rows, a dense layer, and the heads."""

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None:
        *table_widths, width = layers
        widths = Widths(*table_widths)
        self._network = TableNetwork(
            tables_of(weights, ENCODER, widths),
            widths,
            dense_layer(weights, f"{ENCODER}dense", sum(widths), width),
            _heads(weights, width),
        )
        self._length = sums_length(slots, widths)

    def evaluate(
        self, rows: NDArray[Any], decisions: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """See `CandidateNetwork.evaluate`."""
        outputs = np.empty((len(chosen), 2), np.float32)
        evaluate(Candidates(rows, decisions, chosen), self._network, self._length, outputs)
        return outputs


class MlpScorer(CandidateNetwork):
    """The network `mlp`: a multilayer perceptron with ReLUs, and the heads."""

    def __init__(self, weights: Weights, layers: Sequence[int], slots: int) -> None:
        self._hidden = [
            dense_layer(weights, f"{ENCODER}layers.{2 * i}", *sizes)
            for i, sizes in enumerate(pairwise([slots, *layers]))
        ]
        self._heads = _heads(weights, layers[-1])

    def evaluate(
        self, rows: NDArray[Any], decisions: NDArray[np.int64], chosen: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """See `CandidateNetwork.evaluate`."""
        x = rows[chosen].astype(np.float32)
        for layer in self._hidden:
            x = np.maximum(_applied(layer, x), 0)
        return _applied(self._heads, x)


def _applied(layer: Dense, x: NDArray[np.float32]) -> NDArray[np.float32]:
    out = np.empty((len(x), len(layer.bias)), np.float32)
    apply_sparse(x, layer, out)
    return out


def _heads(weights: Weights, width: int) -> Dense:
    """The heads of score and value as one layer with two outputs."""
    heads = [dense_layer(weights, f"{HEADS}{name}", width, 1) for name in ("score", "value")]
    return Dense(
        np.stack([each.weight for each in heads], axis=1).ravel(),
        np.concatenate([each.bias for each in heads]),
    )


NETWORKS: dict[str, type[CandidateNetwork]] = {"tables": TableScorer, "mlp": MlpScorer}
"""Networks by their names in hyperparameters and policy cards."""
