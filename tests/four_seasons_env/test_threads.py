"""Cores that a process may use, and threads that share the games of a batch."""

import itertools
import os
import pickle
import sys
import threading
import time
from types import CodeType

import numpy as np
import pytest

from four_seasons_env.engine.threads import Threads, cores
from four_seasons_env.episodes import running
from four_seasons_env.episodes.running import RunningGames
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import random_steps, run_python, same

QUOTA, PERIOD = "cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us"
QUOTAS = [  # /proc/self/cgroup, files in /sys/fs/cgroup, cores of 8 that may be used
    ("0::/a/b\n", {"a/b/cpu.max": "max 100000", "a/cpu.max": "200000 100000"}, 2),
    ("0::/a/b\n", {"a/b/cpu.max": "400000 100000", "cpu.max": "310000 100000"}, 3),
    ("0::/known/outside\n", {"cpu.max": "50000 100000\n"}, 1),
    ("3:cpuset:/\n1:cpu,cpuacct:/x\n0::/\n", {QUOTA: "250000\n", PERIOD: "100000\n"}, 2),
    ("1:cpu:/\n", {QUOTA: "-1", PERIOD: "100000"}, 8),
    ("0::/\n", {}, 8),
]


@pytest.mark.parametrize(("cgroups", "files", "count"), QUOTAS)
def test_the_smallest_quota_counts(cgroups, files, count, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    assert cores(tmp_path) == 8
    for name, text in (files | {"../../../proc/self/cgroup": cgroups}).items():
        file = (tmp_path / "sys/fs/cgroup" / name).resolve()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert cores(tmp_path) == count


def test_threads_are_as_many_as_pay(monkeypatch):
    monkeypatch.setattr(running, "cores", lambda: 3)
    envs = [FourSeasonsVectorEnv(games, num_threads=None) for games in (4_095, 4_096, 100_000)]
    assert [env._batch._threads.count for env in envs] == [1, 2, 3]


@pytest.mark.parametrize("end", ["close", "gone"])
def test_threads_end(end):
    env, before = FourSeasonsVectorEnv(300, num_threads=4), set(threading.enumerate())
    env.reset(seed=0)
    env.step(np.zeros(300, np.int64))
    started = set(threading.enumerate()) - before
    assert 1 <= len(started) <= 3
    if end == "close":
        env.close()
        env.step(np.zeros(300, np.int64))  # Gymnasium does not forbid it
    del env
    for each in started:
        each.join(10)
        assert not each.is_alive()


CALLED = [each.__code__ for each in (Threads.call, Threads.close)]
CALLED += [each.__code__ for each in (RunningGames._make_shared, RunningGames._bundle)]
CALLED += [each for each in Threads.call.__code__.co_consts if isinstance(each, CodeType)]


def interrupted(action, at):
    """Whether an action has a line ``at`` in threads or buffers; it raises KeyboardInterrupt."""
    lines = itertools.count()

    def trace(frame, event, _):
        if frame.f_code not in CALLED:
            return None
        # Not where `with` ends, which is its line again: signals of Python do not come there.
        inside = frame.f_lineno > frame.f_code.co_firstlineno + 1
        if event == "line" and inside and next(lines) == at:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_ctrl_c_at_any_line_leaves_whole_steps():
    """All games have played the step, or none; no thread is late, and the games play on."""

    def play():
        env.set_deals([10_000, 10_001])
        env.step(np.zeros(200, np.int64))
        env.close()

    goes_on, at = True, 0
    while goes_on:
        env = FourSeasonsVectorEnv(200, num_threads=3, max_moves=3)
        env.reset(seed=0)
        env.step(np.zeros(200, np.int64))  # starts the threads
        goes_on = interrupted(play, at)
        after = env.games.copy()
        assert len(set(after["moves"])) == 1, at
        time.sleep(0.002)
        assert (env.games == after).all(), at
        twin = pickle.loads(pickle.dumps(env))
        for each in (env, twin):
            each.reset(seed=1)
        assert same(random_steps(env, 5), random_steps(twin, 5)), at
        at += 1
    assert at > 30


@pytest.mark.parametrize("first", [1, 2])
def test_where_no_thread_can_start_one_goes_on(first, monkeypatch):
    """None, or no second one: the games are those of one thread."""

    def start(thread):
        if next(starts) >= first:
            raise RuntimeError("can't start new thread")
        begin(thread)

    begin, starts = threading.Thread.start, itertools.count(1)
    env, twin = (FourSeasonsVectorEnv(200, num_threads=count) for count in (4, 1))
    for each in (env, twin):
        each.reset(seed=1)
    with monkeypatch.context() as patch, pytest.warns(RuntimeWarning, match="can't start new th"):
        patch.setattr(threading.Thread, "start", start)
        played = random_steps(env, 5)
    assert same(played, random_steps(twin, 5))
    assert same(random_steps(env, 5), random_steps(twin, 5))


OUTLIVED = """
import threading
import numpy as np
from four_seasons_env.vector import FourSeasonsVectorEnv

def play():
    threading.main_thread().join()
    for _ in range(4):
        env.step(np.zeros(200, np.int64))
    print("played")

env = FourSeasonsVectorEnv(200, num_threads=2)
env.reset(seed=0)
env.step(np.zeros(200, np.int64))
threading.Thread(target=play).start()
"""


def test_a_thread_plays_on_after_the_main_thread_has_ended():
    assert run_python("-c", OUTLIVED) == "played\n"


def test_a_thread_that_fails_is_reported():
    def play(first, last):
        time.sleep(0.01)  # so the other thread wakes in time
        return 0 if threading.current_thread() is threading.main_thread() else int("none")

    (threads := Threads(2)).call([play, play], 800)  # at first, the caller plays alone
    with pytest.raises(RuntimeError, match="a thread failed"):
        threads.call([play, play], 800)
