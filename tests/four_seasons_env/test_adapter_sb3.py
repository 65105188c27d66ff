"""The adapter answers as Stable-Baselines3's own batch of single environments."""

import gymnasium as gym
import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv

from four_seasons_env import stock_order
from four_seasons_env.adapters.sb3 import FourSeasonsNextDealVecEnv, FourSeasonsVecEnv
from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.next_deal.next_deal_env import FourSeasonsNextDealEnv
from tests.helpers import deck_with, same, small, stock_codes

pytestmark = pytest.mark.slow  # torch alone takes seconds to import
GAMES = 4
SETTINGS = [
    {"rules": small("four-seasons"), "max_moves": 25},
    {"rules": small("pysolfc/corners"), "observation": "cards", "mask": "distinct"},
    {"rules": small("pysolfc/florentine"), "observation": "places", "max_moves": 25},
]
SINGLE = {FourSeasonsVecEnv: FourSeasonsEnv, FourSeasonsNextDealVecEnv: FourSeasonsNextDealEnv}
"""The single environment of each adapter."""
SHARED = ("action_space", "observation_space", "rules", "render_mode", "metadata", "spec", "game")


def both(kind, **arguments):
    """The adapter, and Stable-Baselines3's batch, with the same games."""
    env = kind(GAMES, seed=range(50, 50 + GAMES), **arguments)
    dummy = DummyVecEnv([lambda: Monitor(SINGLE[kind](**arguments))] * GAMES)
    dummy.seed(50)
    return env, dummy


@pytest.fixture(params=SINGLE)
def started(request):
    """Both batches after a reset."""
    batches = both(request.param, render_mode="ansi", max_moves=40)
    for each in batches:
        each.reset()
    return batches


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: settings["rules"].name)
def test_plays_as_dummy_environments(settings):
    """Bit for bit, over the ends of episodes."""
    env, dummy = both(FourSeasonsVecEnv, **settings)
    assert same(env.reset(), dummy.reset())
    rng, ended = np.random.default_rng(0), []
    for _ in range(120):
        masks = env.action_masks()
        assert same(masks, np.stack(dummy.env_method("action_masks")))
        actions = (rng.random(masks.shape) - 0.9 * ~masks).argmax(axis=1)  # mostly legal
        *one, infos = env.step(actions)
        *two, expected = dummy.step(actions)
        assert same(one, two)
        for info, final, done in zip(infos, expected, one[2], strict=True):
            if not done:
                assert info == {}
                continue
            ended.append(info["TimeLimit.truncated"])
            # Monitor rounds the return, and measures the time.
            ours, theirs = info.pop("episode"), final.pop("episode")
            assert ours["r"] == pytest.approx(theirs["r"], abs=1e-6) and ours["l"] == theirs["l"]
            assert same(info["terminal_action_mask"], final.pop("action_mask").astype(bool))
            assert all(same(info[key], final[key]) for key in final)
    assert len(ended) >= GAMES
    assert any(ended) or "max_moves" not in settings


def test_terminal_observations_stay_without_copies():
    env, zeros = FourSeasonsVecEnv(1, seed=1, max_moves=2, copy=False), np.zeros(1, int)
    env.reset()
    ends = [env.step(zeros)[3][0].get("terminal_observation") for _ in range(2)]
    kept = ends[1].copy()
    again = [env.step(zeros)[3][0].get("terminal_observation") for _ in range(2)]
    assert same(ends[1], kept) and not same(again[1], kept)


def test_masks_are_where_sb3_looks():
    env = FourSeasonsVecEnv(3, seed=1)
    env.reset()
    assert is_masking_supported(env) and not env.has_attr("nonsense")
    for masks in (env.get_attr("action_masks"), get_action_masks(env)):
        assert same(masks, env.action_masks())


@pytest.mark.parametrize("indices", [None, 1, [2, 0]])
def test_attributes_are_those_of_single_environments(started, indices):
    env, dummy = started
    for name in SHARED:
        assert env.get_attr(name, indices) == dummy.get_attr(name, indices)
    for name in ("render", "action_masks"):
        assert same(*(list(each.env_method(name, indices=indices)) for each in started))


def test_set_deals_is_for_all_games(started):
    for each in started:
        assert each.env_method("set_deals", [10_007]) == [None] * GAMES
        each.reset()
        assert {info["deal"] for info in each.reset_infos} == {10_007}


def test_set_starts_is_for_all_games(started):
    starts = [Game(deal=deal).after("deal") for deal in range(10_000, 10_010)]
    for each, seed in zip(started, (range(GAMES), 0), strict=True):
        assert each.env_method("set_starts", starts, share=0.5) == [None] * GAMES
        each.seed(seed)
        each.reset()
    games = [each.get_attr("game") for each in started]
    assert games[0] == games[1]
    assert {game.moves_played for game in games[0]} == {0, 1}


@pytest.mark.parametrize(
    "options",
    [{"deck": " ".join(deck_with("2S 8H 4S JD 6H"))}, [{"game": Game(deal=i)} for i in range(4)]],
)
def test_options_are_used_once(started, options):
    env, dummy = started
    for each in started:
        each.set_options(options)
    for _ in range(2):
        for each in started:
            each.reset()
        assert env.get_attr("game") == dummy.get_attr("game")


def test_a_critic_may_see_the_stock(started):
    env, dummy = started
    stocks = [order[order < 52].tolist() for order in stock_order(env.games)]
    assert stocks == [stock_codes(game) for game in dummy.get_attr("game")]


def test_two_training_seeds_share_no_deals():
    """Stable-Baselines3 seeds the games of a model with the model's seed."""

    def deals(seed):
        env, found = FourSeasonsVecEnv(16, max_moves=8), set()
        model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, n_epochs=1, seed=seed)
        model.learn(512, lambda now, _: found.update(i["deal"] for i in now["infos"] if i) or True)
        return found

    one, two = deals(0), deals(1)
    assert len(one) > 32 < len(two)
    assert not one & two
    assert deals(0) == one


SOME = {"deal": 1}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda env: env.set_attr("rules", "czarina"), "cannot set 'rules'"),
        (lambda env: setattr(env, "max_moves", 3), "cannot set 'max_moves'"),
        (
            lambda env: env.env_method("set_deals", [10_007], indices=1),
            "is for all games: leave out",
        ),
        (lambda env: env.set_options([SOME, {}, {}]) or env.reset(), "same option for all games"),
        (lambda env: type(env)(3, autoreset_mode="Disabled"), "no argument 'autoreset_mode'"),
    ],
)
def test_what_one_game_cannot_do(wrong, said):
    with pytest.raises((AttributeError, ValueError, TypeError), match=said):
        wrong(FourSeasonsVecEnv(3, seed=1))


def test_counts_as_wrapped_in_monitor():
    env = FourSeasonsVecEnv(3)
    assert env.env_is_wrapped(Monitor) == [True] * 3
    assert env.env_is_wrapped(gym.Wrapper, indices=[0]) == [False]


def test_each_game_has_an_image():
    pytest.importorskip("pygame")
    env = FourSeasonsVecEnv(3, seed=1, render_mode="rgb_array")
    env.reset()
    images = env.get_images()
    assert [image.dtype for image in images] == [np.uint8] * 3
    assert not same(images[0], images[1])
