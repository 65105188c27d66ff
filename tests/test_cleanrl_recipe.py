"""The one-file PPO of docs/recipes/with_cleanrl.py masks, learns and evaluates."""

import json
from typing import Any

import gymnasium as gym
import pytest
import torch

from tests.helpers import ROOT, load

SMALL = {"games": 8, "minibatch": 64, "deals": 20}


@pytest.fixture(scope="module")
def recipe() -> Any:
    return load(ROOT / "docs" / "recipes" / "with_cleanrl.py")


def test_masked_candidates_have_no_chance(recipe: Any) -> None:
    envs = gym.make_vec(recipe.ID, num_envs=16, **recipe.FAST)
    candidates, masks = recipe.tensors(envs.reset(seed=0)[0])
    assert not masks.all()
    agent = recipe.Agent(candidates.shape[2], hidden=8)
    torch.nn.init.normal_(agent.score.weight)
    chances, _ = agent(candidates, masks)
    assert (chances.probs[~masks] == 0).all()
    assert (chances.entropy() <= masks.sum(dim=1).log() + 1e-6).all()
    chances.entropy().sum().backward()
    assert all(p.grad.isfinite().all() for p in agent.parameters() if p.grad is not None)


def test_it_trains_and_evaluates(recipe: Any, capsys: pytest.CaptureFixture[str]) -> None:
    recipe.main(recipe.Flags(updates=3, **SMALL))
    *updates, result = capsys.readouterr().out.splitlines()
    assert len(updates) == 3
    assert all("of 8 games won" in line for line in updates)
    assert json.loads(result).items() >= {"steps": 3 * 46 * 8, "games": 20, "illegal": 0}.items()


def test_games_cut_off_keep_their_value(recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(recipe.FAST, "max_moves", 30)
    agent = recipe.train(recipe.Flags(updates=2, **SMALL))
    assert all(weights.isfinite().all() for weights in agent.parameters())
