"""`Clock`: how much of a training run is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """How much of a run is over, by steps or by time spent learning, whichever is furthest.

    Args:
        steps: of the run.
        minutes: of learning at most.
        core_minutes: of processor time, all threads together, spent learning at most.
    """

    def __init__(
        self, steps: int, minutes: float | None = None, core_minutes: float | None = None
    ) -> None:
        self.steps = steps
        self.limits = [60 * each if each else float("inf") for each in (minutes, core_minutes)]
        self.done_steps = 0
        self._before = (0.0, 0.0)
        self._since: tuple[float, float] | None = None

    def _spent(self) -> tuple[float, float]:
        """Seconds spent learning, and of processor time."""
        if self._since is None:
            return self._before
        now = (time.monotonic(), time.process_time())
        seconds, cores = (
            before + at - since
            for before, at, since in zip(self._before, now, self._since, strict=True)
        )
        return seconds, cores

    @property
    def seconds(self) -> float:
        """Time spent learning."""
        return self._spent()[0]

    @property
    def core_seconds(self) -> float:
        """Processor time spent learning."""
        return self._spent()[1]

    @property
    def done(self) -> float:
        """The share of the run that is over, 0 to 1."""
        shares = [spent / limit for spent, limit in zip(self._spent(), self.limits, strict=True)]
        return min(max(self.done_steps / self.steps, *shares), 1.0)

    def start(self, seconds: float = 0.0, core_seconds: float = 0.0) -> None:
        """Start, after so much of learning."""
        self._before = (seconds, core_seconds)
        self._since = (time.monotonic(), time.process_time())

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stand still for the length of a block."""
        self._before, self._since = self._spent(), None
        yield
        self._since = (time.monotonic(), time.process_time())
