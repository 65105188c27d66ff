"""The clock of a training run."""

import math
import time

from four_seasons_env.experiments.monitor import Clock


def test_the_first_limit_ends_the_run() -> None:
    clock = Clock(steps=100, minutes=1 / 60, core_minutes=None)
    clock.done_steps = 50
    assert clock.done == 0.5
    with clock.running():
        time.sleep(1.05)
    assert clock.done == 1.0
    assert clock.core_seconds < 0.5  # sleeping costs no processor time
    idle = Clock(steps=100, minutes=None, core_minutes=1 / 600)
    with idle.running():
        time.sleep(0.3)
    assert idle.done < 0.5
    with idle.running():
        started = time.process_time()
        while time.process_time() - started < 0.11:
            pass
    assert idle.done == 1.0
    before = clock.seconds, clock.core_seconds
    time.sleep(0.05)
    assert (clock.seconds, clock.core_seconds) == before


def test_minutes_need_no_limit_of_steps() -> None:
    clock = Clock(steps=math.inf, core_minutes=1)
    clock.done_steps, clock.core_seconds = 10**12, 15.0
    assert clock.done == 0.25
