"""`first_candidate`: always the first position that the next-deal environment lists.

It learns nothing. The order of the positions, written by hand (`four_seasons_env.positions`), and
the search for a win once nothing is hidden decide its games. Its win rate is what they alone
explain of a result in that environment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.policy_agent import NextDealPolicyAgent
from four_seasons_env.rules import Rules


class FirstCandidateAgent(NextDealPolicyAgent):
    """Moves to the first candidate, and turns the next card.

    Args:
        rules: the rule set to play.
        expansions: positions that the search for candidates expands at most.
        ending_expansions: the same for the search for a win once nothing is hidden.

    Raises:
        ValueError: for an option out of range.
    """

    kind = "rule of thumb + search"

    def __init__(self, rules: Rules, expansions: int = 400, ending_expansions: int = 5000) -> None:
        arguments = {"expansions": expansions, "ending_expansions": ending_expansions}
        super().__init__(rules, _first, arguments)


def _first(
    observations: Any, masks: NDArray[np.int8], rng: np.random.Generator
) -> NDArray[np.int64]:
    first: NDArray[np.int64] = masks.argmax(axis=1)
    return first
