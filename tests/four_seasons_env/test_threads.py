"""How threads share the games of a batch."""

import numpy as np
import pytest

from four_seasons_env.engine.threads import _TAKEN, Threads, finish, take


@pytest.mark.parametrize(("threads", "games", "size"), [(2, 1000, 64), (3, 100, 1), (5, 7, 2)])
def test_each_game_is_taken_once(threads, games, size):
    rng = np.random.default_rng(0)
    for _ in range(100):
        ticket, taken = np.zeros(_TAKEN + threads, np.int64), np.zeros(games, np.int64)
        playing = list(range(threads))
        while playing:
            first, last = take(ticket, own := int(rng.choice(playing)), games, size)
            assert last - first <= size
            taken[first:last] += 1
            if first == last:
                playing.remove(own)
        assert (taken == 1).all()


def test_one_thread_takes_the_games_of_threads_that_sleep():
    ticket, taken = np.zeros(_TAKEN + 4, np.int64), []
    while (part := take(ticket, 3, 1000, 10))[0] < 1000:
        taken += range(*part)
    assert sorted(taken) == list(range(1000))


def test_the_last_games_are_left_to_an_owner_that_has_begun():
    ticket, left = np.zeros(_TAKEN + 2, np.int64), set(range(1000))
    left -= set(range(*take(ticket, 0, 1000, 10)))
    while (part := take(ticket, 1, 1000, 10))[0] < 1000:
        left -= set(range(*part))
    assert left == set(range(10, 70))  # of games 0 to 499


def test_calls_in_a_row_use_all_results():
    threads = Threads(3)

    def play(own, ticket, number, amount):
        first, last = take(ticket, number, 100, 7)
        while first < last:
            finish(ticket, last - first, amount * (last - first))
            first, last = take(ticket, number, 100, 7)

    assert [threads.call(play, [None] * 3, 100, k) for k in range(200)] == [
        100 * k for k in range(200)
    ]
    threads.close()
