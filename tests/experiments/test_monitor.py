"""The clock of a training run."""

import math
import time

from four_seasons_env.experiments.monitor import Clock


def test_the_first_limit_ends_the_run() -> None:
    """Of steps, minutes and minutes of processor time, which sleeping does not cost."""
    clock = Clock(steps=100, minutes=1 / 60)
    clock.done_steps = 50
    assert clock.done == 0.5
    cores = Clock(steps=math.inf, core_minutes=1 / 600)
    with clock.running(), cores.running():
        time.sleep(1.05)
    assert clock.done == 1.0 and cores.done < 0.5
    with cores.running():
        started = time.process_time()
        while time.process_time() - started < 0.11:
            pass
    assert cores.done == 1.0
