"""The vector environment against single environments, game by game."""

import copy
import random
import re
import warnings

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.registration import ENVS
from four_seasons_env.rules import RULES
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import (
    Fleet,
    cards_in_order,
    mixed_action,
    mostly_slow,
    observe,
    random_steps,
    same,
    small,
)


def waste_grown(before, after):
    """A custom reward: cards that went to the waste."""
    return after["height"][:, 12].astype(float) - before["height"][:, 12]


GAMES = 5
SETTINGS = [
    {"rules": "four-seasons", "max_moves": 40},
    {"rules": small("four-seasons"), "observation": "cards", "mask": "distinct"},
    {"rules": small("four-seasons-1883", piles=1), "reward": "win"},
    {"rules": small("pysolfc/simplicity", piles=4), "mask": "distinct", "max_moves": 25},
    {"rules": small("czarina", ranks=4), "reward": waste_grown, "max_moves": 12},
    {"rules": "simplicity", "max_moves": 1},
]
KEYS = ("deal", "cards_up", "won", "illegal")
ASKED = (
    *("action_space", "observation_space", "rules", "render_mode", "metadata", "spec"),
    *("game", "action_masks", "render"),
)


def name_of(settings: dict) -> str:
    values = [getattr(value, "__name__", value) for value in settings.values()]
    return ", ".join(str(getattr(value, "name", value)) for value in values)


def assert_same_rows(infos: dict, expected: list[dict], observations, fleet: Fleet) -> None:
    assert same(observations, np.stack(fleet.observations))
    assert same(infos["action_mask"], np.stack([info["action_mask"] for info in expected]))
    for key in KEYS:
        assert infos[key].tolist() == [info[key] for info in expected]
        assert infos[f"_{key}"].all()


@pytest.mark.parametrize(("copy", "threads"), [(True, 1), (False, 3)])
@pytest.mark.parametrize("settings", SETTINGS, ids=name_of)
def test_plays_as_single_environments(settings, copy, threads):
    """Bit for bit, on one thread or several."""
    rng = random.Random(0)
    fleet = Fleet(GAMES, seed=100, **settings)
    env = FourSeasonsVectorEnv(GAMES, copy=copy, num_threads=threads, **settings)
    observations, infos = env.reset(seed=100)
    assert_same_rows(infos, fleet.infos, observations, fleet)
    ended = 0
    for _ in range(150):
        actions = fleet.actions(rng, mixed_action)
        answers = fleet.step(actions)
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert rewards.tolist() == [answer["reward"] for answer in answers]
        assert terminated.tolist() == [answer["terminated"] for answer in answers]
        assert truncated.tolist() == [answer["truncated"] for answer in answers]
        assert_same_rows(infos, fleet.infos, observations, fleet)
        assert same(env.action_masks(), fleet.masks)
        done = ["final" in answer for answer in answers]
        assert ("final_info" in infos) == ("final_obs" in infos) == any(done)
        if any(done):
            assert_same_finals(infos, answers, done)
        ended += sum(done)
    assert ended >= GAMES


def assert_same_finals(infos: dict, answers: list[dict], done: list[bool]) -> None:
    assert infos["_final_obs"].tolist() == infos["_final_info"].tolist() == done
    final = infos["final_info"]
    for key in [*KEYS, "is_success", "action_mask", "episode"]:
        assert final[f"_{key}"].tolist() == done
    assert not infos["final_obs"][~np.array(done)].any()
    assert not final["action_mask"][~np.array(done)].any()
    for i in np.flatnonzero(done):
        expected = answers[i]["final"]
        assert same(infos["final_obs"][i], expected["observation"])
        assert same(final["action_mask"][i], expected["info"]["action_mask"])
        assert final["episode"]["r"][i] == expected["r"]
        assert final["episode"]["l"][i] == expected["l"]
        for key in [*KEYS, "is_success"]:
            assert final[key][i] == expected["info"][key]


@pytest.mark.parametrize("env_id", mostly_slow(ENVS, ("FourSeasons-v0", "Corners-v0")))
def test_gym_make_vec(env_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gym.make_vec(env_id, num_envs=4, observation="cards")
    assert isinstance(env.unwrapped, FourSeasonsVectorEnv)
    assert env.unwrapped.rules is RULES[ENVS[env_id]]
    observations, infos = env.reset(seed=0)
    assert env.observation_space.contains(observations)
    assert infos["action_mask"].shape == (4, env.single_action_space.n)
    env.step(infos["action_mask"].argmax(axis=1))
    env.close()


@pytest.mark.parametrize("env_id", ["FourSeasons-v0", "FourSeasonsNextDeal-v0"])
def test_answers_as_sync_environments(env_id):
    how = {"num_envs": 3, "render_mode": "ansi", "max_moves": 40}
    native, sync = (
        gym.make_vec(env_id, vectorization_mode=mode, **how)
        for mode in ("vector_entry_point", "sync")
    )
    for env in (native, sync):
        env.reset(seed=5)
    assert native.render() == sync.render()
    for name in ASKED:
        assert same(native.call(name), sync.call(name)), name
        assert same(native.get_attr(name), sync.get_attr(name)), name
    assert native.get_attr("unwrapped")[2].game == sync.get_attr("unwrapped")[2].game
    if "NextDeal" in env_id:
        assert native.call("moves_of", 0) == sync.call("moves_of", 0)
    for deals in (range(20_000, 20_100), None):
        assert native.call("set_deals", deals) == sync.call("set_deals", deals)
        both = [env.reset(seed=6)[1]["deal"] for env in (native, sync)]
        assert same(*both)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("step", "one game of a batch has no 'step': use that of the batch"),
        ("np_random_seed", "use that of the batch"),
        ("rendr", "did you mean 'render'"),
    ],
)
def test_what_one_game_cannot_answer(name, error):
    env = gym.make_vec("FourSeasons-v0", num_envs=2)
    for ask in (env.call, env.get_attr):
        with pytest.raises(AttributeError, match=error):
            ask(name)


def test_same_seed_same_games():
    settings = {"rules": small("four-seasons"), "max_moves": 30}
    env = FourSeasonsVectorEnv(4, **settings)
    runs = []
    for env_again in (env, env, FourSeasonsVectorEnv(4, **settings)):
        start = env_again.reset(seed=5)
        runs.append((start, random_steps(env_again, 60)))
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])
    other = env.reset(seed=6)
    assert not same(other, runs[0][0])


def test_seeds_of_games():
    env = FourSeasonsVectorEnv(4)
    _, infos = env.reset(seed=5)
    _, by_list = env.reset(seed=[8, 7, 6, 5])
    assert infos["deal"].tolist() == by_list["deal"].tolist()[::-1]
    assert len(set(infos["deal"])) == 4
    _, unseeded = FourSeasonsVectorEnv(4).reset()
    assert not set(unseeded["deal"]) & set(infos["deal"])


def test_deal_and_deck_options():
    env = FourSeasonsVectorEnv(3, "czarina")
    observations, infos = env.reset(seed=1, options={"deal": [17, 0, 17]})
    assert infos["deal"].tolist() == [17, 0, 17]
    for row, deal in zip(observations, [17, 0, 17], strict=True):
        assert (row == observe(Game("czarina", deal=deal), "tops")).all()
    assert env.reset(options={"deal": 4})[1]["deal"].tolist() == [4, 4, 4]
    deck = cards_in_order()[::-1]
    observations, infos = env.reset(options={"deck": deck})
    assert infos["deal"].tolist() == [-1] * 3
    assert (observations == observe(Game("czarina", deck=deck), "tops")).all()


def test_writing_into_answers_changes_nothing():
    def spoil(thing) -> None:
        if isinstance(thing, np.ndarray):
            if thing.flags.writeable:
                thing[...] = 0
        elif isinstance(thing, dict | tuple | list):
            for part in thing.values() if isinstance(thing, dict) else thing:
                spoil(part)

    env, twin = (FourSeasonsVectorEnv(3, small("four-seasons"), max_moves=5) for _ in range(2))
    spoil(env.reset(seed=1))
    twin.reset(seed=1)
    answers = []
    for seed in range(12):
        one, other = random_steps(env, 1, seed), random_steps(twin, 1, seed)
        assert same(one, other)
        spoil(one)
        answers.append((other, copy.deepcopy(other)))
    assert all(same(kept, then) for kept, then in answers)  # no later step has written into them


def test_games_are_read_only():
    env = FourSeasonsVectorEnv(2, "czarina")
    env.reset(options={"deal": [3, 4]})
    assert Game.from_record(env.games[1], "czarina") == Game("czarina", deal=4)
    with pytest.raises(ValueError, match="read-only"):
        env.games["level"][0] = 1


# --- wrong input changes nothing ----------------------------------------------------------------


@pytest.mark.parametrize("argument", ["num_envs", "num_threads", "max_moves"])
def test_counts_are_positive_integers(argument):
    for value in (True, 0, 2.0, "2"):
        message = rf"^{argument} must be a positive integer, not {re.escape(repr(value))}$"
        with pytest.raises(ValueError, match=message):
            FourSeasonsVectorEnv(**{argument: value})
    assert FourSeasonsVectorEnv(**{argument: np.int32(2)}).num_envs in (1, 2)


def test_action_out_of_range():
    env = FourSeasonsVectorEnv(2)
    env.reset(seed=0)
    for action in (32, 132, -1, -101):
        with pytest.raises(ValueError, match=f"^action in game 1 must be 0 to 31, not {action}$"):
            env.step(np.array([0, action]))
    env.step(np.array([31, 0]))


def twins(**kwargs) -> tuple[FourSeasonsVectorEnv, FourSeasonsVectorEnv]:
    pair = (
        FourSeasonsVectorEnv(3, max_moves=9, **kwargs),
        FourSeasonsVectorEnv(3, max_moves=9, **kwargs),
    )
    for env in pair:
        env.reset(seed=11)
        env.step(np.zeros(3, int))
    return pair


def assert_unharmed(env: FourSeasonsVectorEnv, twin: FourSeasonsVectorEnv) -> None:
    """Check that both continue in the same way, past ends of episodes and a reset."""
    assert (env.games == twin.games).all()
    assert env.np_random.bit_generator.state == twin.np_random.bit_generator.state
    for _ in range(2):
        assert same(random_steps(env, 20), random_steps(twin, 20))
        assert same(env.reset(), twin.reset())


def test_wrong_use_changes_nothing():
    env, twin = twins()
    too_large = np.array([0, 0, 2**64 - 1], np.uint64)
    for actions in ([0, 0], [0, 0, 32], [0, -1, 0], too_large):
        with pytest.raises(
            ValueError, match=r"^actions must be of shape|^action in game \d must be"
        ):
            env.step(actions)
    for actions in ([0.0, 0.0, 0.0], ["deal"] * 3, "deal"):
        with pytest.raises(TypeError, match="actions must be integers, not"):
            env.step(actions)
    for options in ({"dael": 1}, {"deal": [1, 2]}, {"deal": [1, 2, -3]}, {"deck": "AC"}):
        for seed in (None, 99):
            with pytest.raises(ValueError, match=r"deal|deck"):
                env.reset(seed=seed, options=options)
    for seed in ([1, 2], [1, 2, -3], -1):
        with pytest.raises(ValueError, match="seed"):
            env.reset(seed=seed)
    assert_unharmed(env, twin)


def test_illegal_action_raises_and_moves_nothing():
    env, twin = twins(illegal="raise")
    legal = int(env.action_masks()[0].argmax())
    illegal = int(env.action_masks()[2].argmin())
    with pytest.raises(IllegalMove, match=f"action {illegal} in game 2: .* is not legal: "):
        env.step(np.array([legal, legal, illegal]))
    assert_unharmed(env, twin)
