"""The first environment on a machine: its code is compiled in two processes."""

import subprocess
import sys
from contextlib import contextmanager

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env import precompile
from four_seasons_env.episodes import batch

IDS = {"moves": "FourSeasons-v0", "positions": "FourSeasonsNextDeal-v0"}


@pytest.mark.parametrize("kind", IDS)
def test_the_second_half_compiles(kind: str) -> None:
    command = [sys.executable, "-m", "four_seasons_env.precompile", kind]
    subprocess.run(command, check=True, timeout=120)


@pytest.mark.parametrize("kind", IDS)
def test_compiling_ahead_changes_nothing(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = []

    @contextmanager
    def second_process(kind: str):
        kinds.append(kind)
        yield

    expected = gym.make(IDS[kind])
    monkeypatch.setattr(batch, "is_compiled", lambda function: False)
    monkeypatch.setattr(batch, "second_process", second_process)
    env = gym.make(IDS[kind])
    assert kinds == [kind]
    with pytest.raises(gym.error.ResetNeeded):
        env.unwrapped.action_masks()
    for each in (expected, env):
        each.reset(seed=3)
    for _ in range(5):
        mask = env.unwrapped.action_masks()
        np.testing.assert_array_equal(mask, expected.unwrapped.action_masks())
        action = int(mask.argmax())
        observation, reward, *_ = env.step(action)
        expected_observation, expected_reward, *_ = expected.step(action)
        np.testing.assert_equal(observation, expected_observation)
        assert reward == expected_reward


def test_without_a_second_process_the_first_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with precompile.second_process("moves"):
        reached = True
    assert reached
