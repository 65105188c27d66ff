"""`NetworkAgent`: plays a network that scores moves, without torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from four_seasons_env.agents.agent import PLAYS, Actions, Agent, Masks, Positions, Rng
from four_seasons_env.agents.network import evaluation, rows
from four_seasons_env.agents.policy_files import PolicyCard, PolicyFileError, Weights
from four_seasons_env.engine.validation import checked, unchecked
from four_seasons_env.observations import observations_of_own
from four_seasons_env.rules import Rules

_OBSERVATION = "places"
"""What its networks read."""


class NetworkAgent(Agent):
    """Plays by the score that a trained network gives each move.

    The scores are a policy's log-odds.

    Args:
        rules: the rule set to play.
        card: describes the network.
        weights: its tensors, by their names in
            `four_seasons_env.agents.network.places.MoveNetwork`.
        deterministic: choose the legal move with the highest score (True), or sample one (False).

    Raises:
        PolicyFileError: if the weights do not fit the card or the rules, or the card names another
            observation than `places`.
    """

    kind = "learned"
    plays = PLAYS
    block = 1000

    def __init__(
        self, rules: Rules, card: PolicyCard, weights: Weights, deterministic: bool = True
    ) -> None:
        if card.observation != _OBSERVATION:
            raise PolicyFileError(
                f"observation in the policy's card must be {_OBSERVATION!r}, which the network "
                f"reads, not {card.observation!r}"
            )
        self.mask, self.observation = card.mask, card.observation
        self.train_seed = card.training.get("seed")
        self.deterministic = deterministic
        self.rules = rules
        widths = rows.move_widths_of(card.layers)
        kinds, move_kinds = rows.kinds_of(rules.ranks)
        self._table = _card_table(weights, "encoder.table", kinds, widths.position)
        self._dense = evaluation.dense_layer(weights, ["dense"], widths.position, widths.move)
        self._moves = _card_table(weights, "moves", move_kinds, widths.move)
        self._weights = evaluation.tensor_of(weights, "score", (widths.move,))

    @checked
    def scores(self, games: Positions, masks: Masks) -> NDArray[np.float32]:
        """The score of each move, minus infinity where it is illegal; float32 of shape (n, A)."""
        # 1. Each position: the sum of its rows, and a dense layer.
        places = observations_of_own(games, self.rules, _OBSERVATION)
        sums = np.empty((len(games), self._table.shape[1]), np.float32)
        rows.sum_rows(rows.rows_of(places, self.rules), self._table, sums)
        hidden = np.empty((len(games), len(self._dense.bias)), np.float32)
        evaluation.apply_to_all(np.maximum(sums, 0), self._dense, hidden)
        # 2. Each marked move: its rows meet the units of its position.
        marked, moves = np.flatnonzero(masks), rows.move_rows_of(places, masks, self.rules)
        each = np.empty(len(marked), np.float32)
        rows.score_moves(marked, moves, hidden, self._moves, self._weights, each)
        scores = np.full(masks.shape, -np.inf, np.float32)
        scores.ravel()[marked] = each
        return scores

    @checked
    def act(self, games: Positions, masks: Masks, rng: Rng) -> Actions:
        """A legal move in each game: that with the highest score, or one that is drawn."""
        scores = unchecked(self.scores)(games, masks)
        if not self.deterministic:
            # The highest of log-odds plus Gumbel noise is a draw from the policy.
            scores = scores + rng.gumbel(size=scores.shape).astype(np.float32)
        moves: Actions = scores.argmax(axis=1)
        return moves


def _card_table(
    weights: Weights, name: str, kinds: NDArray[np.int64], width: int
) -> NDArray[np.float32]:
    """The rows of a `four_seasons_env.agents.network.places.CardTable`."""
    table = evaluation.tensor_of(weights, f"{name}.rows", (len(kinds), width))
    shared = evaluation.tensor_of(weights, f"{name}.shared", (int(kinds.max()) + 1, width))
    return table + shared[kinds]
