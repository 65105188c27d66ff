"""Pairs of cards in the waste: against a slow model, in a search, and in networks without them."""

import numpy as np
import pytest
from safetensors.numpy import load_file

from four_seasons_env.agents.bundled import BUNDLED
from four_seasons_env.agents.planner.search import new_evaluator, reach
from four_seasons_env.agents.planner.value_network import new_activations, new_network, value_of
from four_seasons_env.agents.planner.waste_pairs import PAIR_ROWS, new_waste, note_waste
from four_seasons_env.agents.planner.weights import load_network
from four_seasons_env.agents.policy_files import PolicyFileError, save_policy
from four_seasons_env.engine.cards import RANKS
from four_seasons_env.engine.kernel import compile_rules
from four_seasons_env.next_deal.features import GAME_ROWS, new_features, write_features
from four_seasons_env.next_deal.reach import WON, new_search
from four_seasons_env.rules import RULES, get_rules
from tests.agents.test_planner import positions
from tests.helpers import ROWS


def network_with_pairs():
    network = new_network(0)
    network.pairs[:] = np.random.default_rng(0).normal(0, 0.1, network.pairs.shape)
    return network


@pytest.mark.parametrize("row", ROWS)
def test_a_sum_counts_each_card_with_each_under_it_by_ranks_suits_and_distance(row):
    rules = RULES[row]
    rule, waste = compile_rules(rules)[0], new_waste(1)
    table = np.random.default_rng(0).integers(0, 1000, (PAIR_ROWS, 1)).astype(np.float32)
    most = 0
    for game in positions(rules, 20):
        note_waste(game.record[0], rule, table, waste)
        cards = game.waste
        bases = {suit: RANKS.index(card[0]) for suit, card in game.bases.items()}
        total = 0
        for upper, card in enumerate(cards):
            for lower, other in enumerate(cards[:upper]):
                apart = upper - lower
                ranks = [(RANKS.index(c[0]) - bases[c[1]]) % rules.ranks for c in (card, other)]
                kind = 2 * (0 if apart == 1 else 1 if apart <= 5 else 2) + (card[1] == other[1])
                total += int(table[169 * kind + 13 * ranks[0] + ranks[1], 0])
            assert waste.sums[upper + 1, 0] == total
        most = max(most, len(cards))
    assert waste.sums[0, 0] == 0
    assert most > 1


@pytest.mark.parametrize("row", ROWS)
def test_a_search_values_positions_as_if_each_had_been_met_alone(row):
    rules = RULES[row]
    network, alone = network_with_pairs(), new_activations()
    search, evaluator = new_search(rules, 60), new_evaluator(rules, network)
    lower = 0
    for game in positions(rules, 20):
        _, count = reach(game.record[0], evaluator, search, 60, 30)
        for i in range(count):
            if search.values[i] != WON:
                value = value_of(search.positions[i], evaluator.rule, network, alone)
                assert search.values[i] == pytest.approx(value, abs=1e-6)
                lower += len(game.waste) > search.positions[i]["height"][-1] > 0
    assert lower


def test_weights_that_know_of_no_pairs_keep_their_values():
    folder = BUNDLED / "planner" / "florentine"
    weights = load_file(folder / "model.safetensors")
    assert "pairs" not in weights
    rules = get_rules("florentine")
    rule, features, buffers = compile_rules(rules)[0], new_features(), new_activations()
    _, network = load_network(folder, rules)
    for game in positions(rules, 40):
        record = game.record[0]
        write_features(record, rule, features)
        counts = features.counts[0]
        suits = [weights["suits"][features.suits[s, : counts["suits"][s]]].sum(0) for s in range(4)]
        piles = [weights["piles"][rows].sum(0) for rows in features.piles[: counts["piles"]]]
        game_sums = weights["game"][features.game[: counts["game"]]].sum(0)
        pooled = np.concatenate(
            [
                np.maximum(suits, 0).sum(0),
                np.maximum(piles, 0).sum(0) if piles else np.zeros(64),
                np.maximum(game_sums, 0),
            ]
        )
        hidden = np.maximum(pooled @ weights["hidden"] + weights["hidden_bias"], 0)
        logit = hidden @ weights["out"] + weights["out_bias"][0]
        value = value_of(record, rule, network, buffers)
        assert value == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-5)


def test_what_a_narrower_network_lacks_can_be_learned():
    """Nothing of it is dead: each new unit has a way in or a way out that is not zero."""
    _, network = load_network(BUNDLED / "planner" / "florentine", get_rules("florentine"))
    assert network.game.shape[0] == GAME_ROWS
    assert (np.abs(network.game).sum(0) > 0).all()
    assert (np.abs(network.hidden).sum(0) > 0).all()


def test_weights_of_another_width_are_refused_by_name(tmp_path):
    card, _ = load_network(BUNDLED / "planner" / "florentine", get_rules("florentine"))
    weights = load_file(BUNDLED / "planner" / "florentine" / "model.safetensors")
    weights["game"] = weights["game"][:, :63]
    save_policy(tmp_path / "x", card, weights)
    with pytest.raises(PolicyFileError, match=r"has no 'game' of shape \(572, 64\)"):
        load_network(tmp_path / "x", get_rules("florentine"))
