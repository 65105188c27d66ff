"""The learner of docs/how-to/masked_dqn.py: its player, and its warm start."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from four_seasons_env.agents import save_policy
from four_seasons_env.agents.names import make_player
from four_seasons_env.agents.training import get_learner
from four_seasons_env.observations import observations_of
from four_seasons_env.rules import RULES
from tests.helpers import ROOT, midgame

RULE_SET = RULES["four-seasons"]


def learner(*settings: str) -> Any:
    kind: Any = get_learner("masked_dqn:MaskedDqn")
    return kind(RULE_SET, kind.read_settings(["games=2", *settings]), 0)


@pytest.fixture(autouse=True)
def _beside_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "docs" / "how-to")


@pytest.mark.parametrize("layers", [[], [16], [16, 16, 16]])
def test_the_player_has_all_layers(layers: list[int]) -> None:
    """It plays the best legal moves of the network that was trained."""
    trained = learner(f"layers={layers}")
    games, masks = midgame(50)
    player = make_player(trained.rules, *trained.policy({}), {})
    seen = np.hstack([observations_of(games, trained.rules, "cards"), masks]).astype(np.float32)
    with torch.no_grad():
        best = trained.module.q_net(torch.from_numpy(seen)).argmax(dim=1)
    assert player.act(games, masks, np.random.default_rng(0)).tolist() == best.tolist()


def test_a_warm_start_reaches_the_target_network(tmp_path: Path) -> None:
    start, begun = learner("layers=[16]"), learner("layers=[16]")
    with torch.no_grad():
        for each in start.module.q_net.parameters():
            each.add_(1)
    save_policy(tmp_path, *start.policy({}))
    begun.warm_start(f"{begun.name}:{tmp_path}")
    for network in (begun.module.q_net, begun.module.q_net_target):
        torch.testing.assert_close(network.state_dict(), start.module.q_net.state_dict())
