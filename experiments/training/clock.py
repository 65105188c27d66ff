"""`Clock`: how much of a training run is done."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """The share of a run that is done, by steps or by time of learning, whichever is larger.

    Args:
        steps: limit of learning, in steps.
        minutes: limit of learning, by the clock.
        core_minutes: limit of learning, in processor time of all threads and workers together.
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
        """Seconds of learning, by the clock and of processor time."""
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
        """Seconds of learning."""
        return self._spent()[0]

    @property
    def core_seconds(self) -> float:
        """Processor seconds of learning."""
        return self._spent()[1]

    def add_core_seconds(self, seconds: float) -> None:
        """Count processor seconds that other processes have learned."""
        self._before = (self._before[0], self._before[1] + seconds)

    @property
    def done(self) -> float:
        """The share of the run that is done, 0 to 1."""
        shares = [spent / limit for spent, limit in zip(self._spent(), self.limits, strict=True)]
        return min(max(self.done_steps / self.steps, *shares), 1.0)

    def start(self, seconds: float = 0.0, core_seconds: float = 0.0) -> None:
        """Start, after the seconds that an earlier process learned."""
        self._before = (seconds, core_seconds)
        self._since = (time.monotonic(), time.process_time())

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop the clock within a block."""
        self._before, self._since = self._spent(), None
        yield
        self._since = (time.monotonic(), time.process_time())
