"""`Clock`: how much of a training run is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clock:
    """The share of a run that is done, by steps or by time of learning: the larger of both."""

    steps: int
    """Limit of learning, in steps."""
    minutes: float | None = None
    """Limit of learning, by the clock."""
    core_minutes: float | None = None
    """Limit of learning, in processor time of all threads and workers together."""
    done_steps: int = 0
    seconds: float = 0.0
    """Of learning so far, by the clock."""
    core_seconds: float = 0.0
    """Of learning so far, of processor time."""

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
