"""What batches have beyond single environments: attributes, some resets, seeds, counts."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from four_seasons_env.evaluation import evaluate
from four_seasons_env.game import Game
from four_seasons_env.next_deal import FourSeasonsNextDealVectorEnv
from four_seasons_env.rules import Rules
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import cards_in_order, same, small

ASKED = (
    *("action_space", "observation_space", "rules", "render_mode", "metadata"),
    *("game", "action_masks", "render"),
)


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
    starts = [Game(deal=10_000).after("deal"), Game(deal=10_001)]
    assert native.call("set_starts", starts, 0.5) == sync.call("set_starts", starts, 0.5)
    for env in (native, sync):
        env.reset(seed=6)
    assert native.call("game") == sync.call("game")


def test_one_deal_or_deck_for_all_games():
    env = FourSeasonsVectorEnv(2, "czarina")
    assert env.reset(options={"deal": 4})[1]["deal"].tolist() == [4, 4]
    deck = cards_in_order()[::-1]
    assert env.reset(options={"deck": deck})[1]["deal"].tolist() == [-1, -1]
    assert Game.from_record(env.games[1], "czarina") == Game("czarina", deck=deck)


def test_games_are_read_only():
    env = FourSeasonsVectorEnv(2)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="read-only"):
        env.games["level"][0] = 1


@pytest.mark.parametrize(
    "write",
    [
        lambda actions: np.repeat(actions, 2)[::2],  # strided
        lambda actions: np.frombuffer(actions.tobytes(), np.int64),  # read-only
        lambda actions: actions.astype(np.uint8),
        lambda actions: actions.astype(">i8"),
        np.ndarray.tolist,
    ],
)
def test_actions_may_be_written_in_many_ways(write):
    env, twin = FourSeasonsVectorEnv(4), FourSeasonsVectorEnv(4)
    actions, _ = (each.reset(seed=3)[1]["action_mask"].argmax(axis=1) for each in (env, twin))
    assert same(env.step(write(actions)), twin.step(actions))


def test_evaluate_counts_illegal_actions():
    env = FourSeasonsVectorEnv(3, rules=small("four-seasons"), max_moves=20)
    found = evaluate(env, lambda observations, masks: (1 - masks).argmax(axis=1))
    assert (found.illegal, found.won) == (3 * 20, 0)


def test_evaluations_of_all_autoreset_modes_are_equal():
    envs = [FourSeasonsVectorEnv(9, mask="no_repeats", autoreset_mode=m) for m in AutoresetMode]
    first, *others = (evaluate(each, lambda _, masks: masks.argmax(axis=1)) for each in envs)
    assert others == [first, first]


# --- when the next episode starts --------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "moves", "ends"),
    [("SameStep", [1, 2, 0, 1, 2, 0, 1], [2, 5]), ("NextStep", [1, 2, 3, 0, 1, 2, 3, 0], [2, 6])],
)
def test_one_episode_follows_the_other(mode, moves, ends):
    """With NextStep, the step that begins an episode earns nothing and does not end."""
    env = FourSeasonsVectorEnv(2, max_moves=3, autoreset_mode=mode, mask="no_repeats")
    _, infos = env.reset(seed=1)
    paid = []
    for step, played in enumerate(moves):
        _, rewards, terminated, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
        assert env.games["moves"].tolist() == [played, played]
        assert truncated.tolist() == 2 * [step in ends] and not terminated.any()
        if mode == "NextStep" and played == 0:
            assert not rewards.any()
        paid.append(rewards)
        if mode == "SameStep" and step in ends:
            assert infos["final_info"]["episode"]["r"] == pytest.approx(sum(paid[-3:]))


@pytest.mark.compiled
def test_final_observations_of_a_large_batch():
    """They lie in memory of another kind."""
    finals = []
    for count in (3, 1000):
        env = FourSeasonsVectorEnv(count, max_moves=2)
        env.reset(seed=1)
        env.step(np.zeros(count, int))
        _, infos = env.reset(options={"reset_mask": np.arange(count) == 1})
        infos = env.step(infos["action_mask"].argmax(axis=1))[-1]
        assert infos["_final_obs"].sum() == count - 1
        finals.append(infos["final_obs"][:3])
    assert same(*finals)
    assert finals[0].any(axis=1).tolist() == [True, False, True]


def test_ended_games_need_a_reset():
    env, zeros = FourSeasonsVectorEnv(3, max_moves=1, autoreset_mode="Disabled"), np.zeros(3, int)
    env.reset(seed=1)
    assert env.step(zeros)[3].all()
    games = env.games.copy()
    for chosen, ended in (([], 0), ([0, 2], 1)):
        if chosen:
            env.reset(options={"reset_mask": np.isin(np.arange(3), chosen)})
        with pytest.raises(ResetNeeded, match=f"game {ended} has ended: call reset"):
            env.step(zeros)
    assert (env.games[1] == games[1]).all()
    env.reset(options={"reset_mask": np.array([False, True, False])})
    env.step(zeros)


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


def test_reset_mask_leaves_the_moves_of_other_games():
    env = FourSeasonsNextDealVectorEnv(2)
    env.reset(seed=1)
    before = env.step([0, 0])[-1]["moves"]
    after = env.reset(options={"reset_mask": np.array([True, False])})[1]["moves"]
    assert (after[0] == -1).all()
    assert before[1].max() >= 0 and same(after[1], before[1])


def test_the_next_deal_changes_no_earlier_info():
    """All sixteen cards go up at the opening: the game is won."""
    rules = Rules(ranks=4, piles=1, base_from="first", opening="as_dealt")
    env = FourSeasonsVectorEnv(1, rules, autoreset_mode="NextStep")
    env.reset(seed=1, options={"deck": cards_in_order(4)})
    infos = env.step([0])[-1]
    assert not env.step([0])[-1]["won"].any()
    assert infos["is_success"].all() and infos["_is_success"].all()


def test_seed_none_goes_on():
    env = FourSeasonsVectorEnv(3)
    first = env.reset(seed=[4, None, 6])[1]["deal"]
    expected = FourSeasonsVectorEnv(3).reset(seed=np.array(4))[1]["deal"]
    assert (first == expected).tolist() == [True, False, True]
    twin = FourSeasonsVectorEnv(3)
    twin.reset(seed=[4, 5, 6])
    going_on = twin.reset()[1]["deal"]
    twin.reset(seed=[4, 5, 6])
    some = twin.reset(seed=[None, 5, None])[1]["deal"]
    assert some.tolist() == [going_on[0], expected[1], going_on[2]]
