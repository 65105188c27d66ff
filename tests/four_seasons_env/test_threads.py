"""Cores that a process may use, and threads that share the games of a batch."""

import itertools
import os
import pickle
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.engine.threads import Threads, cores
from four_seasons_env.episodes.running import RunningGames
from four_seasons_env.next_deal.next_deal_env import FourSeasonsNextDealVectorEnv
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


JOINED = """
import os, sys
open(sys.argv[1] + "/cgroup.procs", "w").write(str(os.getpid()))
from four_seasons_env.engine.threads import cores
from four_seasons_env.vector import FourSeasonsVectorEnv

env = FourSeasonsVectorEnv(100_000, num_threads=None)
print(cores(), env._batch._threads.count)
"""


def test_a_real_quota_of_one_core_means_one_thread():
    top = Path("/sys/fs/cgroup")
    version_2 = (top / "cgroup.controllers").is_file()
    own = top / ("" if version_2 else "cpu") / f"four-seasons-{os.getpid()}"
    try:
        own.mkdir()
    except OSError as error:
        pytest.skip(f"this test may not make a cgroup: {error}")
    try:
        file = own / ("cpu.max" if version_2 else "cpu.cfs_quota_us")
        if not file.is_file():
            pytest.skip("a new cgroup has no quota here")
        file.write_text("100000")  # of the usual 100,000 microseconds
        assert run_python("-c", JOINED, str(own)) == "1 1\n"
    finally:
        own.rmdir()


@pytest.mark.parametrize("count", [2, 3, 9])
@pytest.mark.parametrize("kind", [FourSeasonsVectorEnv, FourSeasonsNextDealVectorEnv])
def test_the_number_of_threads_changes_nothing(kind, count):
    env, twin = (kind(37, num_threads=each, max_moves=40) for each in (count, 1))
    for each in (env, twin):
        each.reset(seed=3)
    assert same(random_steps(env, 60), random_steps(twin, 60))


def test_few_games_are_played_in_one_thread():
    assert FourSeasonsVectorEnv(4_095, num_threads=None)._batch._threads.count == 1


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


INTERRUPTED = """
import os, signal, threading, time
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import random_steps

env, twin = FourSeasonsVectorEnv(2000, num_threads=6), FourSeasonsVectorEnv(2000)
for each in (env, twin):
    each.reset(seed=0)
    random_steps(each, 20)
inside, interrupted, halves, late = False, 0, 0, 0

def send():
    while True:
        time.sleep(0.0002)
        os.kill(os.getpid(), signal.SIGINT)

def stop(*_):
    if inside:
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, stop)
threading.Thread(target=send, daemon=True).start()
while interrupted < 200:
    actions = env.action_masks().argmax(axis=1)
    try:
        inside = True
        env.step(actions)
    except KeyboardInterrupt:
        inside = False
        interrupted += 1
    inside = False
    after, _ = env.games.copy(), time.sleep(0.002)
    late += (env.games != after).any()
    if (after != twin.games).any():  # else it was interrupted before the first move
        twin.step(actions)
        halves += (after != twin.games).any()
print(halves, late)
"""


@pytest.mark.skipif(os.name != "posix", reason="no signals to send")
def test_ctrl_c_waits_until_all_games_have_been_played():
    assert run_python("-c", INTERRUPTED) == "0 0\n"


LINES = [Threads.call, Threads.close]
LINES += [RunningGames._share, RunningGames._bundle]


def interrupted(action, at):
    """Whether an action has a line ``at`` in threads or buffers; it raises KeyboardInterrupt."""
    lines, codes = itertools.count(), {each.__code__ for each in LINES}

    def trace(frame, event, _):
        if frame.f_code not in codes:
            return None
        if event == "line" and next(lines) == at:
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


def test_ctrl_c_at_any_line_leaves_games_that_play_on():
    def play():
        env.reset(seed=0)
        env.set_deals([10_000, 10_001])
        env.step(np.zeros(200, np.int64))
        env.close()

    goes_on, at = True, 0
    while goes_on:
        env = FourSeasonsVectorEnv(200, num_threads=3, max_moves=2)
        goes_on = interrupted(play, at)
        twin = pickle.loads(pickle.dumps(env))
        for each in (env, twin):
            each.reset(seed=1)
        assert same(random_steps(env, 5), random_steps(twin, 5)), at
        at += 1
    assert at > 30


def test_where_no_thread_can_start_an_error_says_so(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    env, twin = (FourSeasonsVectorEnv(200, num_threads=count) for count in (3, 1))
    for each in (env, twin):
        each.reset(seed=1)
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="can't start"):
        patch.setattr(threading.Thread, "start", start)
        env.step(np.zeros(200, np.int64))
    twin.step(np.zeros(200, np.int64))
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
