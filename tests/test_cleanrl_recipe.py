"""The one-file PPO of docs/recipes/with_cleanrl.py learns, saves its policy and evaluates it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from four_seasons_env.agents import make_agent
from tests.helpers import ROOT, load

SMALL = {"games": 8, "minibatch": 64, "moves": 3 * 8 * 32, "layers": (16, 16, 8), "deals": 20}


@pytest.fixture(scope="module")
def recipe() -> Any:
    return load(ROOT / "docs" / "recipes" / "with_cleanrl.py")


def run(recipe: Any, out: Path, **flags: Any) -> Any:
    """The network after a tiny run."""
    return recipe.train(recipe.Flags(out=out, **{**SMALL, **flags}), torch.device("cpu"))[0]


def test_it_trains_saves_and_evaluates(
    recipe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe.main(recipe.Flags(out=tmp_path, device="cpu", **SMALL))
    *updates, parts, result = capsys.readouterr().out.splitlines()
    assert re.search(r"768 moves, +[\d,]+ per second; .*% of \d+ won", updates[-1])
    assert re.search(r"time: \d+% games, \d+% rows, \d+% choosing, \d+% learning", parts)
    assert json.loads(result).items() >= {"steps": 768, "games": 20, "illegal": 0}.items()
    assert list(tmp_path.glob("events.out.tfevents.*"))
    first, *_, last = (tmp_path / "curve.csv").read_text().splitlines()
    assert first == "steps,win_rate" and last.startswith("768,")
    make_agent(f"maskable_ppo:{tmp_path / 'policy'}")  # so `four-seasons compare` can play it


def test_threads_that_share_games_change_nothing(recipe: Any, tmp_path: Path) -> None:
    flags = {"games": 512, "moves": 512 * 4, "steps": 4, "minibatch": 1024}
    one, two = (run(recipe, tmp_path, threads=n, **flags).state_dict() for n in (1, 2))
    for name in one:
        torch.testing.assert_close(one[name], two[name], rtol=1e-3, atol=1e-4)


def test_batches_take_turns(recipe: Any, tmp_path: Path) -> None:
    network = run(recipe, tmp_path, batches=2)
    assert all(weights.isfinite().all() for weights in network.parameters())


def test_advantages_stop_at_the_end_of_a_game(recipe: Any) -> None:
    flags = recipe.Flags(steps=3, gamma=0.5, gae_lambda=0.5)
    rewards = torch.tensor([[1.0], [2.0], [4.0]])
    live = torch.tensor([[1.0], [0.0], [1.0]])
    values = torch.tensor([[8.0], [16.0], [32.0]])
    gains = recipe.advantages(rewards, live, values, torch.tensor([64.0]), flags)
    last, middle = 4 + 32 - 32, 2 - 16
    assert gains.flatten().tolist() == [1 + 8 - 8 + 0.25 * middle, middle, last]
