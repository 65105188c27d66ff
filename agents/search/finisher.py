"""`finisher`: any agent until nothing is hidden, then the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.registry import make_agent, split_name
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, NONE, Plans
from four_seasons_env.rules import Rules


class FinisherAgent:
    """Lets another agent play, and the solver once the last card is known.

    Args:
        rules: the rule set to play.
        base: name of the other agent; it plays the rest if the solver finds no win.
        ending_positions: positions that the solver may visit.

    Raises:
        ValueError: if the base is a finisher itself.
    """

    def __init__(
        self, rules: Rules, base: str = "heuristic", ending_positions: int = ENDING_POSITIONS
    ) -> None:
        if split_name(base).registered == "finisher":
            raise ValueError(f"base={base} is a finisher itself: take another, such as 'heuristic'")
        self._base = make_agent(base, rules)
        self.mask = self._base.mask
        self._plans = Plans(rules, ending_positions)

    def act(
        self, games: NDArray[Any], masks: NDArray[np.int8], rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """The other agent's move in each game, or the solver's."""
        planned = self._plans.endings(games)
        rest = planned == NONE
        if rest.any():
            planned[rest] = self._base.act(games[rest], masks[rest], rng)
        return planned
