"""`Monitor`: logs, validates and saves a run between two updates, and ends it.

None of this changes what is learned: the monitor uses no random state of the training, and it stops
the clock.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress as Bar
from stable_baselines3.common.logger import (
    CSVOutputFormat,
    KVWriter,
    Logger,
    TensorBoardOutputFormat,
)
from torch.utils.tensorboard import SummaryWriter

from four_seasons_env.agents.files import write_atomically
from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.agents.schemas import Amount, Count, read_json
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.training.checkpoints import new_checkpoint
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.learner import Learner, Trainer
from four_seasons_env.experiments.training.run_folder import (
    BEST,
    LAST,
    PROGRESS,
    STEPS,
    Done,
    Validation,
    write_json,
)

RECENT = 1000
"""Games of the running win rate."""

CHECKPOINT_SECONDS = 60.0
"""Seconds of learning between two checkpoints."""

_STATE = "monitor.json"


@dataclass
class Progress:
    """How far a run has come: the monitor's part of a checkpoint."""

    seconds: Amount = 0.0
    """Seconds of learning, by the clock."""
    core_seconds: Amount = 0.0
    """Seconds of learning, of processor time."""
    games: Count = 0
    """Training games that have ended."""
    won: list[bool] = field(default_factory=list)
    """Whether each of the last `RECENT` games was won."""
    cards_up: list[Count] = field(default_factory=list)
    """Cards up at the end of these games; empty if the algorithm does not report them."""
    best: Validation | None = None
    validations: Count = 0
    """Validations so far."""
    logged_steps: Count = 0
    """Steps at the last row of the log."""


class Monitor:
    """Follows a run.

    Args:
        out: the run's folder.
        trainer: the algorithm.
        learner: what learns.
        training: the origin of the policies, for their cards: training seed and the like.
        clock: the run's time.
        bar: shows the progress.
        validations: number of validations, evenly over the run; the last is at its end.
        validation_deals: how many of the 10,000 validation deals are played.

    Attributes:
        logger: writes progress.csv and the TensorBoard log; set by `start` and `restore`.
    """

    logger: Logger

    def __init__(
        self,
        out: Path,
        trainer: Trainer,
        learner: Learner,
        *,
        training: dict[str, Any],
        clock: Clock,
        bar: Bar,
        validations: int,
        validation_deals: int,
    ) -> None:
        self.out = out
        self.trainer = trainer
        self.learner = learner
        self.training = training
        self.clock = clock
        self.bar = bar
        self.task = bar.add_task("learning", total=1.0, wins="", rate="")
        self.validations = validations
        self.deals = VALIDATION[:validation_deals]
        self.log_every = max(min(trainer.log_steps, clock.steps // 50), 1)
        self.progress = Progress()

    def start(self) -> None:
        """Start the log and the clock of a new run."""
        csv = CSVOutputFormat(str(self.out / PROGRESS))
        self.logger = Logger(str(self.out), [TensorBoardOutputFormat(str(self.out)), csv])
        self.clock.start()

    def restore(self, checkpoint: Path) -> None:
        """Continue from a checkpoint from which the learner has been restored.

        Raises:
            ValueError: if the checkpoint is damaged.
        """
        self.progress = read_json(checkpoint / _STATE, Progress)
        self.logger = _resumed_log(self.out, self.learner.steps)
        self.clock.start(self.progress.seconds, self.progress.core_seconds)

    def add_games(self, won: Sequence[bool], cards_up: Sequence[int] = ()) -> None:
        """Count training games that ended."""
        progress = self.progress
        progress.games += len(won)
        progress.won = [*progress.won, *won][-RECENT:]
        progress.cards_up = [*progress.cards_up, *cards_up][-RECENT:]

    def between_updates(self) -> bool:
        """Log, validate and save what is due; returns whether the run ends here."""
        self.clock.done_steps = self.learner.steps
        with self.clock.stopped():
            ends = self.clock.done >= 1.0
            if self.clock.done_steps - self.progress.logged_steps >= self.log_every:
                self._log()
            due = int(self.clock.done * self.validations)
            if due > self.progress.validations and not ends:
                self.progress.validations = due
                self._validate()
            passed = self.clock.seconds - self.progress.seconds
            if passed >= CHECKPOINT_SECONDS and self.clock.done_steps:
                self._save()
        return ends

    def finish(self) -> Done:
        """Validate at the end of the run; returns its outcome."""
        with self.clock.stopped():
            self._validate()
        assert self.progress.best
        return Done(
            steps=self.learner.steps,
            seconds=round(self.clock.seconds, 1),
            core_seconds=round(self.clock.core_seconds, 1),
            games=self.progress.games,
            best=self.progress.best,
        )

    def _save(self) -> None:
        """Write a checkpoint, which holds everything that `--resume` needs."""
        self.progress = replace(
            self.progress, seconds=self.clock.seconds, core_seconds=self.clock.core_seconds
        )
        with new_checkpoint(self.out) as folder:
            self.learner.save(folder)
            write_json(folder / _STATE, asdict(self.progress))

    def _log(self) -> None:
        """Write a row of the learning curve and update the bar."""
        steps, seconds, progress = self.learner.steps, self.clock.seconds, self.progress
        progress.logged_steps = steps
        wins = float(np.mean(progress.won)) if progress.won else 0.0
        shown = f"{100 * wins:5.1f}% won"
        self.logger.record("play/win_rate", wins)
        if progress.cards_up:
            cards = float(np.mean(progress.cards_up))
            self.logger.record("play/cards_up", cards)
            shown += f", {cards:4.1f} cards up"
        rate = steps / max(seconds, 1e-9)
        self.logger.record("play/games", progress.games)
        self.logger.record("time/seconds", seconds)
        self.logger.record("time/core_seconds", self.clock.core_seconds)
        self.logger.record("time/steps_per_second", rate)
        self.logger.record(STEPS, steps, exclude="tensorboard")
        self.logger.dump(steps)
        self.bar.update(
            self.task,
            completed=self.clock.done,
            wins=shown,
            rate=f"{_short(steps)} {self.trainer.unit}, {rate:,.0f}/s",
        )

    def _validate(self) -> None:
        """Play validation deals; save the policy, and also as the best if it is."""
        steps = self.learner.steps
        training = self.training | {
            "steps": steps,
            "games": self.progress.games,
            "seconds": round(self.clock.seconds, 1),
            "core_seconds": round(self.clock.core_seconds, 1),
        }
        card, weights = self.learner.policy(training)
        played = self.learner.play_deals(card, weights, self.deals)
        result = Validation(
            deals=f"{self.deals[0]}-{self.deals[-1]}",
            won=float(played["won"].mean()),
            cards_up=float(played["cards_up"].mean()),
            steps=steps,
        )
        card.training["validation"] = asdict(result)
        save_policy(self.out / LAST, card, weights)
        best = self.progress.best
        if best is None or (result.won, result.cards_up) > (best.won, best.cards_up):
            self.progress.best = result
            save_policy(self.out / BEST, card, weights)
        self.logger.record("validation/win_rate", result.won)
        self.logger.record("validation/cards_up", result.cards_up)
        self._log()
        self.bar.console.print(
            f"{_short(steps)} {self.trainer.unit}: {100 * result.won:.1f}% of "
            f"{len(self.deals):,} validation deals won, {result.cards_up:.1f} cards up"
        )


def _short(steps: int) -> str:
    """A number of steps: "480", "480k", or "12.35M"."""
    if steps < 10**4:
        return f"{steps:7,d}"
    return f"{steps / 1e6:6.2f}M" if steps >= 10**6 else f"{steps / 1e3:6.0f}k"


def _resumed_log(out: Path, steps: int) -> Logger:
    """The logger of a resumed run; rows that were written after its checkpoint are dropped."""
    board = TensorBoardOutputFormat(str(out))
    board.writer.close()
    board.writer = SummaryWriter(str(out), purge_step=steps + 1)
    formats: list[KVWriter] = [board, _resumed_csv(out / PROGRESS, steps)]
    return Logger(str(out), formats)


def _resumed_csv(path: Path, steps: int) -> CSVOutputFormat:
    """Continues a CSV log after the rows up to a number of steps."""
    lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
    header = lines[0].rstrip("\n").split(",") if lines else []
    rows = lines[:1]
    for line in lines[1:]:
        cells = line.rstrip("\n").split(",")
        whole = line.endswith("\n") and len(cells) == len(header)
        if not whole or int(cells[header.index(STEPS)]) > steps:
            break
        rows.append(line)
    write_atomically(path, "".join(rows).encode())
    log = CSVOutputFormat(os.devnull)  # its constructor would empty the file
    log.file.close()
    log.file = path.open("r+")
    log.file.seek(0, os.SEEK_END)
    log.keys = header
    return log
