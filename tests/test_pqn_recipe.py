"""The one-file PQN of docs/recipes/with_pqn.py learns, saves its policy and evaluates it."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest
import torch

from four_seasons_env.agents import make_agent
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.rules import RULES
from tests.helpers import ROOT, load

SMALL = {"num_envs": 8, "layers": (16, 16, 8), "eval_deals": 20, "device": "cpu"}


@pytest.fixture
def recipe() -> Any:
    """The module, which a test may change: it is a new one."""
    return load(ROOT / "docs" / "recipes" / "with_pqn.py")


def test_compare_plays_the_games_of_the_recipe(
    recipe: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A position's value changes no choice, so the scores alone play the same moves."""
    recipe.main(recipe.Args(out=tmp_path, total_timesteps=3 * 8 * 32, **SMALL))
    *updates, result = map(json.loads, capsys.readouterr().out.splitlines()[-1:])
    assert not updates
    assert result.items() >= {"steps": 768, "games": 20, "illegal": 0}.items()
    first, *_, last = (tmp_path / "curve.csv").read_text().splitlines()
    assert first == "steps,win_rate" and last.startswith("768,")
    agent = make_agent(f"maskable_ppo:{tmp_path / 'policy'}")
    played = play_deals(agent, RULES["four-seasons"], range(10_000, 10_020), mask="no_repeats")
    assert played["cards_up"].mean() == pytest.approx(result["cards_up"], abs=0.006)


def test_values_are_dueling_over_legal_moves(recipe: Any) -> None:
    """The mean of a position's values, as log-odds, is the critic's; illegal moves do not count."""
    network = recipe.QNetwork("four-seasons", (16, 16, 8))
    env = recipe.gym.make_vec(recipe.ID, num_envs=5, **recipe.GAME)
    places, infos = env.reset(seed=0)
    mask = torch.from_numpy(infos["action_mask"]).bool()
    scores, value = super(recipe.QNetwork, network).forward(torch.from_numpy(places), mask)
    q = network(places, infos["action_mask"])
    assert torch.allclose(
        torch.stack([row[m].mean() for row, m in zip(q, mask, strict=True)]), value
    )
    assert torch.equal(q.argmax(dim=1), scores.argmax(dim=1))
    assert torch.equal(
        network.get_value(places, np.zeros_like(infos["action_mask"])), torch.zeros(5)
    )


def test_targets_stop_at_ends_and_truncated_games_have_a_rest(recipe: Any, tmp_path: Path) -> None:
    """Every position is worth a half; episodes are truncated after two moves, which earn little."""
    writer, asked = MagicMock(), []

    def get_value(network: Any, x: Any, mask: Any) -> Any:
        asked.append(len(x))
        assert np.asarray(mask).any(axis=1).all()
        return torch.full((len(x),), 0.5)

    recipe.QNetwork.get_value = get_value
    recipe.SummaryWriter = lambda out: writer
    targets: list[Any] = []
    loss = recipe.F.binary_cross_entropy_with_logits
    recipe.F = MagicMock()
    recipe.F.binary_cross_entropy_with_logits = lambda q, y: targets.append(y) or loss(q, y)
    how = {"gamma": 0.5, "q_lambda": 1.0, "max_moves": 2, "num_steps": 4}
    once = {"total_timesteps": 8 * 4, "num_minibatches": 1, "update_epochs": 1}
    recipe.main(recipe.Args(out=tmp_path, seed=1, **how, **once, **SMALL))
    (found,) = targets
    assert asked == [8, 8, 8]  # two ends, and the positions that follow the rollout
    # The rest of the game: 0.5 x 0.5, and seen from one move before, half of that.
    quarter, eighth = (int((abs(found - x) < 0.03).sum()) for x in (0.25, 0.125))
    assert (quarter, eighth) == (16, 16)
