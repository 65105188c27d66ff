"""Weights while they are learned: their running mean, and how they are stored."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


class WeightAverage:
    """A running mean of the weights over about the last part of a run.

    The latest weights of a policy vary with every batch of games; their mean varies less and plays
    better (Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992).
    Learning itself uses the latest weights.

    Args:
        share: share of the steps so far that the mean covers; 0: only the latest weights.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self.steps = 0
        self.weights: dict[str, torch.Tensor] = {}

    def update(self, module: torch.nn.Module, steps: int) -> None:
        """Add a module's weights after this number of steps."""
        latest = module.state_dict()
        weight = min(1.0, (steps - self.steps) / max(self._share * steps, 1e-9))
        if not self.weights:
            self.weights = {name: each.detach().clone() for name, each in latest.items()}
        for name, mean in self.weights.items():
            mean.lerp_(latest[name], weight)
        self.steps = steps

    def of(self, module: torch.nn.Module) -> dict[str, torch.Tensor]:
        """The mean; before the first update, the module's weights."""
        return self.weights or module.state_dict()

    def state(self) -> dict[str, Any]:
        """The part of a checkpoint."""
        return {"steps": self.steps, "weights": self.weights}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a `state`."""
        self.steps, self.weights = state["steps"], state["weights"]


def arrays_of(
    weights: dict[str, torch.Tensor], prefixes: dict[str, str]
) -> dict[str, NDArray[np.float32]]:
    """Copies of weights as arrays.

    Args:
        weights: by name.
        prefixes: of the names of those to copy, and what replaces them.
    """
    return {
        new + name.removeprefix(old): tensor.detach().cpu().numpy().copy()
        for old, new in prefixes.items()
        for name, tensor in weights.items()
        if name.startswith(old)
    }


def save_state(path: Path, state: dict[str, Any]) -> None:
    """Write tensors and plain values that `torch.load` reads with ``weights_only=True``."""
    written = io.BytesIO()  # torch's own error on a full disk does not name the reason
    torch.save(state, written)
    path.write_bytes(written.getbuffer())
