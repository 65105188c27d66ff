"""PPO on rule sets of every kind; its players score as its models do."""

from pathlib import Path

import numpy as np
import pytest
import torch

from four_seasons_env.agents import make_agent
from four_seasons_env.agents.learned.network_agent import NetworkAgent
from four_seasons_env.agents.learned.next_deal_agent import NextDealAgent
from four_seasons_env.agents.learned.ppo import Ppo
from four_seasons_env.agents.training import get_learner
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.matches.play import play_deals
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.observations import KINDS, encode_all, observation_length
from four_seasons_env.rules import RULES, Rules
from tests.agents.policies import SMALL_RUNS

pytestmark = pytest.mark.slow  # torch alone takes seconds to import
DEFAULT = RULES["four-seasons"]


def make(name: str, rules: Rules = DEFAULT, *overrides: str, seed: int = 0) -> Ppo:
    kind = get_learner(name)
    learner = kind(rules, kind.read_settings([*SMALL_RUNS[name], *overrides]), seed)
    assert isinstance(learner, Ppo)
    return learner


@pytest.mark.parametrize(
    ("name", "rules"), [("next_deal_ppo", "pysolfc/florentine"), ("maskable_ppo", "corners")]
)
def test_algorithms_learn_other_rules(name: str, rules: str, tmp_path: Path) -> None:
    run = Train(
        out=tmp_path / "x",
        agent=name,
        rules=rules,
        steps="96",
        set=SMALL_RUNS[name],
        validations=1,
        validation_deals=4,
    )
    train(run)
    agent = make_agent(f"{name}:{run.out / 'best'}", rules)
    played = play_deals(agent, RULES[rules], range(TRAIN_FROM, TRAIN_FROM + 4))
    assert (played["moves"] > 0).all()


@pytest.mark.parametrize("name", ["next_deal_ppo", "maskable_ppo", "planner"])
def test_every_seed_can_be_trained(name: str) -> None:
    """Small seeds stay what they were; large ones differ, and play training deals only."""
    kind = get_learner(name)
    settings = kind.read_settings(SMALL_RUNS[name])
    for seed in (2**23, 2**32 + 1, 2**63 - 1):
        assert kind(DEFAULT, settings, seed).update(0.0).records


def test_an_update_is_one_rollout_at_its_rate() -> None:
    learner = make("maskable_ppo", DEFAULT, "games=2", "n_steps=8")
    rates = []
    for i, done in enumerate((0.0, 0.5, 1.0)):
        update = learner.update(done)
        assert learner.steps == 16 * (i + 1)
        assert len(update.won) == len(update.cards_up)
        rates.append(update.records["train/learning_rate"])
        assert learner.model.policy.optimizer.param_groups[0]["lr"] == rates[-1]
    first = learner.settings.learning_rate
    assert rates == pytest.approx([first, first / 2, first / 20])


def test_a_network_scores_as_its_model_does() -> None:
    """The player's own forward pass against Stable-Baselines3's."""
    games = np.zeros(5, kernel.GAME)
    rule = kernel.compile_rules(DEFAULT)
    kernel.start_all(games, rule, np.arange(5) + TRAIN_FROM)
    masks = np.ones((5, 32), np.int8)
    learner = make("maskable_ppo", DEFAULT, "layers=[16, 8]")
    settings, policy = learner.settings, learner.model.policy
    card, weights = learner.policy({})
    scores = NetworkAgent(DEFAULT, card, weights).scores(games, masks)
    kind = KINDS[settings.observation]
    observations = np.empty((5, observation_length(DEFAULT, settings.observation)), np.float32)
    encode_all(games, rule, kind, observations)
    with torch.no_grad():
        latent = policy.mlp_extractor.forward_actor(torch.as_tensor(observations))
        expected = policy.action_net(latent)
    np.testing.assert_allclose(scores, expected.numpy(), atol=1e-5)


def test_the_player_scores_as_the_policy_does() -> None:
    """Compiled evaluation against torch's, on the same weights."""
    learner = make("next_deal_ppo")
    model, env = learner.model, learner.model.get_env()
    for head in (model.policy.mlp_extractor.score, model.policy.mlp_extractor.value):
        torch.nn.init.normal_(head.weight)
    card, weights = learner.policy({})
    start = env.reset()
    scores, values = NextDealAgent(DEFAULT, card, weights).scores(env.venv.games.copy())
    seen = {name: torch.from_numpy(each) for name, each in start.items()}
    with torch.no_grad():
        encoded = model.policy.features_extractor(seen)
        heads = [
            head(encoded[..., :-1]).squeeze(-1).numpy()
            for head in (model.policy.mlp_extractor.score, model.policy.mlp_extractor.value)
        ]
    used = seen["action_mask"].numpy().astype(bool)
    assert not np.isfinite(scores[~used]).any()
    for ours, theirs in zip((scores, values), heads, strict=True):
        np.testing.assert_allclose(ours[used], theirs[used], rtol=1e-4, atol=1e-5)
