"""`NextDealAgent`: plays moves towards the candidate that a trained network scores highest."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.agent import PLAYS, Actions, Masks, Rng
from four_seasons_env.agents.network import evaluation
from four_seasons_env.agents.network.checks import check_array
from four_seasons_env.agents.network.sums import largest_rows
from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError, Weights
from four_seasons_env.agents.search.next_deal import NextDealPlayer
from four_seasons_env.agents.search.plans import ENDING_POSITIONS, Plans
from four_seasons_env.rules import Rules

HEADS = ("score", "value")
"""Outputs of the network for each candidate."""

SOLVER = "solver"
"""A way to play endings that only players have: by `four_seasons_env.solver`."""

_DECISIONS = {"candidates", "expansions", "endings", "ending_expansions", "order"}
"""Arguments of the next-deal environment that a policy's card holds."""


class NextDealAgent(NextDealPlayer):
    """Chooses a position, plays the moves that lead there, and turns the next card.

    Learned: the scores of positions. Searched: the candidate positions, and a win once nothing is
    hidden. Written by hand: the order in which positions are found, and the play where no win is
    found (the heuristic).

    Args:
        rules: the rule set to play.
        card: describes the network.
        weights: its tensors by name.
        deterministic: choose the position with the highest score + value_weight x value, by the
            weight in the policy's card; or sample one by the scores.
        candidates: maximum number of positions to choose among. None for this or the next option:
            as in the policy's card.
        expansions: maximum number of positions that the search expands.

    Raises:
        PolicyFileError: if the weights do not fit the card.
        ValueError: for an option out of range.
    """

    kind = "learned + search"
    plays = PLAYS

    def __init__(
        self,
        rules: Rules,
        card: PolicyCard,
        weights: Weights,
        *,
        deterministic: bool = True,
        candidates: int | None = None,
        expansions: int | None = None,
    ) -> None:
        self.train_seed = card.training.get("seed")
        self.deterministic = deterministic
        # 1. How it decides: by the card, unless an option says otherwise.
        given = {"candidates": candidates, "expansions": expansions}
        decisions: dict[str, Any] = card.decisions | {
            name: value for name, value in given.items() if value is not None
        }
        # A player that samples follows its policy, and has no use for the values.
        weight = decisions.pop("value_weight", 0.0)
        self._value_weight = np.float32(weight if self.deterministic else 0)
        self.solves_endings = decisions.get("endings") == SOLVER
        if self.solves_endings:
            decisions["endings"] = "search"
        if decisions.keys() != _DECISIONS:
            raise PolicyFileError(
                f"decisions in the policy's card must be {sorted(_DECISIONS)}, not "
                f"{sorted(decisions)}"
            )
        # 2. The environment whose candidates it chooses among, and the network that scores them.
        super().__init__(rules, **decisions)
        if self.solves_endings:
            self._plans = Plans(rules, ENDING_POSITIONS)
        self._network = evaluation.network_of(weights, card.layers, HEADS)
        self._buffers = evaluation.new_network_buffers(self._network, rules.piles)
        self._largest = largest_rows(len(self._buffers.row))

    def scores(
        self, observations: NDArray[np.int16], masks: NDArray[np.int8]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Score and value of each candidate, float32 of shape (n, candidates) each.

        Both are minus infinity in an unused place.

        Args:
            observations: the features of candidates, int16 of shape (n, candidates, slots).
            masks: int8 of shape (n, candidates).

        Raises:
            TypeError: for arrays of other dtypes.
            ValueError: for arrays of other shapes, or features that the network has no row for.
        """
        shape = None, None, len(self._largest)
        check_array("observations", observations, (np.int16,), shape)
        check_array("masks", masks, (np.int8, np.bool_), observations.shape[:2])
        decisions, places = masks.nonzero()
        rows = observations.reshape(-1, observations.shape[2])
        chosen = decisions * masks.shape[1] + places
        check_array("observations", rows, (np.int16,), rows.shape, self._largest, chosen)
        outputs = np.empty((len(chosen), len(HEADS)), np.float32)
        evaluation.apply_network_to_all(rows, chosen, self._network, self._buffers, outputs)
        scores, values = np.full((2, *masks.shape), -np.inf, np.float32)
        scores[decisions, places], values[decisions, places] = outputs.T
        return scores, values

    def choose(self, observations: NDArray[Any], masks: Masks, rng: Rng) -> Actions:
        """The candidate with the highest score in each game, or one that is drawn."""
        scores, values = self.scores(observations, masks)
        scores += self._value_weight * np.where(masks, values, 0)
        if not self.deterministic:
            # The highest of log-odds plus Gumbel noise is a draw from the policy.
            scores = scores + rng.gumbel(size=scores.shape).astype(np.float32)
        best: Actions = scores.argmax(axis=1)
        return best
