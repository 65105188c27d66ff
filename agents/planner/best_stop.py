"""The planner's search: the positions before the next card is turned, by the network's values.

This is best-first search: the position of the highest worth is expanded next, until all have been
expanded or a limit is reached. The worth of a position is the network's value, the chance that a
game is won that turns its next card there, less the price of the moves that lead to it. The planner
turns the next card in the position of the highest worth among those in which a card can be turned.
Once nothing is hidden, training and imagined worlds look for a win instead (`best_stop_or_win`);
the player asks the solver.

A search stops when it meets a win, when no position waits, or at its limits of positions. It cannot
stop sooner: a value is an estimate and no bound, so a position that waits may lead to a better one.
The player's limits, 1,000 each, were chosen by hand; docs/reference/leaderboard.md shows smaller
ones.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from four_seasons_env.agents.network import evaluation
from four_seasons_env.agents.policy_files import PolicyCard, load_policy
from four_seasons_env.engine.jit import jit
from four_seasons_env.engine.kernel import compile_rules, nothing_hidden, play
from four_seasons_env.positions.enumeration import ADVICE, find_win
from four_seasons_env.positions.features import write_row
from four_seasons_env.positions.search import (
    UNTIL_HIDDEN,
    WON,
    Search,
    begin,
    enqueue,
    expand_best,
    may_expand,
    may_stop,
    new_search,
    turn_at,
)
from four_seasons_env.rules import Rules

AGENT = "planner"
"""Its registered name."""
HEADS = ("value",)
"""Heads of its network."""

_PRICE = np.float32(0.0002)
"""Price of a move, in value: fifty moves cost a hundredth of a win. Without a price, a game could
repeat positions until its limit of moves. Chosen by hand; no trial of another price is kept."""


class Evaluator(NamedTuple):
    """The rules and the network that a search values positions by."""

    rule: Any  # the compiled rule set
    no_refills: Any  # the same without refills, under which moves turn no cards
    network: evaluation.Network
    buffers: evaluation.NetworkBuffers


def new_evaluator(rules: Rules, network: evaluation.Network) -> Evaluator:
    """An `Evaluator` of a rule set's positions."""
    rule = compile_rules(rules)[0]
    no_refills = compile_rules(rules.without_refills)[0]
    return Evaluator(
        rule, no_refills, network, evaluation.new_network_buffers(network, rules.piles)
    )


def read_planner(policy: str | Path, rules: Rules) -> tuple[PolicyCard, Evaluator]:
    """The card of a planner's policy, and an `Evaluator` by its network.

    Args:
        policy: its folder.
        rules: the rule set to play.

    Raises:
        FileNotFoundError: if there are no weights.
        PolicyFileError: if they cannot be used.
    """
    card, weights = load_policy(policy, AGENT, rules)
    return card, new_evaluator(rules, evaluation.network_of(weights, card.layers, HEADS))


class SearchLimits(NamedTuple):
    """How far searches go."""

    positions: int  # positions that a search may hold, while cards are hidden
    expansions: int  # positions that it may expand
    ending_positions: int  # the same for a search for a win, once nothing is hidden
    ending_expansions: int

    def new_search(self, rules: Rules) -> Search:
        """Buffers with room for the largest search of these limits."""
        return new_search(rules, max(self.positions, self.ending_positions))


NARROW = SearchLimits(positions=50, expansions=20, ending_positions=1000, ending_expansions=500)
"""Limits of the many searches in imagined worlds, of `lookahead` and `luck`: a fiftieth of the
player's 1,000 expansions. Chosen by hand; no trial of others is kept."""


@jit
def network_value(g, evaluator):
    """The probability that a position about to deal is won, float32."""
    buffers = evaluator.buffers
    write_row(g, evaluator.rule, buffers.row)
    evaluation.apply_network(buffers.row, evaluator.network, buffers)
    return np.float32(1) / (np.float32(1) + np.exp(-buffers.outputs[0]))


@jit
def _value(row, evaluator, search):
    """Value a position, and subtract the price of the moves that lead there."""
    if search.values[row] != WON:  # a fact that the network must not overwrite
        search.values[row] = network_value(search.positions[row], evaluator)
    search.worths[row] = search.values[row] - _PRICE * np.float32(search.depths[row])


@jit
def best_stop(g, evaluator, search, positions, expansions):
    """Search the positions that can be reached before a hidden card is turned.

    Args:
        g: a position with hidden cards.
        evaluator: `Evaluator`.
        search: `Search`; holds the positions that are reached, and their values and worths.
        positions: maximum number of positions to hold.
        expansions: maximum number of positions to expand.

    Returns:
        The row of the position to choose, and how many there are. Row 0 is ``g``.
    """
    # 1. The root. `values` are the network's chances. `worths` are the same less the price of the
    # moves; they decide which row is expanded next.
    begin(g, evaluator.rule, UNTIL_HIDDEN, positions, expansions, search)
    _value(0, evaluator, search)
    enqueue(0, search)
    best = 0
    # 2. Expand the best row that waits, and value the rows that are new, until a limit is reached.
    while may_expand(search):
        first, end = expand_best(evaluator.rule, evaluator.no_refills, UNTIL_HIDDEN, search)
        for new in range(first, end):
            _value(new, evaluator, search)
            if search.values[new] == WON:  # rows behind it have no worth yet, so they are cut off
                return new, new + 1
            # Where a card may be dealt, other positions follow as well; a refill is an end.
            if turn_at(search, new)[0] == new:
                enqueue(new, search)
            # The root, which is the best to begin with, may be a position without a deal.
            if may_stop(search, new) and (
                not may_stop(search, best) or search.worths[new] > search.worths[best]
            ):
                best = new
    return best, search.state[0].count


@jit
def best_stop_or_win(g, evaluator, search, limits):
    """`best_stop` while cards are hidden, `find_win` once none are.

    Args:
        limits: `SearchLimits`.

    Returns:
        The row of the position to choose, and whether nothing was hidden.
    """
    if nothing_hidden(g, evaluator.rule):
        most, expansions = limits.ending_positions, limits.ending_expansions
        return find_win(g, evaluator.rule, ADVICE, most, expansions, search), True
    best, _ = best_stop(g, evaluator, search, limits.positions, limits.expansions)
    return best, False


@jit
def turn(search, chosen, rule, game):
    """Play a decision in a GAME array of one, through the move that turns a hidden card.

    Args:
        search: of `best_stop`.
        chosen: row of the position that was chosen.
        game: written.
    """
    at, move = turn_at(search, chosen)
    game[0] = search.positions[at]
    play(game[0], rule, move)
