import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecVideoRecorder

from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv, FourSeasonsVecEnv
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.next_deal.next_deal_env import FourSeasonsNextDealEnv
from tests.helpers import deck_with, random_steps, same, small

pytestmark = pytest.mark.slow  # torch alone takes seconds to import
GAMES = 4
SETTINGS = [
    {"rules": small("four-seasons"), "max_moves": 25},
    {"rules": small("pysolfc/corners"), "observation": "cards", "mask": "distinct"},
    {"rules": small("pysolfc/florentine"), "observation": "places", "max_moves": 25},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: settings["rules"].name)
def test_plays_as_dummy_environments(settings):
    """Bit for bit as Stable-Baselines3's own batch of single environments."""
    env = FourSeasonsVecEnv(GAMES, seed=range(50, 50 + GAMES), **settings)
    dummy = DummyVecEnv([lambda: Monitor(FourSeasonsEnv(**settings))] * GAMES)
    dummy.seed(50)
    assert same(env.reset(), dummy.reset())
    deals = [[info["deal"] for info in each.reset_infos] for each in (env, dummy)]
    assert deals[0] == deals[1]
    rng, ended = np.random.default_rng(0), []
    for _ in range(120):
        masks = env.action_masks()
        assert masks.any(axis=1).all()
        assert same(masks, np.stack(dummy.env_method("action_masks")))
        for asked in (env.get_attr("action_masks"), get_action_masks(env)):
            assert same(asked, masks)
        actions = (rng.random(masks.shape) - 0.9 * ~masks).argmax(axis=1)  # mostly legal
        *one, infos = env.step(actions)
        *two, expected = dummy.step(actions)
        assert same(one, two)
        for info, final, done in zip(infos, expected, one[2], strict=True):
            if not done:
                assert info == {}
                continue
            ended.append(info["TimeLimit.truncated"])
            assert same(info["terminal_observation"], final["terminal_observation"])
            assert info["episode"]["r"] == pytest.approx(final["episode"]["r"], abs=1e-6)
            assert info["episode"]["l"] == final["episode"]["l"]
            assert final.keys() <= info.keys() | {"action_mask"}
            for key in ("TimeLimit.truncated", "is_success", "won", "cards_up", "deal", "illegal"):
                assert info[key] == final[key]
    assert len(ended) >= GAMES
    if "max_moves" in settings:
        assert any(ended)


@pytest.mark.parametrize("native", [FourSeasonsVecEnv, FourSeasonsNextDealVecEnv])
def test_answers_as_dummy_environments(native):
    single = FourSeasonsEnv if native is FourSeasonsVecEnv else FourSeasonsNextDealEnv
    how = {"render_mode": "ansi", "max_moves": 40}
    env, dummy = native(3, **how), DummyVecEnv([lambda: single(**how)] * 3)
    dummy.seed(5)
    env.seed(np.arange(5, 8))
    for each in (env, dummy):
        each.reset()
    assert env.metadata == dummy.metadata
    assert env.render() is dummy.render() is None
    assert env.get_images() == dummy.get_images()
    shared = ("action_space", "observation_space", "rules", "render_mode", "metadata", "spec")
    for indices in (None, 1, [2, 0]):
        for name in (*shared, "game"):
            assert env.get_attr(name, indices) == dummy.get_attr(name, indices)
        for name in ("render", "action_masks"):
            both = [list(each.env_method(name, indices=indices)) for each in (env, dummy)]
            assert same(*both)
    assert env.get_attr("unwrapped")[2].game == dummy.get_attr("unwrapped")[2].game
    for name in (*shared, "game", "render", "action_masks", "set_deals", "moves_of", "nonsense"):
        assert env.has_attr(name) == dummy.has_attr(name)
    if env.has_attr("moves_of"):
        assert env.env_method("moves_of", 0) == dummy.env_method("moves_of", 0)
    for each in (env, dummy):
        assert each.env_method("set_deals", [10_007]) == [None] * 3
        each.reset()
        assert {info["deal"] for info in each.reset_infos} == {10_007}
    deck = " ".join(deck_with("2S 8H 4S JD 6H 2C 9C TD"))
    for options in ({"deck": deck}, [{"game": Game(deal=i)} for i in range(3)]):
        for each in (env, dummy):
            each.set_options(options)
            each.reset()
        assert env.get_attr("game") == dummy.get_attr("game")
        for each in (env, dummy):
            each.reset()  # seeds and options are used once
        assert env.get_attr("game") == dummy.get_attr("game")


@pytest.mark.parametrize("native", [FourSeasonsVecEnv, FourSeasonsNextDealVecEnv])
def test_two_training_seeds_share_no_deals(native):
    """Stable-Baselines3 seeds the games of a model with the model's seed."""

    def deals(seed):
        env, found = native(16, seed=seed, observation="tops", max_moves=8), set()
        kind = "MlpPolicy" if native is FourSeasonsVecEnv else "MultiInputPolicy"
        model = MaskablePPO(kind, env, n_steps=16, batch_size=64, n_epochs=1, seed=seed)
        model.learn(512, lambda now, _: found.update(i["deal"] for i in now["infos"] if i) or True)
        return found

    one, two = deals(0), deals(1)
    assert len(one) > 32 < len(two)
    assert not one & two
    assert deals(0) == one


def test_what_one_game_cannot_do():
    env = FourSeasonsVecEnv(3, seed=1, **SETTINGS[0])
    assert is_masking_supported(env)
    with pytest.raises(AttributeError, match="did you mean 'render'"):
        env.env_method("render_all")
    with pytest.raises(AttributeError, match="cannot set 'rules'"):
        env.set_attr("rules", "czarina")
    with pytest.raises(ValueError, match="set_deals replaces the deals of all games"):
        env.env_method("set_deals", [10_007], indices=1)
    with pytest.raises(IndexError):
        env.env_method("render", indices=3)
    env.set_options([{"deal": 1}, {}, {}])
    with pytest.raises(ValueError, match="the same option for all games or none"):
        env.reset()
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gym.Wrapper, indices=[0]) == [False]
    with pytest.raises(ValueError, match="seed must be 0 to"):
        env.seed(-1)


def test_videos_are_recorded(tmp_path):
    pytest.importorskip("pygame")
    settings = SETTINGS[0] | {"render_mode": "rgb_array"}
    env = FourSeasonsVecEnv(3, seed=1, **settings)
    env.reset()
    images = env.get_images()
    assert [image.dtype for image in images] == [np.uint8] * 3
    assert not same(images[0], images[1])
    film = VecVideoRecorder(env, str(tmp_path), lambda step: step == 0, video_length=3)
    film.reset()
    random_steps(film, 4)
    film.close()
    (path,) = tmp_path.glob("*.mp4")
    assert path.stat().st_size > 1000
