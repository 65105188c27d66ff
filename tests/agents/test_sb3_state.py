"""What is used of Stable-Baselines3 beyond its public interface: used fully, or refused by name."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("sb3_contrib", reason="training needs the extra 'train'")

from sb3_contrib import MaskablePPO

from four_seasons_env.agents.learned.learner import get_learner
from four_seasons_env.agents.learned.sb3_state import (
    InternalsError,
    require,
    restore_model,
    save_model,
)
from four_seasons_env.rules import RULES

pytestmark = pytest.mark.slow  # torch alone takes seconds to import


def new_learner() -> Any:
    """A small model that has not learned."""
    kind = get_learner("maskable_ppo")
    settings = kind.read_settings(["games=2", "n_steps=8", "batch_size=8", "layers=[8]"])
    return kind(RULES["four-seasons"], settings, 0)


def test_what_a_release_has_renamed_is_refused_by_name(tmp_path: Path) -> None:
    learner = new_learner()
    learner.update(0.0)
    save_model(tmp_path, learner.model)
    del learner.model._last_obs
    with pytest.raises(InternalsError, match="MaskablePPO has no '_last_obs' in Stable-Basel"):
        save_model(tmp_path, learner.model)
    with pytest.raises(InternalsError, match="_last_obs"):
        restore_model(tmp_path, learner.model)
    with pytest.raises(InternalsError, match="MaskablePPO has no '_act'"):
        require(MaskablePPO, "train", "_act")


def test_an_update_is_one_rollout_at_the_rate_of_the_runs_share() -> None:
    learner = new_learner()
    rates = []
    for i, done in enumerate((0.0, 0.5, 1.0)):
        update = learner.update(done)
        assert learner.steps == 16 * (i + 1)
        assert len(update.won) == len(update.cards_up)
        rates.append(update.records["train/learning_rate"])
        assert learner.model.policy.optimizer.param_groups[0]["lr"] == rates[-1]
    first = learner.settings.learning_rate
    assert rates == pytest.approx([first, first / 2, first / 20])
