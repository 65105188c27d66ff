"""Compiled networks: against NumPy, and each position by itself."""

import numpy as np
import pytest

from four_seasons_env import FourSeasonsNextDealVectorEnv
from four_seasons_env.agents.learned.candidates.network import NETWORKS
from four_seasons_env.agents.network.dense import (
    ShapeError,
    apply_sparse,
    apply_to_four,
    dense_layer,
)
from four_seasons_env.next_deal.features import PILE_FEATURES, SUIT_SLOTS
from tests.agents.policies import candidate_weights, layers

HEADS = ("mlp_extractor.score", "mlp_extractor.value")


def observed(rules: str, observation: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of candidates that random play is offered, their decisions and their places."""
    env = FourSeasonsNextDealVectorEnv(8, rules, candidates=12, observation=observation)
    seen, _ = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(15):
        masks = env.action_masks()
        seen, *_ = env.step(np.where(masks, rng.random(masks.shape), -1).argmax(axis=1))
    decisions, places = seen["action_mask"].nonzero()
    rows = seen["observation"]
    return rows.reshape(-1, rows.shape[2]), decisions, 12 * decisions + places


def plain_tables(rows: np.ndarray, weights: dict[str, np.ndarray]) -> np.ndarray:
    """The hidden layer's inputs, summed anew for each row."""
    suits, piles, game = (
        np.vstack([np.zeros_like(table[:1]), table])
        for table in (weights[f"features_extractor.{name}"] for name in ("suits", "piles", "game"))
    )
    own = rows[:, : 4 * SUIT_SLOTS].reshape(len(rows), 4, SUIT_SLOTS)
    of_piles = rows[:, 4 * SUIT_SLOTS : -74].reshape(len(rows), -1, PILE_FEATURES)
    parts = [suits[own].sum(2), piles[of_piles].sum(2), game[rows[:, None, -74:]].sum(2)]
    return np.hstack([np.maximum(part, 0).sum(1) for part in parts])


def plain_dense(x: np.ndarray, weights: dict[str, np.ndarray], name: str) -> np.ndarray:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


@pytest.mark.parametrize("rules", ["four-seasons", "pysolfc/czarina", "simplicity"])
def test_tables_and_heads_are_those_of_numpy(rules):
    rows, decisions, chosen = observed(rules, "features")
    weights = candidate_weights()
    network = NETWORKS["tables"](weights, [8, 4, 8, 8], rows.shape[1])
    outputs = network.evaluate(rows, decisions, chosen)
    hidden = plain_dense(plain_tables(rows[chosen], weights), weights, "features_extractor.dense")
    expected = np.hstack([plain_dense(np.maximum(hidden, 0), weights, name) for name in HEADS])
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-4)
    # A decision is evaluated by itself: others before it do not change its last bits.
    last = decisions == decisions[-1]
    alone = network.evaluate(rows, decisions[last], chosen[last])
    np.testing.assert_array_equal(alone, outputs[last])


@pytest.mark.parametrize("observation", ["tops", "cards"])
def test_a_perceptron_over_candidates_is_that_of_numpy(observation):
    rows, decisions, chosen = observed("four-seasons", observation)
    names = [f"features_extractor.layers.{2 * i}" for i in range(2)]
    weights = layers(names, [rows.shape[1], 16, 8])
    for seed, name in enumerate(HEADS):
        weights |= layers([name], [8, 1], seed)
    outputs = NETWORKS["mlp"](weights, [16, 8], rows.shape[1]).evaluate(rows, decisions, chosen)
    x = rows[chosen]
    for name in names:
        x = np.maximum(plain_dense(x, weights, name), 0)
    expected = np.hstack([plain_dense(x, weights, name) for name in HEADS])
    np.testing.assert_allclose(outputs, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("inputs", [40, 43])
def test_a_dense_layer_answers_each_row_by_itself(inputs):
    weights = layers(["x"], [inputs, 24])
    layer = dense_layer(weights, "x", inputs, 24)
    x = np.random.default_rng(0).normal(size=(30, inputs)).astype(np.float32)
    x[x < 0] = 0
    expected = plain_dense(x, weights, "x")
    out, alone = np.empty((30, 24), np.float32), np.empty((1, 24), np.float32)
    apply_sparse(x, layer, out)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    apply_sparse(x[7:8], layer, alone)
    np.testing.assert_array_equal(alone[0], out[7])
    four, other = np.empty((2, 4, 24), np.float32)
    apply_to_four(x[:4], layer, four)
    np.testing.assert_allclose(four, expected[:4], rtol=1e-5, atol=1e-5)
    apply_to_four(x[[3, 9, 8, 7]], layer, other)
    np.testing.assert_array_equal(other[0], four[3])


def test_layers_of_another_shape_are_refused():
    weights = layers(["x"], [4, 3])
    with pytest.raises(ShapeError, match=r"x.weight is of shape \(3, 4\), not of shape \(3, 5\)"):
        dense_layer(weights, "x", 5, 3)
    with pytest.raises(ShapeError, match=r"y.weight is missing, not of shape \(3, 4\)"):
        dense_layer(weights, "y", 4, 3)
