"""The compiled network: each position alone, and pairs of cards in the waste."""

import numpy as np
import pytest

from four_seasons_env.agents.network.evaluation import (
    apply_network,
    new_network_buffers,
)
from four_seasons_env.agents.planner.best_stop import best_stop, new_evaluator
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.positions.features import (
    PAIR_ROWS,
    WASTE_SLOTS,
    pair_row,
    row_length,
    write_row,
)
from four_seasons_env.positions.search import WON, new_search
from four_seasons_env.rules import RULES
from tests.agents.fakes import value_network
from tests.helpers import RANKS, played_on


def plain_pairs(row: np.ndarray) -> np.ndarray:
    """How often each pair is in a waste."""
    count = np.zeros(PAIR_ROWS)
    cards = [card for card in row[-WASTE_SLOTS:] if card]
    for upper in range(len(cards)):
        for lower in range(upper):
            count[pair_row(cards[upper], cards[lower], upper - lower)] += 1
    return count


@pytest.mark.parametrize("row", ["czarina", "pysolfc/corners"])
def test_pairs_of_waste_cards(row):
    rules = RULES[row]
    out, most = np.zeros(row_length(rules.piles), np.int16), 0
    for game in played_on(rules, 20, 150):
        write_row(game.record[0], compile_rules(rules)[0], out)
        cards = game.waste
        bases = {suit: RANKS.index(card[0]) for suit, card in game.bases.items()}
        expected = np.zeros(PAIR_ROWS)
        for upper, card in enumerate(cards):
            for lower, other in enumerate(cards[:upper]):
                apart = upper - lower
                ranks = [(RANKS.index(c[0]) - bases[c[1]]) % rules.ranks for c in (card, other)]
                kind = 2 * (0 if apart == 1 else 1 if apart <= 5 else 2) + (card[1] == other[1])
                expected[169 * kind + 13 * ranks[0] + ranks[1]] += 1
        np.testing.assert_array_equal(plain_pairs(out), expected)
        most = max(most, len(cards))
    assert most > 1


@pytest.mark.parametrize("row", ["czarina", "pysolfc/simplicity"])
def test_search_values_each_position_alone(row):
    rules, network = RULES[row], value_network()
    search, evaluator = new_search(rules, 60), new_evaluator(rules, network)
    lower = 0
    for game in played_on(rules, 20, 150):
        _, count = best_stop(game.record[0], evaluator, search, 60, 30)
        for i in range(count):
            if search.values[i] != WON:
                alone = new_network_buffers(network, rules.piles)
                write_row(search.positions[i], evaluator.rule, alone.row)
                apply_network(alone.row, network, alone)
                assert search.values[i] == pytest.approx(1 / (1 + np.exp(-alone.outputs[0])))
                lower += len(game.waste) > search.positions[i]["height"][-1] > 0
    assert lower
