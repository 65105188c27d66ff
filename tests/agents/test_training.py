"""The mean of weights during training."""

import pytest
import torch

from four_seasons_env.agents.training import WeightAverage


def set_to(module: torch.nn.Linear, value: float) -> None:
    torch.nn.init.constant_(module.weight, value)
    torch.nn.init.constant_(module.bias, -value)


def test_the_mean_covers_the_last_steps() -> None:
    module, average = torch.nn.Linear(1, 1), WeightAverage(0.5)
    assert torch.equal(average.of(module)["weight"], module.weight)
    for steps, value in ((100, 1.0), (200, 2.0), (300, 3.0), (400, 3.0)):
        set_to(module, value)
        average.update(module, steps)
    # weights 1; then 2 with 100 / (0.5 * 200); then 3 with 100 / 150, and with 100 / 200
    expected = 2.0 + (3.0 - 2.0) * 2 / 3
    expected += (3.0 - expected) / 2
    mean = average.of(module)
    assert float(mean["weight"]) == pytest.approx(expected)
    assert float(mean["bias"]) == pytest.approx(-expected)
    assert float(module.weight.detach()) == 3.0
    again = WeightAverage(0.5)
    again.restore(average.state())
    assert (again.steps, again.of(module)) == (400, mean)


def test_without_a_share_the_latest_count() -> None:
    module, average = torch.nn.Linear(1, 1), WeightAverage(0.0)
    for steps, value in ((10, 1.0), (20, 2.0)):
        set_to(module, value)
        average.update(module, steps)
        assert float(average.of(module)["weight"]) == value
