"""The limits of a training run."""

import math
import time
from types import SimpleNamespace
from typing import Any

from four_seasons_env.agents.training import Update
from four_seasons_env.experiments.monitor import Limits, Progress

POOL: Any = SimpleNamespace(core_seconds=0.0)


def test_the_first_limit_ends_the_run() -> None:
    progress = Progress(seconds=60, core_seconds=30)
    assert Limits(steps=100, minutes=4).share(50, progress) == 0.5
    assert Limits(steps=100, minutes=1).share(50, progress) == 1
    assert Limits(math.inf, core_minutes=2).share(10**9, progress) == 0.25


def test_sleeping_costs_no_core_minutes() -> None:
    progress = Progress()
    with progress.timed(POOL):
        time.sleep(0.5)
    assert progress.seconds >= 0.5
    assert progress.core_seconds < 0.25


def test_time_of_workers_counts() -> None:
    progress, pool = Progress(), SimpleNamespace(core_seconds=3.0)
    with progress.timed(pool):  # type: ignore[arg-type]
        pool.core_seconds += 5
    assert 5 <= progress.core_seconds < 5.5


def test_only_the_results_of_recent_games_are_kept() -> None:
    progress = Progress()
    for won, cards in ((False, 10), (True, 52), (True, 52)):
        progress.add(Update([won], [cards], {}), recent=2)
    assert progress.games == 3
    assert (progress.won, progress.cards_up) == ([True, True], [52, 52])
