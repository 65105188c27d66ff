"""PPO on rule sets of every kind; its players score as its models do."""

import base64
import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from gymnasium import spaces
from sb3_contrib import MaskablePPO

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents.learned.move_policy import MovePolicy
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.learned.next_deal_agent import NextDealAgent
from four_seasons_env.agents.learned.ppo import Ppo
from four_seasons_env.agents.training import get_learner
from four_seasons_env.rules import RULES, Rules
from tests.agents.fakes import SMALL_RUNS
from tests.helpers import mostly_slow, observe, played_on

pytestmark = pytest.mark.slow  # torch alone takes seconds to import
DEFAULT = RULES["four-seasons"]


def make(name: str, rules: Rules = DEFAULT) -> Ppo:
    kind = get_learner(name)
    learner = kind(rules, kind.read_settings(SMALL_RUNS[name]), seed=0)
    assert isinstance(learner, Ppo)
    return learner


@pytest.mark.parametrize("name", ["next_deal_ppo", "maskable_ppo", "planner"])
def test_every_seed_can_be_trained(name: str) -> None:
    """For libraries, seeds with the same low bits are the same."""
    kind = get_learner(name)
    settings = kind.read_settings(SMALL_RUNS[name])
    learners = [kind(DEFAULT, settings, seed) for seed in (1, 2**23, 2**32 + 1, 2**63 - 1)]
    assert len({learner.seed for learner in learners}) == len(learners)
    assert all(learner.update(0.0).records for learner in learners)


@pytest.mark.parametrize("name", mostly_slow(RULES))
def test_moves_are_scored_as_by_the_model(name: str) -> None:
    """The player without torch against the policy."""
    games = [game for game in played_on(RULES[name], 20, 120) if not game.is_over]
    masks = np.array([game.action_mask() for game in games])
    learner = make("maskable_ppo", RULES[name])
    torch.nn.init.normal_(learner.model.policy.network.score)
    card, weights = learner.policy({})
    records = np.concatenate([game.record for game in games])
    scores = NetworkAgent(RULES[name], card, weights).scores(records, masks)
    places = torch.from_numpy(np.array([observe(game, "places") for game in games]))
    with torch.no_grad():
        expected = learner.model.policy.network(places, torch.from_numpy(masks).bool())[0].numpy()
    assert np.isneginf(scores[masks == 0]).all()
    np.testing.assert_allclose(scores[masks > 0], expected[masks > 0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["simplicity", "florentine"])
def test_a_policy_finds_its_rules(name: str, tmp_path: Path) -> None:
    """In the space of the games, which a saved model keeps; without them it is the default's."""
    env = FourSeasonsVecEnv(2, rules=name, observation="places")
    model = MaskablePPO(MovePolicy, env, n_steps=8, batch_size=8).learn(16)
    model.save(tmp_path / "model")
    model.policy.save(tmp_path / "policy")
    loaded = [MaskablePPO.load(tmp_path / "model").policy, MovePolicy.load(tmp_path / "policy")]
    assert [each.network.rules for each in (model.policy, *loaded)] == 3 * [RULES[name]]
    plain = spaces.Box(env.observation_space.low, env.observation_space.high, dtype=np.uint8)
    with pytest.raises(ValueError, match="choose other rules"):
        MovePolicy(plain, env.action_space, lambda _: 0.1)


def test_sb3_reads_a_saved_model(tmp_path: Path) -> None:
    """With masks, without them, and when it learns on. It holds no code."""
    learner = make("maskable_ppo")
    learner.update(0.0)
    learner.model.save(tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model.zip") as file:
        values = json.loads(file.read("data")).values()
    pickles = [each[":serialized:"] for each in values if ":serialized:" in str(each)]
    assert not any(b"_make_function" in base64.b64decode(each) for each in pickles)
    env = learner.model.get_env()
    model = MaskablePPO.load(tmp_path / "model", env=env)
    places, masks = env.reset(), env.action_masks()
    for each in (masks, None):
        how = {"deterministic": True, "action_masks": each}
        assert (model.predict(places, **how)[0] == learner.model.predict(places, **how)[0]).all()
    assert masks[np.arange(len(masks)), model.predict(places, action_masks=masks)[0]].all()
    model.learn(64)


def test_the_player_scores_as_the_policy_does() -> None:
    """Compiled evaluation against torch's, on the same weights."""
    learner = make("next_deal_ppo")
    model, env = learner.model, learner.model.get_env()
    heads = model.policy.mlp_extractor.score, model.policy.mlp_extractor.value
    for head in heads:
        torch.nn.init.normal_(head.weight)
    card, weights = learner.policy({})
    start = env.reset()
    player = NextDealAgent(DEFAULT, card, weights)
    scores, values = player.scores(start["observation"], start["action_mask"])
    seen = {name: torch.from_numpy(each) for name, each in start.items()}
    with torch.no_grad():
        encoded = model.policy.features_extractor(seen)
        outputs = [head(encoded[..., :-1]).squeeze(-1).numpy() for head in heads]
    used = seen["action_mask"].numpy().astype(bool)
    assert not np.isfinite(scores[~used]).any()
    for ours, theirs in zip((scores, values), outputs, strict=True):
        np.testing.assert_allclose(ours[used], theirs[used], rtol=1e-4, atol=1e-5)
