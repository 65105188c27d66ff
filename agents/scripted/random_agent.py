"""`random`: any legal move, all equally likely. The baseline that every agent must beat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.rules import Rules


def any_legal(masks: NDArray[Any], rng: np.random.Generator) -> NDArray[np.int64]:
    """A legal move of each row, all equally likely; int64 of shape (n,)."""
    drawn = np.where(masks, rng.random(masks.shape, np.float32), -1.0)
    moves: NDArray[np.int64] = drawn.argmax(axis=1)
    return moves


class RandomAgent:
    """Plays a legal move drawn uniformly."""

    mask = "legal"

    def __init__(self, rules: Rules) -> None:
        del rules  # it plays every rule set the same way

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw a legal move in each game."""
        return any_legal(masks, rng)
