"""The one-file PPO of docs/recipes/with_cleanrl.py learns, saves its policy and evaluates it."""

import json
import re
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import gymnasium as gym
import numpy as np
import pytest
import torch

from four_seasons_env.agents import make_agent
from tests.helpers import ROOT, load

SMALL = {"num_envs": 8, "layers": (16, 16, 8), "eval_deals": 20, "device": "cpu"}


@pytest.fixture
def recipe() -> Any:
    """The module, which a test may change: it is a new one."""
    return load(ROOT / "docs" / "recipes" / "with_cleanrl.py")


def test_it_trains_saves_and_evaluates(
    recipe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.main(recipe.Args(out=tmp_path, total_timesteps=3 * 8 * 32, target_kl=1.0, **SMALL))
    *updates, result = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"768 moves, [\d,]+ per second: .*% of the last games won", updates[-1])
    assert json.loads(result).items() >= {"steps": 768, "games": 20, "illegal": 0}.items()
    assert list(tmp_path.glob("events.out.tfevents.*"))
    first, *_, last = (tmp_path / "curve.csv").read_text().splitlines()
    assert first == "steps,win_rate" and last.startswith("768,")
    make_agent(f"maskable_ppo:{tmp_path / 'policy'}")  # so `four-seasons compare` can play it


def test_truncated_episodes_end_with_a_value(recipe: Any, tmp_path: Path) -> None:
    """The critic always says 10, and episodes of two moves earn almost nothing."""
    writer, forward, played, valued = MagicMock(), recipe.Agent.forward, set(), set()

    def score(agent: Any, x: Any, mask: Any) -> Any:
        played.update(map(bytes, np.asarray(x)))
        return forward(agent, x, mask)[0], torch.full((len(x),), 10.0)

    def get_value(agent: Any, x: Any, mask: Any) -> Any:
        valued.update(map(bytes, x))
        return torch.full((len(x),), 10.0)

    recipe.Agent.forward, recipe.Agent.get_value = score, get_value
    recipe.SummaryWriter = lambda out: writer
    estimate = {"gamma": 0.5, "gae_lambda": 0.5, "max_moves": 2, "num_steps": 4}
    once = {"total_timesteps": 8 * 4, "num_minibatches": 1, "update_epochs": 1}
    recipe.main(recipe.Args(out=tmp_path, seed=1, **estimate, **once, **SMALL))
    logged = dict(call.args[:2] for call in writer.add_scalar.call_args_list)
    second = 0.5 * 10 - 10  # the advantage of the second move: what follows is worth 10
    first = 0.5 * 10 - 10 + 0.5 * 0.5 * second
    names = {f"losses/{each}_loss" for each in ("policy", "value")}  # CleanRL's
    names |= {"losses/entropy", "losses/approx_kl", "charts/SPS"}
    assert logged.keys() == names | {"charts/win_rate"}
    loss = (first**2 + second**2) / 4  # half of the mean square
    assert logged["losses/value_loss"].item() == pytest.approx(loss, abs=0.25)
    assert len(valued) == 3 * 8 and not valued & played  # the last positions, not the next games
    openings, _ = gym.make_vec("FourSeasons-v0", num_envs=8, observation="places").reset(seed=8)
    assert played.issuperset(map(bytes, openings))  # seed 0 has those before
