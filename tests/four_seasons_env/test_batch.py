"""What a batch of running games takes and refuses, on a game so small that it needs no compiler."""

import re

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from four_seasons_env.engine.cards import deck_text
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import small

RULES = small("four-seasons", ranks=4, piles=1)


@pytest.mark.parametrize("argument", ["num_envs", "num_threads", "max_moves"])
@pytest.mark.parametrize("value", [True, 0, -1, 2.0, "2", None])
def test_what_counts_something_is_a_positive_integer(argument: str, value: object) -> None:
    words = rf"^{argument} must be a positive integer, not {re.escape(repr(value))}$"
    with pytest.raises(ValueError, match=words):
        FourSeasonsVectorEnv(rules=RULES, **{argument: value})
    assert FourSeasonsVectorEnv(rules=RULES, **{argument: np.int32(2)}).num_envs in (1, 2)


@pytest.mark.parametrize("above", [0, 1, 100])
def test_an_action_out_of_range_is_refused_with_what_there_is(above: int) -> None:
    env = FourSeasonsVectorEnv(2, RULES)
    env.reset(seed=0)
    actions = int(env.single_action_space.n)
    told = rf"^action {{}} in game 1 is out of range: .* has actions 0 to {actions - 1}$"
    for action in (actions + above, -1 - above):
        with pytest.raises(ValueError, match=told.format(action)):
            env.step(np.array([0, action]))
    env.step(np.array([actions - 1, 0]))


def test_a_deck_is_no_deal() -> None:
    env = FourSeasonsVectorEnv(2, RULES)
    deck = deck_text(range(RULES.cards))
    _, infos = env.reset(options={"deck": deck})
    assert infos["deal"].tolist() == [-1, -1]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_reward_of_ones_own_is_paid_for_legal_moves(threads: int) -> None:
    env = FourSeasonsVectorEnv(
        2, RULES, reward=lambda before, after: np.full(len(after), 2.5), num_threads=threads
    )
    _, infos = env.reset(seed=0)
    legal = infos["action_mask"]
    _, rewards, _, _, infos = env.step(np.array([legal[0].argmax(), legal[1].argmin()]))
    assert infos["illegal"].tolist() == [False, True]
    assert rewards.tolist() == [2.5, -0.01]


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_an_episode_returns_what_its_steps_paid_and_is_followed_as_the_mode_says(mode: str) -> None:
    env = FourSeasonsVectorEnv(2, RULES, max_moves=30, autoreset_mode=mode)
    _, infos = env.reset(seed=0)
    paid, ended, waiting = np.zeros(2), 0, np.zeros(2, bool)
    for _ in range(90):
        before = infos["deal"].copy()
        _, rewards, terminated, truncated, infos = env.step(infos["action_mask"].argmax(axis=1))
        paid += rewards
        assert not (rewards[waiting] != 0).any()
        assert ((infos["deal"] != before) == waiting).all() or mode == "SameStep"
        over = terminated | truncated
        ended += over.sum()
        if mode == "SameStep" and over.any():
            told = infos["final_info"]["episode"]["r"][over]
            np.testing.assert_allclose(told, paid[over], atol=1e-12)
            assert (infos["deal"][over] != before[over]).all()
        paid[over] = 0.0
        waiting = over & (mode == "NextStep")
        if mode == "Disabled" and over.any():
            with pytest.raises(ResetNeeded):
                env.step(infos["action_mask"].argmax(axis=1))
            _, infos = env.reset(options={"reset_mask": over})
    assert ended > 4
