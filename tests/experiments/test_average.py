"""The mean of weights during training, and the clock that ends it."""

import time

import pytest
import torch

from four_seasons_env.agents.training import WeightAverage
from four_seasons_env.experiments.training.monitor import Clock


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


def test_the_first_limit_ends_the_run() -> None:
    clock = Clock(steps=100, minutes=1 / 60, core_minutes=None)
    clock.done_steps = 50
    assert clock.done == 0.5
    with clock.running():
        time.sleep(1.05)
    assert clock.done == 1.0
    assert clock.core_seconds < 0.5  # sleeping costs no processor time
    idle = Clock(steps=100, minutes=None, core_minutes=1 / 600)
    with idle.running():
        time.sleep(0.3)
    assert idle.done < 0.5
    with idle.running():
        started = time.process_time()
        while time.process_time() - started < 0.11:
            pass
    assert idle.done == 1.0
    before = clock.seconds, clock.core_seconds
    time.sleep(0.05)
    assert (clock.seconds, clock.core_seconds) == before
