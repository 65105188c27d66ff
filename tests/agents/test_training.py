"""Learners: hyperparameters, and the mean of weights."""

import pytest
import torch

from four_seasons_env.agents.training import WeightAverage, get_learner, make_settings


@pytest.mark.parametrize("name", ["maskable_ppo", "next_deal_ppo"])
def test_flags_override_the_file(name: str) -> None:
    kind = get_learner(name)
    own = kind.read_settings()
    assert own.games > 0
    layers = [16] * len(own.layers)
    settings = kind.read_settings(["gamma=1", "games=5", f"layers={layers}"])
    assert (settings.gamma, settings.games, settings.layers) == (1.0, 5, layers)
    assert settings.learning_rate == own.learning_rate
    assert make_settings(kind.schema, vars(settings), name) == settings
    # YAML 1.1 reads this as text.
    assert kind.read_settings(["learning_rate=1e-3"]).learning_rate == 1e-3


def set_to(module: torch.nn.Linear, value: float) -> None:
    torch.nn.init.constant_(module.weight, value)
    torch.nn.init.constant_(module.bias, -value)


def test_the_mean_covers_the_last_steps() -> None:
    module, average = torch.nn.Linear(1, 1), WeightAverage(0.5)
    assert not average.weights
    for steps, value in ((100, 1.0), (200, 2.0), (300, 3.0), (400, 3.0)):
        set_to(module, value)
        average.update(module, steps)
    # weights 1; then 2 with 100 / (0.5 * 200); then 3 with 100 / 150, and with 100 / 200
    expected = 2.0 + (3.0 - 2.0) * 2 / 3
    expected += (3.0 - expected) / 2
    mean = average.weights
    assert float(mean["weight"]) == pytest.approx(expected)
    assert float(mean["bias"]) == pytest.approx(-expected)
    assert float(module.weight.detach()) == 3.0


def test_without_a_share_the_latest_count() -> None:
    module, average = torch.nn.Linear(1, 1), WeightAverage(0.0)
    for steps, value in ((10, 1.0), (20, 2.0)):
        set_to(module, value)
        average.update(module, steps)
        assert float(average.weights["weight"]) == value
