"""What a training counts and shows while it learns: its limits, its progress and its curve.

Nothing here affects learning: it does not use the random state of the training, and its time does
not count.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import Progress as Bar

from four_seasons_env.agents.training import Learner, Update
from four_seasons_env.experiments import folders
from four_seasons_env.experiments.workers import Pool
from four_seasons_env.files import write_atomically
from four_seasons_env.schemas import Amount, Count

RECENT = 1000
"""Minimum number of games in the running win rate; four for each game side by side, if more."""


@dataclass
class Progress:
    """How far a run has come: `monitor.json` of a checkpoint.

    The fields stay as they are, so that older checkpoints can be read.
    """

    seconds: Amount = 0.0
    """Seconds of learning, by the clock."""
    core_seconds: Amount = 0.0
    """Seconds of processor time for learning, of all threads and workers together."""
    games: Count = 0
    """Training games that have ended."""
    won: list[bool] = field(default_factory=list)
    """Whether each of the recent games was won, see `RECENT`."""
    cards_up: list[Count] = field(default_factory=list)
    """Cards up at the end of each of these games; empty if the algorithm does not report them."""
    best: folders.Validation | None = None
    validations: Count = 0
    """Number of validations so far."""
    logged_steps: Count = 0
    """Steps at the last row of the log."""

    @contextmanager
    def timed(self, pool: Pool) -> Iterator[None]:
        """Count the time of a block, of this process and of a pool of workers."""
        seconds, here, elsewhere = time.monotonic(), time.process_time(), pool.core_seconds
        yield
        self.seconds += time.monotonic() - seconds
        self.core_seconds += time.process_time() - here + pool.core_seconds - elsewhere

    def add(self, update: Update, recent: int) -> None:
        """Count the training games that ended in an update, and keep the results of the last."""
        self.games += len(update.won)
        self.won = [*self.won, *update.won][-recent:]
        self.cards_up = [*self.cards_up, *update.cards_up][-recent:]


@dataclass(frozen=True)
class Limits:
    """What ends a run: the first limit that is reached."""

    steps: float
    """Maximum number of steps; infinity: no limit."""
    minutes: float | None = None
    """Maximum minutes of learning, by the clock."""
    core_minutes: float | None = None
    """Maximum minutes of processor time for learning, of all threads and workers together."""

    def share(self, steps: int, progress: Progress) -> float:
        """The share of the run that is done, 0 to 1: the largest over its limits.

        >>> Limits(steps=1000, minutes=2).share(250, Progress(seconds=60))
        0.5
        """
        # A limit that is not set is infinite: its share stays 0.
        minutes = progress.seconds / 60 / (self.minutes or float("inf"))
        core_minutes = progress.core_seconds / 60 / (self.core_minutes or float("inf"))
        return min(max(steps / self.steps, minutes, core_minutes), 1.0)


class Curve:
    """The learning curve of a run: `progress.csv`, the same for TensorBoard, and a bar.

    Not Stable-Baselines3's logger: its CSV files begin anew when a run is resumed, and their
    columns have no fixed order.

    Args:
        out: folder of the run.
        bar: shows the latest row.
        limits: of the run, for the bar.
        learner: where the curve goes on; later rows in the folder are dropped.
    """

    def __init__(self, out: Path, bar: Bar, limits: Limits, learner: Learner) -> None:
        self._file, self._unit, self._limits = out / folders.PROGRESS, learner.unit, limits
        # A run that was killed may have logged rows after its last checkpoint.
        curve = folders.read_log(out)
        self._rows: list[Any] = curve[curve[folders.STEPS] <= learner.steps].to_dict("records")
        self._board = _Board(out, first_step=learner.steps + 1)
        self._bar, self._task = bar, bar.add_task("learning", total=1.0)
        self._row: dict[str, float] = {}

    def add(self, values: dict[str, float]) -> None:
        """Add values to the next row."""
        self._row |= {name: float(value) for name, value in values.items()}

    def show(self, text: str) -> None:
        """Show a text beside the bar, until the next row."""
        self._bar.update(self._task, description=text)

    def log(self, steps: int, progress: Progress) -> None:
        """Write the row of a number of steps, and show it on the bar."""
        # 1. Results of the recent training games, counts and times.
        progress.logged_steps = steps
        wins = float(np.mean(progress.won)) if progress.won else 0.0
        self.add({"play/win_rate": wins})
        if progress.cards_up:
            self.add({"play/cards_up": float(np.mean(progress.cards_up))})
        rate = steps / max(progress.seconds, 1e-9)
        self._row |= {
            "play/games": progress.games,
            "time/seconds": progress.seconds,
            "time/core_seconds": progress.core_seconds,
            "time/steps_per_second": rate,
        }
        # 2. The row: to TensorBoard, to the file, which is written whole, and to the bar.
        self._board.write(steps, self._row)
        self._rows.append({folders.STEPS: steps} | self._row)
        self._row = {}
        table = pd.DataFrame(self._rows).to_csv(index=False, lineterminator="\n")
        write_atomically(self._file, table.encode())
        shown = f"{steps:,} {self._unit}, {rate:,.0f}/s, {wins:.1%} won"
        done = self._limits.share(steps, progress)
        self._bar.update(self._task, completed=done, description=shown)


class _Board:
    """A file of events for TensorBoard.

    Not torch's `SummaryWriter`: it puts the name of this machine into the name of the file, and
    runs may be sent to others.

    Args:
        out: folder of the run; the file is a new one.
        first_step: events of this and later steps in older files are dropped.
    """

    def __init__(self, out: Path, first_step: int) -> None:
        from tensorboard.compat.proto.event_pb2 import SessionLog

        self._file = out / f"events.out.tfevents.{time.time_ns() // 1000}"
        self._add(file_version="brain.Event:2")
        self._add(step=first_step, session_log=SessionLog(status=SessionLog.START))

    def write(self, step: int, values: dict[str, float]) -> None:
        """Write the values of a step, by name."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        scalars = [Summary.Value(tag=name, simple_value=each) for name, each in values.items()]
        self._add(step=step, summary=Summary(value=scalars))

    def _add(self, **fields: Any) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

        event = Event(wall_time=time.time(), **fields)
        with self._file.open("ab") as file:
            RecordWriter(file).write(event.SerializeToString())
