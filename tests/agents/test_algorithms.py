"""The learning algorithms: masks in every place, warm starts, and all rule sets."""

from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.agents import make_agent
from four_seasons_env.agents.learned.algorithms import ALGORITHMS, MoveAlgorithm, get_algorithm
from four_seasons_env.agents.learned.cloning import ALONE, clone, demonstrate
from four_seasons_env.agents.learned.maskable_dqn import MaskableDQN
from four_seasons_env.agents.learned.settings import Settings
from four_seasons_env.agents.policy_files import PolicyFileError
from four_seasons_env.engine import kernel
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments.evaluation.play import play_deals
from four_seasons_env.experiments.train import Train, train
from four_seasons_env.observations import OBSERVATIONS, encode_all, observation_length
from four_seasons_env.rules import RULES, Rules
from tests.helpers import small

DEFAULT = RULES["four-seasons"]
MOVE_LEVEL = [name for name, each in ALGORITHMS.items() if isinstance(each, MoveAlgorithm)]
SMALL = {
    "next_deal_ppo": [
        *("games=4", "n_steps=8", "batch_size=16", "layers=[8,4,8,8]", "candidates=8"),
        *("expansions=10", "ending_expansions=20", "play_candidates=8", "play_expansions=10"),
        "play_ending_expansions=20",
    ],
    "maskable_ppo": ["games=4", "n_steps=8", "batch_size=16", "layers=[8]", "max_moves=30"],
    "maskable_dqn": [
        *("games=4", "batch_size=16", "layers=[8]", "learning_starts=16", "buffer_size=400"),
        "max_moves=30",
    ],
}


def make(
    name: str, rules: Rules = DEFAULT, *overrides: str, seed: int = 0
) -> tuple[MaskableDQN | MaskablePPO, Settings]:
    algorithm = get_algorithm(name)
    settings = algorithm.read_settings(overrides=[*SMALL[name], *overrides])
    env = algorithm.make_games(settings, rules)
    return algorithm.make_model(env, settings, seed), settings


USUALLY = ("four-seasons", "corners", "florentine", "pysolfc/simplicity")
"""Rows that the default tests train on: unlike in piles, spaces, redeals and actions."""


@pytest.mark.parametrize(
    "rules",
    [pytest.param(name, marks=[] if name in USUALLY else [pytest.mark.slow]) for name in RULES],
)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_learns_every_rule_set(name: str, rules: str, tmp_path: Path) -> None:
    run = Train(
        out=tmp_path / "x",
        agent=name,
        rules=rules,
        steps="96",
        set=SMALL[name],
        validations=1,
        validation_deals=4,
    )
    train(run)
    agent = make_agent(f"{name}:{run.out / 'best'}", rules)
    played = play_deals(agent, RULES[rules], range(TRAIN_FROM, TRAIN_FROM + 4))
    assert (played["moves"] > 0).all()


class Watched(FourSeasonsVecEnv):
    """Remembers whether an illegal action was ever taken, and refuses it."""

    def step_async(self, actions: np.ndarray) -> None:
        assert self.action_masks()[np.arange(self.num_envs), actions].all()
        super().step_async(actions)


def dqn_on(env: FourSeasonsVecEnv, *overrides: str) -> MaskableDQN:
    algorithm = get_algorithm("maskable_dqn")
    settings = algorithm.read_settings(overrides=[*SMALL["maskable_dqn"], *overrides])
    model = algorithm.make_model(env, settings, 0)
    assert isinstance(model, MaskableDQN)
    return model


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_exploring_and_greedy_moves_are_legal(epsilon: float) -> None:
    env = Watched(4, seed=0, max_moves=20)
    overrides = [f"exploration_{end}_eps={epsilon}" for end in ("initial", "final")]
    model = dqn_on(env, *overrides)
    model.learn(400, log_interval=None)
    assert model.num_timesteps == 400
    masks = env.action_masks()
    actions, _ = model.predict(model._last_obs, deterministic=True, action_masks=masks)
    values = model.q_net(torch.as_tensor(model._last_obs)).detach().numpy()
    np.testing.assert_array_equal(actions, np.where(masks, values, -np.inf).argmax(axis=1))
    with pytest.raises(ValueError, match="pass action_masks"):
        model.predict(model._last_obs)


def test_exploration_draws_among_all_legal_moves() -> None:
    env = FourSeasonsVecEnv(1, seed=0)
    model = dqn_on(env, "games=1")
    model.exploration_rate = 1.0
    observations = env.reset()
    masks = env.action_masks()
    drawn = np.concatenate(
        [model.predict(observations, action_masks=masks)[0] for _ in range(60 * masks.sum())]
    )
    counts = np.bincount(drawn, minlength=masks.shape[1])
    assert (counts[masks[0]] > 30).all()  # of some 60 each
    assert not counts[~masks[0]].any()


@pytest.mark.parametrize("rules", [DEFAULT, small("four-seasons")], ids=["whole", "small"])
@pytest.mark.parametrize("observation", OBSERVATIONS)
def test_the_replay_buffer_keeps_next_positions_with_their_masks(
    rules: Rules, observation: str
) -> None:
    """All that is kept, beside what a second, equal environment shows when the moves are repeated.

    Where a game is cut short the next position is its last, with that one's mask, and the bootstrap
    goes on; where it ends it does not.
    """
    settings = {"seed": 5, "rules": rules, "observation": observation, "max_moves": 30}
    env = FourSeasonsVecEnv(4, **settings)
    eps = [f"exploration_{end}_eps=1.0" for end in ("initial", "final")]
    model = dqn_on(env, "buffer_size=4000", *eps)
    env.seed(settings["seed"])  # the model has seeded it otherwise
    model.learn(1000, log_interval=None)
    buffer = model.replay_buffer
    again = FourSeasonsVecEnv(4, **settings)
    observations = again.reset()
    ended = cut_short = 0
    for t in range(buffer.pos):
        seen = buffer._as_observations(buffer.observations[t]).numpy()
        np.testing.assert_allclose(seen, observations, atol=1e-7)
        observations, rewards, dones, infos = again.step(buffer.actions[t].ravel())
        masks, following = again.action_masks(), observations.copy()
        for i in np.flatnonzero(dones):
            following[i] = infos[i]["terminal_observation"]
            masks[i] = infos[i]["terminal_action_mask"]
            truncated = infos[i]["TimeLimit.truncated"]
            assert masks[i].any() or not truncated
            assert buffer.timeouts[t, i] == truncated
            ended += not truncated
            cut_short += truncated
        seen = buffer._as_observations(buffer.next_observations[t]).numpy()
        np.testing.assert_allclose(seen, following, atol=1e-7)
        np.testing.assert_array_equal(buffer.next_masks[t], masks)
        np.testing.assert_array_equal(buffer.rewards[t], rewards)
        np.testing.assert_array_equal(buffer.dones[t], dones)
    assert cut_short > 10
    assert ended > 0 or rules is DEFAULT


def test_the_mask_of_a_last_position_is_that_of_its_legal_moves() -> None:
    """Against the rules themselves, for games that are cut short."""
    env = FourSeasonsVecEnv(3, seed=1, max_moves=5)
    env.reset()
    rng = np.random.default_rng(0)
    rule = kernel.compile_rules(DEFAULT)
    checked = 0
    for _ in range(40):
        before = env.venv.games.copy()
        masks = env.action_masks()
        actions = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        _, _, dones, infos = env.step(actions)
        kernel.play_all(before, rule, actions)
        words, legal = kernel.new_masks(3, DEFAULT)
        kernel.legal_all(before, rule, False, words, np.zeros(3, np.bool_))
        for i in np.flatnonzero(dones):
            np.testing.assert_array_equal(infos[i]["terminal_action_mask"], legal[i])
            checked += 1
    assert checked >= 20


def test_the_bootstrap_maximum_is_over_legal_moves() -> None:
    """A network that likes illegal moves best by far: they must not reach the targets."""
    model, _ = make("maskable_dqn")
    env = model.get_env()
    observations, masks = torch.as_tensor(env.reset()), torch.as_tensor(env.action_masks())
    illegal = ~masks.any(dim=0)
    with torch.no_grad():
        for net in (model.q_net, model.q_net_target):
            net.q_net[-1].bias[illegal] = 1000.0
    values = model.next_values(observations, masks)
    assert (values.abs() < 10).all()
    # Double Q-learning: the network chooses, the target network judges.
    best = model.q_net(observations).masked_fill(~masks, -torch.inf).argmax(dim=1)
    judged = model.q_net_target(observations)[torch.arange(4), best]
    torch.testing.assert_close(values.flatten(), judged)
    assert not model.next_values(observations, torch.zeros_like(masks)).any()


def test_samples_carry_the_masks_of_their_own_rows() -> None:
    model, _ = make("maskable_dqn")
    model.learn(400, log_interval=None)
    buffer = model.replay_buffer
    kept = {
        (buffer.next_observations[t, i].tobytes(), buffer.next_masks[t, i].tobytes())
        for t in range(buffer.size())
        for i in range(buffer.n_envs)
    }
    samples, masks = buffer.sample_with_masks(64)
    rows = torch.round(samples.next_observations * buffer.levels).to(torch.uint8).numpy()
    assert all(
        (row.tobytes(), mask.tobytes()) in kept
        for row, mask in zip(rows, masks.numpy(), strict=True)
    )


# --- warm starts


def test_demonstrations_are_the_teachers_moves_and_what_they_earned() -> None:
    _, settings = make("maskable_ppo", DEFAULT, "gamma=1.0", "max_moves=200")
    teacher = make_agent("heuristic")
    algorithm = get_algorithm("maskable_ppo")
    shown = demonstrate(teacher, algorithm, DEFAULT, settings, seed=0, actions=2000)
    assert len(shown.actions) > 500
    assert shown.masks[np.arange(len(shown.actions)), shown.actions].all()
    # Undiscounted, what is left to earn is a number of cards, and 1 for a win.
    cards = shown.returns * 52
    np.testing.assert_allclose(cards, np.round(cards), atol=1e-3)
    assert shown.returns.min() >= 0
    assert shown.returns.max() <= 2
    # Other deals than those that the learner begins with.
    games = algorithm.make_games(settings, DEFAULT)
    games.seed(0)
    first = games.reset()
    openings = (first * 52).round().astype(np.uint8)
    assert not (shown.observations[ALONE][:1] == openings).all(axis=1).any()


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_warm_start_plays_like_its_teacher(name: str) -> None:
    layers = "layers=[32,16,32,16]" if name == "next_deal_ppo" else "layers=[64]"
    moves = 10_000 if name == "next_deal_ppo" else 40_000
    overrides = [
        *("games=64", "batch_size=256", layers, "max_moves=200", f"cloning_moves={moves}"),
        *("cloning_epochs=4", "cloning_learning_rate=3e-3"),
    ]
    model, settings = make(name, DEFAULT, *overrides)
    algorithm = get_algorithm(name)
    deals = range(TRAIN_FROM, TRAIN_FROM + 100)

    def cards_up() -> float:
        card, weights = algorithm.policy_of(model, settings, DEFAULT, {})
        player = algorithm.player(card, weights, DEFAULT)
        return float(play_deals(player, DEFAULT, deals, max_moves=200)["cards_up"].mean())

    before = cards_up()
    clone(model, algorithm, settings, DEFAULT, seed=0)
    assert cards_up() > before + 4
    if isinstance(model, MaskableDQN):
        for here, there in zip(
            model.q_net.parameters(), model.q_net_target.parameters(), strict=True
        ):
            assert torch.equal(here, there)


# --- zips


def test_zips_are_opened_only_on_trust(tmp_path: Path) -> None:
    for name in MOVE_LEVEL:
        model, settings = make(name)
        path = tmp_path / f"{name}.zip"
        model.save(path)
        with pytest.raises(PolicyFileError, match=rf"{name}.zip is a zip.*--trust"):
            make_agent(f"{name}:{path}")
        agent = make_agent(f"{name}:{path}", trust=True, deterministic=True)
        games = np.zeros(3, kernel.GAME)
        kernel.start_all(games, kernel.compile_rules(DEFAULT), np.arange(3) + TRAIN_FROM)
        masks = np.ones((3, 32), np.int8)
        card, weights = get_algorithm(name).policy_of(model, settings, DEFAULT, {})
        same = get_algorithm(name).player(card, weights, DEFAULT)
        np.testing.assert_array_equal(agent.scores(games, masks), same.scores(games, masks))
        with pytest.raises(PolicyFileError, match=r"takes observations of (699|179) slots"):
            make_agent(f"{name}:{path}", "simplicity", trust=True)
        path.write_bytes(path.read_bytes()[:200])
        with pytest.raises(PolicyFileError, match="cannot be opened"):
            make_agent(f"{name}:{path}", trust=True)
    with pytest.raises(FileNotFoundError, match="no weights at"):
        make_agent(f"maskable_ppo:{tmp_path}/none.zip", trust=True)


def test_a_network_scores_as_its_model_does() -> None:
    """The player's own forward pass against Stable-Baselines3's."""
    games = np.zeros(5, kernel.GAME)
    rule = kernel.compile_rules(DEFAULT)
    kernel.start_all(games, rule, np.arange(5) + TRAIN_FROM)
    masks = np.ones((5, 32), np.int8)
    for name in MOVE_LEVEL:
        model, settings = make(name, DEFAULT, "layers=[16, 8]", "activation=tanh")
        card, weights = get_algorithm(name).policy_of(model, settings, DEFAULT, {})
        scores = get_algorithm(name).player(card, weights, DEFAULT).scores(games, masks)
        kind = OBSERVATIONS.index(settings.observation)
        observations = np.empty((5, observation_length(DEFAULT, settings.observation)), np.float32)
        encode_all(games, rule, kind, observations)
        with torch.no_grad():
            if name == "maskable_dqn":
                expected = model.q_net(torch.as_tensor(observations))
            else:
                latent = model.policy.mlp_extractor.forward_actor(torch.as_tensor(observations))
                expected = model.policy.action_net(latent)
        np.testing.assert_allclose(scores, expected.numpy(), atol=1e-5)


def test_a_former_name_of_a_hyperparameter_is_accepted():
    settings = get_algorithm("next_deal_ppo").read_settings(overrides=["averaged=0.3"])
    assert settings.averaging == 0.3
