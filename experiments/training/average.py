"""`WeightAverage`: a running mean of the weights during a training.

The latest weights of a policy vary with every batch of games; their mean varies less, and plays
better (Polyak and Juditsky, "Acceleration of Stochastic Approximation by Averaging", 1992).
Learning itself uses the latest weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


class WeightAverage:
    """A running mean over about the last part of a run.

    Args:
        share: share of the steps so far that the mean covers; 0: only the latest weights.
    """

    def __init__(self, share: float) -> None:
        self._share = share
        self.steps = 0
        self.weights: dict[str, torch.Tensor] = {}

    def update(self, model: Any, steps: int) -> None:
        """Add a model's weights after this number of steps; a number that was added is ignored."""
        if not self._share or steps <= self.steps:
            return
        latest = model.policy.state_dict()
        weight = min(1.0, (steps - self.steps) / (self._share * steps))
        if not self.weights:
            self.weights = {name: each.detach().clone() for name, each in latest.items()}
        for name, mean in self.weights.items():
            mean.lerp_(latest[name], weight)
        self.steps = steps

    @contextmanager
    def in_place_of(self, model: Any) -> Iterator[None]:
        """Give a model the mean as its weights within a block."""
        if not self.weights:
            yield
            return
        latest = {name: each.clone() for name, each in model.policy.state_dict().items()}
        model.policy.load_state_dict(self.weights)
        try:
            yield
        finally:
            model.policy.load_state_dict(latest)

    def state(self) -> dict[str, Any]:
        """The part of a checkpoint."""
        return {"steps": self.steps, "weights": self.weights}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a `state`."""
        self.steps, self.weights = state["steps"], state["weights"]
