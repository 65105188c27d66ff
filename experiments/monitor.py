"""`Monitor`: logs, validates and saves a run between two updates, and ends it by a `Clock`.

The monitor does not affect learning: it does not use the random state of the training, and its time
does not count. Workers import this file to play validation deals, so it imports torch only where
the log begins.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from rich.progress import Progress as Bar

from four_seasons_env.agents.names import make_player
from four_seasons_env.agents.policy_files import BEST, PolicyCard, save_policy
from four_seasons_env.agents.training import GamePool, Learner, Update
from four_seasons_env.experiments import folders
from four_seasons_env.experiments.play import play_deals
from four_seasons_env.experiments.workers import Pool
from four_seasons_env.files import write_atomically
from four_seasons_env.schemas import Amount, Count, read_json

Weights = dict[str, NDArray[np.float32]]

RECENT = 1000
"""Minimum number of games in the running win rate; four for each game side by side, if more."""

CHECKPOINT_SECONDS = 60.0
"""Seconds of learning between two checkpoints."""

_STATE = "monitor.json"


@dataclass
class Progress:
    """How far a run has come: the monitor's part of a checkpoint."""

    seconds: Amount = 0.0
    """Seconds of learning, by the clock."""
    core_seconds: Amount = 0.0
    """Seconds of processor time for learning."""
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


@dataclass
class Clock:
    """The share of a run that is done: the largest share of its limits."""

    steps: float
    """Maximum number of steps; infinity: no limit."""
    minutes: float | None = None
    """Maximum minutes of learning, by the clock."""
    core_minutes: float | None = None
    """Maximum minutes of processor time for learning, of all threads and workers together."""
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


@dataclass
class Monitor:
    """Logs, validates and saves a run; `start` comes first."""

    out: Path
    """Folder of the run."""
    learner: Learner
    pool: Pool
    """Workers that play the validation deals."""
    origin: dict[str, Any]
    """Origin of the policies, such as the training seed, for their cards."""
    clock: Clock
    bar: Bar
    validations: int
    """Number of validations, evenly over the run; the last is at its end."""
    deals: range
    """Validation deals to play."""
    progress: Progress = field(default_factory=Progress)
    rows: list[dict[Any, Any]] = field(default_factory=list)
    """The learning curve, as in progress.csv."""
    row: dict[str, float] = field(default_factory=dict)
    """Values for its next row."""

    def start(self, checkpoint: Path | None) -> None:
        """Start the log, or continue from a checkpoint from which the learner has been restored.

        Later rows of the learning curve are dropped.

        Raises:
            ValueError: if the checkpoint is damaged.
        """
        from torch.utils.tensorboard import SummaryWriter

        if checkpoint:
            self.progress = read_json(checkpoint / _STATE, Progress)
            curve = folders.read_log(self.out)
            self.rows = curve[curve[folders.STEPS] <= self.learner.steps].to_dict("records")
            self.clock.seconds = self.progress.seconds
            self.clock.core_seconds = self.progress.core_seconds
        self.board = SummaryWriter(str(self.out), purge_step=self.learner.steps + 1)
        self.task = self.bar.add_task("learning", total=1.0, wins="", rate="")
        # A short run has about fifty rows, too.
        self.log_every = max(min(self.learner.log_steps, self.clock.steps / 50), 1)

    def learn(self) -> folders.Done:
        """Learn until the run ends, validate once more, and return its outcome."""
        while not self._between_updates():
            elsewhere = self.pool.core_seconds
            with self.clock.running():
                update = self.learner.update(self.clock.done)
            self.clock.core_seconds += self.pool.core_seconds - elsewhere
            self._add(update)
        self._validate()
        assert self.progress.best
        return folders.Done(
            steps=self.learner.steps,
            seconds=round(self.clock.seconds, 1),
            core_seconds=round(self.clock.core_seconds, 1),
            games=self.progress.games,
            best=self.progress.best,
        )

    def _add(self, update: Update) -> None:
        """Count the training games that ended in an update, and note its records for the log."""
        progress = self.progress
        progress.games += len(update.won)
        recent = max(RECENT, 4 * self.learner.settings.games)
        progress.won = [*progress.won, *update.won][-recent:]
        progress.cards_up = [*progress.cards_up, *update.cards_up][-recent:]
        self.row |= {name: float(value) for name, value in update.records.items()}

    def _between_updates(self) -> bool:
        """Log, validate and save when due, and return whether the run ends here."""
        self.clock.done_steps = self.learner.steps
        ends = self.clock.done >= 1.0
        if self.clock.done_steps - self.progress.logged_steps >= self.log_every:
            self._log()
        due = int(self.clock.done * self.validations)
        if due > self.progress.validations and not ends:  # `learn` validates at the end
            self._validate()
            self.progress.validations = due
            self._save()  # so that a resumed run knows what is in best/
        passed = self.clock.seconds - self.progress.seconds
        if passed >= CHECKPOINT_SECONDS and self.clock.done_steps:
            self._save()
        return ends

    def _save(self) -> None:
        """Write a checkpoint for `--resume`."""
        self.progress = replace(
            self.progress, seconds=self.clock.seconds, core_seconds=self.clock.core_seconds
        )
        with folders.new_checkpoint(self.out) as folder:
            self.learner.save(folder)
            folders.write_json(folder / _STATE, asdict(self.progress))

    def _log(self) -> None:
        """Write a row of the learning curve and update the bar."""
        steps, seconds, progress = self.learner.steps, self.clock.seconds, self.progress
        progress.logged_steps = steps
        wins = float(np.mean(progress.won)) if progress.won else 0.0
        shown = f"{100 * wins:5.1f}% won"
        self.row["play/win_rate"] = wins
        if progress.cards_up:
            cards = float(np.mean(progress.cards_up))
            self.row["play/cards_up"] = cards
            shown += f", {cards:4.1f} cards up"
        rate = steps / max(seconds, 1e-9)
        self.row |= {
            "play/games": progress.games,
            "time/seconds": seconds,
            "time/core_seconds": self.clock.core_seconds,
            "time/steps_per_second": rate,
        }
        for name, value in self.row.items():
            self.board.add_scalar(name, value, steps)
        self.board.flush()
        self.rows.append({folders.STEPS: steps, **self.row})
        self.row = {}
        table = pd.DataFrame(self.rows).to_csv(index=False, lineterminator="\n")
        write_atomically(self.out / folders.PROGRESS, table.encode())
        self.bar.update(
            self.task,
            completed=self.clock.done,
            wins=shown,
            rate=f"{steps:,} {self.learner.unit}, {rate:,.0f}/s",
        )

    def _validate(self) -> None:
        """Play validation deals, and save the policy; also as the best if it is."""
        learner, steps = self.learner, self.learner.steps
        origin = self.origin | {
            "steps": steps,
            "games": self.progress.games,
            "seconds": round(self.clock.seconds, 1),
            "core_seconds": round(self.clock.core_seconds, 1),
        }
        card, weights = learner.policy(origin)
        played = validate(self.pool, learner, card, weights, self.deals)
        result = folders.Validation(
            deals=f"{self.deals[0]}-{self.deals[-1]}",
            won=float(played["won"].mean()),
            cards_up=float(played["cards_up"].mean()),
            steps=steps,
        )
        card.training["validation"] = asdict(result)
        save_policy(self.out / folders.LAST, card, weights)
        # A comparison plays other deals, so this choice does not flatter its result.
        best = self.progress.best
        if best is None or (result.won, result.cards_up) > (best.won, best.cards_up):
            self.progress.best = result
            save_policy(self.out / BEST, card, weights)
        self.row |= {"validation/win_rate": result.won, "validation/cards_up": result.cards_up}
        self._log()
        print(
            f"{steps:,} {learner.unit}: {100 * result.won:.1f}% of "
            f"{len(self.deals):,} validation deals won, {result.cards_up:.1f} cards up",
            flush=True,
        )


def validate(
    pool: GamePool, learner: Learner, card: PolicyCard, weights: Weights, deals: range
) -> pd.DataFrame:
    """The results of `play_deals` with the policy of a learner, played by a pool."""
    about = learner.rules, card, learner.playing_options
    parts: list[pd.DataFrame] = pool.over_deals(_play, about, deals, weights)
    return pd.concat(parts, ignore_index=True)


def _play(task: tuple[Any, range], weights: Weights) -> pd.DataFrame:
    (rules, card, options), deals = task
    return play_deals(make_player(rules, card, weights, options), rules, deals)
