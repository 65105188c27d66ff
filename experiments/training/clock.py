"""`Clock`: the share of a training run that is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """The share of a run that is done: the largest share of its limits."""

    steps: int
    """Most steps."""
    minutes: float | None = None
    """Most minutes of learning, by the clock."""
    core_minutes: float | None = None
    """Most minutes of processor time for learning, of all threads and workers together."""
    done_steps: int = 0
    seconds: float = 0.0
    """Seconds of learning so far, by the clock."""
    core_seconds: float = 0.0
    """Seconds of processor time for learning so far."""

    @property
    def done(self) -> float:
        """The share of the run that is done, 0 to 1."""
        minutes = self.seconds / 60 / (self.minutes or float("inf"))
        core_minutes = self.core_seconds / 60 / (self.core_minutes or float("inf"))
        return min(max(self.done_steps / self.steps, minutes, core_minutes), 1.0)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of a block, and the processor time of this process."""
        seconds, core_seconds = time.monotonic(), time.process_time()
        yield
        self.seconds += time.monotonic() - seconds
        self.core_seconds += time.process_time() - core_seconds
