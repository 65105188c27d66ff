"""The vector environment against single environments, game by game."""

import random
import re
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from four_seasons_env.game import Game, IllegalMove
from four_seasons_env.registration import ENVS
from four_seasons_env.rules import RULES, Rules
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import (
    Fleet,
    cards_in_order,
    legal_action,
    mixed_action,
    mostly_slow,
    observe,
    same,
    small,
)

GAMES = 5
KEYS = ("deal", "cards_up", "won", "illegal")


def waste_grown(before, after):
    """A reward of one's own, of the positions before and after."""
    return after["height"][:, 12].astype(float) - before["height"][:, 12]


SETTINGS = [
    {"rules": "four-seasons", "max_moves": 40},
    {"rules": small("four-seasons")},
    {"rules": small("four-seasons"), "observation": "cards", "mask": "distinct"},
    {"rules": small("four-seasons-1883", piles=1), "reward": "win"},
    {"rules": small("pysolfc/corners"), "observation": "cards", "max_moves": 30},
    {"rules": small("pysolfc/simplicity", piles=4), "mask": "distinct", "max_moves": 25},
    {"rules": small("czarina", ranks=4), "reward": waste_grown, "max_moves": 12},
    {"rules": RULES["florentine"].replace(ranks=4, piles=12), "observation": "cards"},
    {"rules": "simplicity", "max_moves": 1},
]


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
def test_games_are_those_of_single_environments(settings, copy, threads):
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
    for key in [*KEYS, "action_mask", "episode"]:
        assert final[f"_{key}"].tolist() == done
    assert not infos["final_obs"][~np.array(done)].any()
    for i in np.flatnonzero(done):
        expected = answers[i]["final"]
        assert same(infos["final_obs"][i], expected["observation"])
        assert same(final["action_mask"][i], expected["info"]["action_mask"])
        assert final["episode"]["r"][i] == expected["r"]
        assert final["episode"]["l"][i] == expected["l"]
        for key in KEYS:
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


def play(env: FourSeasonsVectorEnv, steps: int, rng: np.random.Generator) -> list:
    """What an environment answers to legal actions drawn at random."""
    answers = []
    for _ in range(steps):
        masks = env.action_masks()
        actions = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        answers.append(env.step(actions))
    return answers


def test_the_same_seed_plays_the_same():
    settings = {"rules": small("four-seasons"), "max_moves": 30}
    env = FourSeasonsVectorEnv(4, **settings)
    runs = []
    for env_again in (env, env, FourSeasonsVectorEnv(4, **settings)):
        start = env_again.reset(seed=5)
        runs.append((start, play(env_again, 60, np.random.default_rng(2))))
    assert same(runs[0], runs[1])
    assert same(runs[0], runs[2])
    other = env.reset(seed=6)
    assert not same(other, runs[0][0])


def test_game_i_has_the_seed_plus_i():
    env = FourSeasonsVectorEnv(4)
    _, infos = env.reset(seed=5)
    _, by_list = env.reset(seed=[8, 7, 6, 5])
    assert infos["deal"].tolist() == by_list["deal"].tolist()[::-1]
    assert len(set(infos["deal"])) == 4
    _, unseeded = FourSeasonsVectorEnv(4).reset()
    assert not set(unseeded["deal"]) & set(infos["deal"])


def test_deals_and_decks_are_what_was_asked_for():
    env = FourSeasonsVectorEnv(3, "czarina")
    observations, infos = env.reset(seed=1, options={"deal": [17, 5, 17]})
    assert infos["deal"].tolist() == [17, 5, 17]
    for row, deal in zip(observations, [17, 5, 17], strict=True):
        assert (row == observe(Game("czarina", deal=deal), "tops")).all()
    assert env.reset(options={"deal": 4})[1]["deal"].tolist() == [4, 4, 4]
    deck = cards_in_order()[::-1]
    observations, infos = env.reset(options={"deck": deck})
    assert infos["deal"].tolist() == [-1] * 3
    assert (observations == observe(Game("czarina", deck=deck), "tops")).all()


def test_after_the_deals_asked_for_come_training_deals():
    env = FourSeasonsVectorEnv(2, max_moves=1)
    env.reset(seed=1, options={"deal": 17})
    _, _, _, _, infos = env.step(np.zeros(2, int))
    assert infos["final_info"]["deal"].tolist() == [17, 17]
    _, expected = FourSeasonsVectorEnv(2).reset(seed=1)
    assert infos["deal"].tolist() == expected["deal"].tolist()


def test_what_is_given_out_is_not_overwritten():
    env = FourSeasonsVectorEnv(3, small("four-seasons"), max_moves=5)
    answers = [env.reset(seed=1)]
    kept = [np.copy(answers[0][0]), np.copy(answers[0][1]["action_mask"])]
    answers += play(env, 20, np.random.default_rng(0))
    assert same([answers[0][0], answers[0][1]["action_mask"]], kept)
    finals = [a[4]["final_obs"] for a in answers[1:] if "final_obs" in a[4]]
    assert not same(finals[0], finals[1])
    again = FourSeasonsVectorEnv(3, small("four-seasons"), max_moves=5)
    assert same(answers, [again.reset(seed=1), *play(again, 20, np.random.default_rng(0))])


def test_writing_into_what_is_given_out_changes_no_game():
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
    for seed in range(12):
        one = play(env, 1, np.random.default_rng(seed))
        two = play(twin, 1, np.random.default_rng(seed))
        assert same(one, two)
        spoil(one)


def test_the_games_are_shown_and_cannot_be_written():
    env = FourSeasonsVectorEnv(2, "czarina")
    env.reset(options={"deal": [3, 4]})
    assert Game.from_record(env.games[1], "czarina") == Game("czarina", deal=4)
    with pytest.raises(ValueError, match="read-only"):
        env.games["level"][0] = 1


# --- wrong input changes nothing ----------------------------------------------------------------


@pytest.mark.parametrize("argument", ["num_envs", "num_threads", "max_moves"])
@pytest.mark.parametrize("value", [True, 0, 2.0, "2"])
def test_what_counts_something_is_a_positive_integer(argument, value):
    message = rf"^{argument} must be a positive integer, not {re.escape(repr(value))}$"
    with pytest.raises(ValueError, match=message):
        FourSeasonsVectorEnv(**{argument: value})
    assert FourSeasonsVectorEnv(**{argument: np.int32(2)}).num_envs in (1, 2)


@pytest.mark.parametrize("above", [0, 100])
def test_an_action_out_of_range_is_refused_with_what_there_is(above):
    env = FourSeasonsVectorEnv(2)
    env.reset(seed=0)
    for action in (32 + above, -1 - above):
        message = f"^action {action} in game 1 is out of range: 'four-seasons' has actions 0 to 31$"
        with pytest.raises(ValueError, match=message):
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
    """Whether both go on alike, across ends of episodes and a reset."""
    assert (env.games == twin.games).all()
    assert env.np_random.bit_generator.state == twin.np_random.bit_generator.state
    for _ in range(2):
        one = play(env, 20, np.random.default_rng(0))
        two = play(twin, 20, np.random.default_rng(0))
        assert same(one, two)
        assert same(env.reset(), twin.reset())


@pytest.mark.parametrize(
    "actions",
    [
        0,
        [0, 0],
        [0.0, 0.0, 0.0],
        ["deal"] * 3,
        [0, 0, 32],
        [0, -1, 0],
        np.array([0, 0, 2**64 - 1], np.uint64),
    ],
    ids=repr,
)
def test_wrong_actions_change_nothing(actions):
    env, twin = twins()
    with pytest.raises(ValueError, match=r"must be integers of shape|is out of range"):
        env.step(actions)
    assert_unharmed(env, twin)


def test_one_illegal_action_moves_no_game_where_it_raises():
    env, twin = twins(illegal="raise")
    legal = int(env.action_masks()[0].argmax())
    illegal = int(env.action_masks()[2].argmin())
    with pytest.raises(IllegalMove, match=f"action {illegal} in game 2: .* is not legal: "):
        env.step(np.array([legal, legal, illegal]))
    assert_unharmed(env, twin)


@pytest.mark.parametrize(
    "options",
    [
        {"dael": 1},
        {"deal": 1.5},
        {"deal": [1, 2]},
        {"deal": [1, 2, -3]},
        {"deal": 1, "deck": cards_in_order()},
        {"deck": cards_in_order(12)},
    ],
    ids=lambda options: repr(options)[:30],
)
@pytest.mark.parametrize("seed", [None, 99])
def test_wrong_options_change_nothing(options, seed):
    env, twin = twins()
    with pytest.raises(ValueError, match=r"deal|deck"):
        env.reset(seed=seed, options=options)
    assert_unharmed(env, twin)


@pytest.mark.parametrize(
    ("seed", "message"),
    [([1, 2], "3 games take as many seeds, not 2"), ([1, 2, -3], "seed"), (-1, "seed")],
)
def test_wrong_seeds_change_nothing(seed, message):
    env, twin = twins()
    with pytest.raises(ValueError, match=message):
        env.reset(seed=seed)
    assert_unharmed(env, twin)


def test_no_step_before_reset():
    env = FourSeasonsVectorEnv(2)
    with pytest.raises(ResetNeeded, match=r"call reset\(\) first"):
        env.step(np.zeros(2, int))


def test_games_over_at_their_opening_end_at_the_first_step():
    rules = Rules(ranks=4, piles=1, base_from="first", opening="as_dealt")
    env = FourSeasonsVectorEnv(2, rules, illegal="raise")
    _, infos = env.reset(seed=1, options={"deck": cards_in_order(4)})
    assert infos["won"].all()
    _, rewards, terminated, _, infos = env.step(np.zeros(2, int))
    assert terminated.all()
    assert rewards.tolist() == [1, 1]
    assert infos["final_info"]["won"].all()
    assert not infos["won"].any()


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_many_games_are_those_of_single_environments(name):
    rng = random.Random(1)
    fleet = Fleet(8, seed=0, rules=name, observation="cards", mask="distinct")
    env = FourSeasonsVectorEnv(8, name, observation="cards", mask="distinct")
    env.reset(seed=0)
    for _ in range(600):
        actions = fleet.actions(rng, legal_action)
        answers = fleet.step(actions)
        observations, rewards, _, _, infos = env.step(actions)
        assert rewards.tolist() == [answer["reward"] for answer in answers]
        assert_same_rows(infos, fleet.infos, observations, fleet)


@pytest.mark.parametrize(
    ("rules", "how"),
    [
        ("four-seasons", {}),
        ("czarina", {"observation": "cards", "copy": False}),
        ("pysolfc/simplicity", {"observation": "cards", "num_threads": 2, "mask": "distinct"}),
    ],
)
def test_games_continue_from_their_state(rules: str, how: dict[str, object]) -> None:
    def play(env: FourSeasonsVectorEnv, steps: int) -> list[np.ndarray]:
        seen = []
        rng = np.random.default_rng(1)
        for _ in range(steps):
            masks = env.action_masks()
            answer = env.step(np.where(masks, rng.random(masks.shape), -1).argmax(axis=1))
            seen += [each.copy() for each in (*answer[:4], env.action_masks())]
            if "final_obs" in answer[4]:
                ended = answer[4]["_final_obs"]
                seen += [answer[4]["final_obs"][ended], answer[4]["final_info"]["deal"][ended]]
        return seen

    settings = {"rules": rules, "max_moves": 30} | how
    first = FourSeasonsVectorEnv(5, **settings)
    first.reset(seed=7)
    play(first, 47)
    state = first.state()
    expected = play(first, 70)
    second = FourSeasonsVectorEnv(5, **settings)
    second.restore(state)
    for here, there in zip(play(second, 70), expected, strict=True):
        np.testing.assert_array_equal(here, there)
    with pytest.raises(ValueError, match="other arguments"):
        FourSeasonsVectorEnv(6, **settings).restore(state)
