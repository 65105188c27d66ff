"""What is used of Stable-Baselines3 beyond its public interface: used fully, or refused by name."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sb3_contrib", reason="training needs the extra 'train'")

from sb3_contrib import MaskablePPO

from four_seasons_env.agents.learned.algorithms import ALGORITHMS
from four_seasons_env.agents.learned.sb3_internals import (
    InternalsError,
    learning_state,
    require,
    restore_learning_state,
    schedule_by,
)
from four_seasons_env.rules import RULES

pytestmark = pytest.mark.slow  # torch alone takes seconds to import
DEFAULT = RULES["four-seasons"]


def new_model():
    """A small model that has not learned."""
    algorithm = ALGORITHMS["maskable_ppo"]
    overrides = ["games=2", "n_steps=8", "batch_size=8", "layers=[8]"]
    settings = algorithm.read_settings(overrides=overrides)
    return algorithm.make_model(algorithm.make_games(settings, DEFAULT, seed=0), settings, 0)


def test_a_fresh_model_takes_over_the_state_of_another():
    one, two = new_model(), new_model()
    one.learn(32)
    state = learning_state(one)
    assert state.counters["num_timesteps"] >= 32
    restore_learning_state(two, state)
    again = learning_state(two)
    assert again.counters == state.counters
    np.testing.assert_array_equal(again.observations, state.observations)
    np.testing.assert_array_equal(again.episode_starts, state.episode_starts)
    assert two.ep_info_buffer.maxlen == one.ep_info_buffer.maxlen


def test_what_a_release_has_renamed_is_refused_by_name():
    model = new_model()
    model.learn(16)
    state = learning_state(model)
    del model._last_obs
    with pytest.raises(InternalsError, match="MaskablePPO has no '_last_obs' in Stable-Basel"):
        learning_state(model)
    with pytest.raises(InternalsError, match="_last_obs"):
        restore_learning_state(model, state)
    with pytest.raises(InternalsError, match="MaskablePPO has no '_act'"):
        require(MaskablePPO, "train", "_act")
    with pytest.raises(InternalsError, match="no 'lr_schedule'"):
        schedule_by(SimpleNamespace(), lambda: 1.0)


def test_the_learning_rate_follows_the_clock_alone():
    model = new_model()
    settings_rate, left = model.lr_schedule(1.0), 1.0
    schedule_by(model, lambda: left)
    assert model.lr_schedule(0.1) == settings_rate
    left = 0.5
    assert model.lr_schedule(1.0) == pytest.approx(settings_rate / 2)
    model.learn(16)
    assert model.policy.optimizer.param_groups[0]["lr"] == pytest.approx(settings_rate / 2)
