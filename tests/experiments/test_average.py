"""The mean of a training's weights, and the clock by which it ends."""

import time

import pytest
import torch

from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.stable_baselines import WeightAverage


class Model:
    """As much of a model as the average looks at."""

    def __init__(self, value: float) -> None:
        self.policy = torch.nn.Linear(1, 1)
        self.set(value)

    def set(self, value: float) -> None:
        with torch.no_grad():
            self.policy.weight.fill_(value)
            self.policy.bias.fill_(-value)

    @property
    def value(self) -> float:
        return float(self.policy.weight.detach())


def test_the_mean_is_over_the_last_share_of_the_steps() -> None:
    model, average = Model(1.0), WeightAverage(0.5)
    average.update(model, 100)
    for steps, value in ((200, 2.0), (300, 3.0), (400, 3.0)):
        model.set(value)
        average.update(model, steps)
    # weights 1; then 2 with 100 / (0.5 * 200); then 3 with 100 / 150, and with 100 / 200
    expected = 2.0 + (3.0 - 2.0) * 2 / 3
    expected += (3.0 - expected) / 2
    with average.in_place_of(model):
        assert model.value == pytest.approx(expected)
        assert float(model.policy.bias.detach()) == pytest.approx(-expected)
    assert model.value == 3.0
    average.update(model, 400)  # nothing new
    assert float(average.weights["weight"]) == pytest.approx(expected)


def test_the_model_gets_its_weights_back_whatever_happens() -> None:
    model, average = Model(1.0), WeightAverage(0.5)
    average.update(model, 10)
    model.set(5.0)
    with pytest.raises(KeyError), average.in_place_of(model):
        raise KeyError
    assert model.value == 5.0


def test_without_a_share_the_latest_weights_count() -> None:
    model, average = Model(1.0), WeightAverage(0.0)
    average.update(model, 10)
    model.set(2.0)
    with average.in_place_of(model):
        assert model.value == 2.0


def test_the_clock_ends_by_whichever_limit_comes_first() -> None:
    clock = Clock(steps=100, minutes=1 / 60, core_minutes=None)
    clock.start()
    clock.done_steps = 50
    assert clock.done >= 0.5
    time.sleep(1.05)
    assert clock.done == 1.0
    assert clock.core_seconds < 0.5  # sleeping costs no processor time
    idle = Clock(steps=100, minutes=None, core_minutes=1 / 600)
    idle.start()
    time.sleep(0.3)
    assert idle.done < 0.5
    started = time.process_time()
    while time.process_time() - started < 0.11:
        pass
    assert idle.done == 1.0
    with clock.stopped():
        before = clock.seconds, clock.core_seconds
        time.sleep(0.05)
        assert (clock.seconds, clock.core_seconds) == before
    again = Clock(steps=100)
    again.start(7.0, 9.0)
    assert 7.0 <= again.seconds < 8.0
    assert 9.0 <= again.core_seconds < 10.0
