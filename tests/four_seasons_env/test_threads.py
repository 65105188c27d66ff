"""How threads share the games of a batch."""

import itertools
import os
import pickle
import sys
import threading
import time

import numpy as np
import pytest

from four_seasons_env.engine.threads import (
    _LINE,
    _WHAT,
    Threads,
    _end_in,
    finish,
    next_call,
    take,
)
from four_seasons_env.episodes.running import RunningGames
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import random_steps, run_python, same


def board(threads):
    return np.zeros((2 + threads) * _LINE, np.int64)


@pytest.mark.parametrize(("threads", "games", "size"), [(2, 1000, 64), (3, 100, 1), (5, 7, 2)])
def test_each_game_is_taken_once(threads, games, size):
    rng = np.random.default_rng(0)
    for _ in range(100):
        new, taken = board(threads), np.zeros(games, np.int64)
        playing = list(range(threads))
        while playing:
            first, last = take(new, own := int(rng.choice(playing)), games, size)
            assert last - first <= size
            taken[first:last] += 1
            if first == last:
                playing.remove(own)
        assert (taken == 1).all()


def test_one_thread_takes_the_games_of_threads_that_sleep():
    new, taken = board(4), []
    while (part := take(new, 3, 1000, 10))[0] < 1000:
        taken += range(*part)
    assert sorted(taken) == list(range(1000))


def test_the_last_games_are_left_to_an_owner_that_has_begun():
    new, left = board(2), set(range(1000))
    left -= set(range(*take(new, 0, 1000, 10)))
    while (part := take(new, 1, 1000, 10))[0] < 1000:
        left -= set(range(*part))
    assert left == set(range(10, 70))  # of games 0 to 499


@pytest.mark.parametrize("count", [2, 3, 9])
def test_calls_in_a_row_use_all_results(count):
    threads, actions, joined = Threads(count), np.zeros(100, np.int64), set()

    def play(_, board, own):
        call = 0
        while call >= 0:
            call = next_call(board, own, 100, call)
            joined.add(own)
            first, last = take(board, own, 100, 3)
            played = 0
            while first < last:
                played += last - first
                first, last = take(board, own, 100, 3)
            finish(board, own, played, played * int(board[_WHAT]))
            if own == 0:
                return

    owns = [None] * count
    for k in range(300):
        assert threads.call(play, owns, k, actions, actions) == 100 * k
        time.sleep(0.01 * (k % 50 == 0))  # the others sleep, too
    threads.close()
    assert joined == set(range(count))


@pytest.mark.parametrize("end", ["close", "deals", "gone"])
def test_threads_end(end):
    before = set(threading.enumerate())
    env = FourSeasonsVectorEnv(300, num_threads=4)
    env.reset(seed=0)
    started = set(threading.enumerate()) - before
    assert len(started) == 3
    if end == "deals":  # the buffers are replaced: new threads play on
        env.set_deals([10_000])
        env.step(np.zeros(300, np.int64))
        assert len(set(threading.enumerate()) - before - started) == 3
    elif end == "close":
        env.close()
        env.step(np.zeros(300, np.int64))  # Gymnasium does not forbid it
        assert len(set(threading.enumerate()) - before - started) == 3
    else:
        del env
    for each in started:
        each.join(10)
        assert not each.is_alive()


INTERRUPTED = """
import os, signal, threading, time
from four_seasons_env.vector import FourSeasonsVectorEnv
from tests.helpers import random_steps

env, inside, interrupted, changed = FourSeasonsVectorEnv(2000, num_threads=6), False, 0, 0
env.reset(seed=0)
random_steps(env, 20)

def send():
    while True:
        time.sleep(0.0002)
        os.kill(os.getpid(), signal.SIGINT)

def stop(*_):
    if inside:
        raise KeyboardInterrupt

signal.signal(signal.SIGINT, stop)
threading.Thread(target=send, daemon=True).start()
while interrupted < 300:
    actions = env.action_masks().argmax(axis=1)
    try:
        inside = True
        env.step(actions)
    except KeyboardInterrupt:
        inside = False
        after, _ = env.games.copy(), time.sleep(0.002)
        interrupted += 1
        changed += (env.games != after).any()
    inside = False
print(changed)
"""


@pytest.mark.skipif(os.name != "posix", reason="no signals to send")
def test_ctrl_c_waits_until_all_threads_have_finished():
    assert run_python("-c", INTERRUPTED) == "0\n"


LINES = [Threads.call, Threads._renew, Threads.close, _end_in]
LINES += [RunningGames._replace, RunningGames._share_buffers]


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
        before = set(threading.enumerate())
        env = FourSeasonsVectorEnv(200, num_threads=3, max_moves=2)
        goes_on = interrupted(play, at)
        twin = pickle.loads(pickle.dumps(env))
        for each in (env, twin):
            each.reset(seed=1)
        assert same(random_steps(env, 5), random_steps(twin, 5)), at
        env = twin = each = None
        for started in set(threading.enumerate()) - before:
            started.join(10)
            assert not started.is_alive(), at
        at += 1
    assert at > 50


def test_where_no_thread_can_start_the_caller_plays(monkeypatch):
    def start(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    env, twin = (FourSeasonsVectorEnv(200, num_threads=count) for count in (3, 1))
    for each in (env, twin):
        each.reset(seed=1)
    assert same(random_steps(env, 5), random_steps(twin, 5))
