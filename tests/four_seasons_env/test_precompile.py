"""The first environment on a machine: its code is compiled in two processes."""

import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from four_seasons_env import precompile
from four_seasons_env.episodes import batch


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """The processes that a test starts."""
    processes = []

    class Process(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Process)
    return processes


IDS = {"moves": "FourSeasons-v0", "positions": "FourSeasonsNextDeal-v0"}


@pytest.mark.parametrize("kind", IDS)
def test_the_second_half_compiles(kind: str, started: list[subprocess.Popen]) -> None:
    with precompile.second_process(kind):
        pass
    assert [process.returncode for process in started] == [0]


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


def test_an_error_ends_the_second_process(started: list[subprocess.Popen]) -> None:
    with pytest.raises(KeyboardInterrupt), precompile.second_process("positions"):
        raise KeyboardInterrupt
    assert [process.returncode for process in started] == [-signal.SIGKILL]


@pytest.mark.parametrize("executable", [None, "", "/opt/application"])
def test_an_application_is_not_started_again(
    executable: str | None, started: list[subprocess.Popen], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with precompile.second_process("moves"):
        pass
    assert not started


def test_files_of_the_current_folder_are_not_run(
    started: list[subprocess.Popen], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "random.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    with precompile.second_process("moves"):
        pass
    assert [process.returncode for process in started] == [0]
