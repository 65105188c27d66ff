"""Answers of agents and policies: an integer for each game."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class AnswerError(RuntimeError):
    """Actions that cannot be played: wrong in number, type or value."""


def as_actions(answer: Any, count: int, name: str) -> NDArray[np.int64]:
    """The actions that an agent or policy returned, int64 of shape (count,).

    Args:
        answer: what it returned.
        count: how many games there are.
        name: of the agent or policy, for the message.

    Raises:
        AnswerError: unless they are one integer for each game.
    """
    actions = np.asarray(answer)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        found = "None" if answer is None else f"{actions.dtype} of shape {actions.shape}"
        raise AnswerError(f"{name} must return integers of shape ({count},), not {found}")
    return actions.astype(np.int64)
