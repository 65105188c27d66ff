"""Learners: hyperparameters, and the mean of weights."""

import math
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from four_seasons_env.agents.training import (
    LOSS,
    Learner,
    Update,
    WeightAverage,
    get_learner,
    make_settings,
)
from four_seasons_env.rules import RULES


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


def test_what_has_no_mean_is_the_latest() -> None:
    """The counter of a `BatchNorm`, a whole number; its other tensors have means."""
    module, average = torch.nn.BatchNorm1d(1), WeightAverage(1.0)
    for steps, value in ((100, 1.0), (200, 2.0)):
        module.running_mean.fill_(value)
        module.num_batches_tracked.fill_(steps)
        average.update(module, steps)
    assert average.weights["num_batches_tracked"] == 200
    assert average.weights["running_mean"] == 1.5


class Fixed(Learner):
    """Learns this weight, with this loss; None: a library refuses the weight in its own words."""

    name, unit = "mine", "games"

    def __init__(self, loss: float | None, weight: float) -> None:
        super().__init__(RULES["czarina"], SimpleNamespace(rate=lambda done: 0.5 * (1 - done)), 0)
        self.module: Any = torch.nn.Linear(1, 1)
        self._loss, self._weight = loss, weight

    def update(self, _: float) -> Update:
        set_to(self.module, self._weight)
        if self._loss is None:
            raise KeyError("mine")
        self.steps += 1200
        return Update([], [], {LOSS: self._loss})

    def card_fields(self) -> dict[str, Any]:
        return {}

    state = card_fields

    def restore(self, state: dict[str, Any]) -> None: ...


@pytest.mark.parametrize(
    ("loss", "weight", "steps"),
    [(math.inf, 1.0, "1,200"), (0.5, math.nan, "1,200"), (None, math.inf, "0")],
)
def test_loss_and_weights_must_be_finite(loss: float | None, weight: float, steps: str) -> None:
    says = f"are not after {steps} games at a learning rate of 0.25: choose a lower learning_rate"
    with pytest.raises(RuntimeError, match=says):
        Fixed(loss, weight).checked_update(0.5)


def test_what_is_finite_goes_on() -> None:
    assert Fixed(0.5, 1.0).checked_update(0.5).records == {LOSS: 0.5}
    with pytest.raises(KeyError, match="mine"):
        Fixed(None, 1.0).checked_update(0.5)


def test_an_update_counts_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a run would never end."""
    monkeypatch.setattr(Fixed, "update", lambda self, done: Update([], [], {}))
    with pytest.raises(
        RuntimeError, match=r"^Fixed.update must count its games.* self.steps \+= n"
    ):
        Fixed(0.5, 1.0).checked_update(0.5)


def test_an_update_says_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fixed, "update", lambda self, done: None)
    with pytest.raises(TypeError, match=r"^Fixed.update must return an Update, not a NoneType"):
        Fixed(0.5, 1.0).checked_update(0.5)
