"""When the next episode starts: three modes play the same games, and Gymnasium's tools agree."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from four_seasons_env.env import FourSeasonsEnv
from four_seasons_env.game import Game
from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import same, small

GAMES = 5
SMALL = {"rules": small("four-seasons"), "max_moves": 30}
NEXT_DEAL = {"rules": small("four-seasons"), "candidates": 4, "expansions": 10, "max_moves": 30}
MAKERS = {
    "moves": lambda **how: FourSeasonsVectorEnv(
        GAMES, **SMALL | {"reward": lambda before, after: after["dealt"] - before["dealt"]} | how
    ),
    "cards on three threads": lambda **how: FourSeasonsVectorEnv(
        GAMES, **SMALL | {"observation": "cards", "num_threads": 3, "copy": False} | how
    ),
    "next deal": lambda **how: FourSeasonsNextDealVectorEnv(GAMES, **NEXT_DEAL | how),
}


def row(value, index: int):
    """A copy of one game's row of observations or infos."""
    if isinstance(value, dict):
        return {key: row(each, index) for key, each in value.items() if not key.startswith("_")}
    return value[index].copy()


def action_of(game: int, played: int, mask) -> int:
    """A legal action, drawn by the game and how many it has played: in each mode the same."""
    legal = np.flatnonzero(mask)
    return int(np.random.default_rng([game, played]).choice(legal))


class Record:
    """The results of each game, step by step, without the steps that only deal it again."""

    def __init__(self, env) -> None:
        self.env = env
        observations, infos = env.reset(seed=7)
        self.results = [[(row(observations, i), row(infos, i))] for i in range(GAMES)]
        self.played = [0] * GAMES
        self.masks = infos["action_mask"].copy()

    def actions(self, idle) -> np.ndarray:
        """The games' next actions; those of idle games are out of range."""
        chosen = np.full(GAMES, -1)
        for i in np.flatnonzero(~idle):
            chosen[i] = action_of(i, self.played[i], self.masks[i])
            self.played[i] += 1
        return chosen

    def step(self, idle) -> np.ndarray:
        """Take a step and note the results; returns which episodes have ended."""
        answer = self.env.step(self.actions(idle))
        observations, rewards, terminated, truncated, infos = answer
        done = terminated | truncated
        for i in range(GAMES):
            if idle[i]:
                assert (rewards[i], done[i]) == (0, False)
            elif "final_obs" in infos and done[i]:
                final = row(infos["final_info"], i)
                del final["episode"]
                results = row(infos["final_obs"], i), final
                self.results[i].append((*results, rewards[i], terminated[i], truncated[i]))
            else:
                results = row(observations, i), row(infos, i)
                self.results[i].append((*results, rewards[i], terminated[i], truncated[i]))
            if idle[i] or ("final_obs" in infos and done[i]):
                self.results[i].append((row(observations, i), row(infos, i)))
        self.masks = infos["action_mask"].copy()
        return done


def comparable(results: list) -> list:
    """The part of the results that every mode returns."""
    keys = ("action_mask", "deal", "cards_up", "won", "illegal")
    return [(one, {key: info[key] for key in keys}, *rest) for one, info, *rest in results]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_all_modes_play_the_same_games(make):
    nobody = np.zeros(GAMES, np.bool_)
    same_step = Record(make())
    for _ in range(60):
        same_step.step(nobody)

    next_step = Record(make(autoreset_mode="NextStep"))
    done = nobody
    for _ in range(70):
        done = next_step.step(done)

    disabled = Record(make(autoreset_mode="Disabled"))
    for _ in range(60):
        done = disabled.step(nobody)
        if done.any():
            observations, infos = disabled.env.reset(options={"reset_mask": done})
            for i in np.flatnonzero(done):
                disabled.results[i].append((row(observations, i), row(infos, i)))
            assert infos["_deal"].tolist() == done.tolist()
            disabled.masks = infos["action_mask"].copy()

    for i in range(GAMES):
        first, second, third = (
            comparable(each.results[i]) for each in (same_step, next_step, disabled)
        )
        assert sum(len(each) == 2 for each in first) > 2, "an episode has ended"
        length = min(len(first), len(second), len(third))
        assert length > 60
        assert same(first[:length], second[:length])
        assert same(first[:length], third[:length])


@pytest.mark.parametrize("mode", AutoresetMode)
def test_agrees_with_sync_vector_env(mode):
    native = FourSeasonsVectorEnv(3, **SMALL, autoreset_mode=mode)
    sync = gym.vector.SyncVectorEnv([lambda: FourSeasonsEnv(**SMALL)] * 3, autoreset_mode=mode)
    assert native.autoreset_mode is native.metadata["autoreset_mode"] is mode
    assert native.observation_space == sync.observation_space
    assert native.action_space == sync.action_space
    one, two = native.reset(seed=3), sync.reset(seed=3)
    rng = np.random.default_rng(0)
    resets = 0
    for _ in range(90):
        assert same(one[0], two[0])
        mask = one[-1]["action_mask"]
        assert (mask == np.stack(list(two[-1]["action_mask"]))).all()
        actions = np.where(mask, rng.random(mask.shape), -1).argmax(axis=1)
        one, two = native.step(actions), sync.step(actions)
        for i in range(1, 4):
            assert (one[i] == two[i]).all()
        for key in ("is_success", "_is_success"):
            assert same(one[4].get(key), two[4].get(key))
        done = one[2] | one[3]
        for i in np.flatnonzero(one[4].get("_final_obs", ())):
            assert same(one[4]["final_obs"][i], two[4]["final_obs"][i])
        if mode is AutoresetMode.DISABLED and done.any():
            assert same(one[0], two[0])
            masks = one[4]["action_mask"].copy()
            resets += 1
            one, two = (env.reset(options={"reset_mask": done}) for env in (native, sync))
            two[1]["action_mask"][~done] = masks[~done]  # Gymnasium returns nothing for those
            for key, each in two[1].items():
                assert (one[1][key][done] == each[done]).all()
    assert resets > 3 or mode is not AutoresetMode.DISABLED


def test_mode_is_in_the_metadata():
    envs = [FourSeasonsVectorEnv(2, autoreset_mode=mode) for mode in ("next_step", "SAME_STEP")]
    assert [env.metadata["autoreset_mode"] for env in envs] == [
        AutoresetMode.NEXT_STEP,
        AutoresetMode.SAME_STEP,
    ]
    assert "autoreset_mode" not in FourSeasonsVectorEnv.metadata
    made = gym.make_vec("FourSeasonsNextDeal-v0", num_envs=2, autoreset_mode="Disabled")
    assert made.metadata["autoreset_mode"] is AutoresetMode.DISABLED


def test_unknown_mode():
    with pytest.raises(ValueError, match="unknown autoreset_mode 'NextSteps': did you mean 'NextS"):
        FourSeasonsVectorEnv(2, autoreset_mode="NextSteps")


def test_ended_games_need_a_reset():
    env = FourSeasonsVectorEnv(3, **SMALL | {"max_moves": 2}, autoreset_mode="Disabled")
    _, infos = env.reset(seed=1)
    for _ in range(2):
        _, _, terminated, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
    assert (terminated | truncated).all()
    games = env.games.copy()
    with pytest.raises(ResetNeeded, match="3 games have ended, game 0 first: call reset"):
        env.step(np.zeros(3, int))
    env.reset(options={"reset_mask": np.array([True, False, True])})
    with pytest.raises(ResetNeeded, match="1 games have ended, game 1 first"):
        env.step(np.zeros(3, int))
    assert (env.games[1] == games[1]).all()
    env.reset(options={"reset_mask": np.array([False, True, False])})
    env.step(np.zeros(3, int))


@pytest.mark.parametrize("mode", AutoresetMode)
def test_reset_mask_resets_its_games(mode):
    env = FourSeasonsVectorEnv(3, "czarina", autoreset_mode=mode)
    env.reset(seed=1)
    env.step(np.zeros(3, int))
    before = env.games.copy()
    chosen = np.array([False, True, False])
    options = {"reset_mask": chosen, "deal": [1, 17, 3]}
    observations, infos = env.reset(options=options)
    assert set(options) == {"reset_mask", "deal"}, "the options are the caller's"
    assert infos["deal"][1] == 17
    assert infos["_deal"].tolist() == infos["_action_mask"].tolist() == chosen.tolist()
    assert (env.games[~chosen] == before[~chosen]).all()
    assert Game.from_record(env.games[1], "czarina") == Game("czarina", deal=17)
    assert env.observation_space.contains(observations)
    _, infos = env.reset(seed=[None, 8, 9], options={"reset_mask": chosen})
    assert infos["deal"][1] == FourSeasonsVectorEnv(1).reset(seed=8)[1]["deal"][0]
    assert (env.games[~chosen] == before[~chosen]).all()


def test_seed_none_goes_on():
    env = FourSeasonsVectorEnv(3)
    first = env.reset(seed=[4, None, 6])[1]["deal"]
    expected = FourSeasonsVectorEnv(3).reset(seed=[4, 5, 6])[1]["deal"]
    assert (first == expected).tolist() == [True, False, True]
    twin = FourSeasonsVectorEnv(3)
    twin.reset(seed=[4, 5, 6])
    going_on = twin.reset()[1]["deal"]
    twin.reset(seed=[4, 5, 6])
    some = twin.reset(seed=[None, 5, None])[1]["deal"]
    assert some.tolist() == [going_on[0], expected[1], going_on[2]]


@pytest.mark.parametrize(
    ("mask", "reason"),
    [
        ([1, 0, 1], r"must be a bool array of shape \(3,\), not int64"),
        (np.ones(4, np.bool_), r"must be a bool array of shape \(3,\), not bool of shape \(4,\)"),
        (np.zeros(3, np.bool_), "must name one game or more"),
        (None, "must be a bool array"),
    ],
)
def test_wrong_reset_mask_changes_nothing(mask, reason):
    env = FourSeasonsVectorEnv(3, autoreset_mode="Disabled")
    env.reset(seed=1)
    before = env.games.copy()
    with pytest.raises(ValueError, match=reason):
        env.reset(seed=2, options={"reset_mask": mask})
    assert (env.games == before).all()
    with pytest.raises(ValueError, match="did you mean 'reset_mask'"):
        env.reset(options={"reset_maks": mask})


def test_first_reset_needs_all_games():
    env = FourSeasonsVectorEnv(2)
    with pytest.raises(ResetNeeded):
        env.reset(seed=1, options={"reset_mask": np.array([True, False])})
    env.reset(seed=1, options={"reset_mask": np.array([True, True])})
