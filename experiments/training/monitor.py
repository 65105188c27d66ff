"""`Monitor`: logs, validates and saves a run between two updates, and ends it.

None of that changes what is learned: it uses no random state of the training, and the clock is
stopped.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from stable_baselines3.common.logger import Logger

from four_seasons_env.agents.policy_files import save_policy
from four_seasons_env.agents.schemas import Amount, Count, fitting
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.experiments.reporting.tables import write_csv
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.learner import Learner, Trainer
from four_seasons_env.experiments.training.run_folder import (
    BEST,
    CHECKPOINT,
    LAST,
    POLICIES,
    STEPS,
    VALIDATION_GAMES,
    Validation,
)
from four_seasons_env.rules import Rules

RECENT = 1000
"""Episodes of the running win rate."""


@dataclass
class Watched:
    """The schema of the monitor's part of a checkpoint."""

    seconds: Amount
    core_seconds: Amount
    games: Count
    won: list[bool]
    """Of the last training games, whether each was won."""
    cards_up: list[Count]
    best: Validation | None
    validated: Count
    """Validations so far."""
    logged_steps: Count
    recorded: dict[str, tuple[float, Any]]
    """What the next row of the log has so far: values, and where they are not to be written."""


class Monitor:
    """Follows a run.

    Args:
        out: the run's folder.
        trainer: the algorithm.
        learner: what learns.
        rules: the rule set.
        training: what cards of policies say of the run: its seed and the like.
        clock: the run's time.
        bar: where progress is shown.
        validations: how many there are, evenly over the run; the last is at its end.
        validation_deals: how many of the 10,000 are played.
        checkpoint_every: minutes of learning between two checkpoints.

    Attributes:
        logger: of the run; to be set before learning starts.
        stop_signal: number of the signal that asks the run to stop at the next checkpoint, if any.
    """

    logger: Logger

    def __init__(
        self,
        out: Path,
        trainer: Trainer,
        learner: Learner,
        *,
        rules: Rules,
        training: dict[str, Any],
        clock: Clock,
        bar: Progress,
        validations: int,
        validation_deals: int,
        checkpoint_every: float,
    ) -> None:
        self.out = out
        self.trainer = trainer
        self.learner = learner
        self.rules = rules
        self.training = training
        self.clock = clock
        self.bar = bar
        self.task = bar.add_task("learning", total=1.0, wins="", rate="")
        self.validations = validations
        self.deals = VALIDATION[:validation_deals]
        self.checkpoint_every = 60 * checkpoint_every
        self.log_every = max(min(trainer.log_steps, clock.steps // 50), 1)
        self.stop_signal: int | None = None
        self.won: deque[bool] = deque(maxlen=RECENT)
        self.cards_up: deque[int] = deque(maxlen=RECENT)
        self.best: Validation | None = None
        self.validated = 0
        self.logged_steps = 0
        self.games = 0
        self.saved_seconds = 0.0
        self._saved_at_stop = False

    def state(self) -> dict[str, Any]:
        """The monitor's part of a checkpoint."""
        return {
            "seconds": self.clock.seconds,
            "core_seconds": self.clock.core_seconds,
            "games": self.games,
            "won": [bool(each) for each in self.won],
            "cards_up": [int(each) for each in self.cards_up],
            "best": asdict(self.best) if self.best else None,
            "validated": self.validated,
            "logged_steps": self.logged_steps,
            "recorded": {
                name: [float(value), self.logger.name_to_excluded[name]]
                for name, value in self.logger.name_to_value.items()
            },
        }

    def restore(self, state: dict[str, Any], logger: Logger) -> None:
        """Continue from a `state`, with a logger whose log ends there.

        Raises:
            ValueError: if the state is damaged.
        """
        watched = fitting(state, Watched)
        self.clock.start(watched.seconds, watched.core_seconds)
        self.games = watched.games
        self.saved_seconds = watched.seconds
        self.won.extend(watched.won)
        self.cards_up.extend(watched.cards_up)
        self.best = watched.best
        self.validated = watched.validated
        self.logged_steps = watched.logged_steps
        self.logger = logger
        for name, (value, excluded) in watched.recorded.items():
            logger.record(name, value, exclude=excluded)

    def add_games(self, won: Sequence[bool], cards_up: Sequence[int] = ()) -> None:
        """Count training games that ended."""
        self.won.extend(won)
        self.cards_up.extend(cards_up)
        self.games += len(won)

    def between_updates(self) -> bool:
        """Log, validate and save what is due; returns whether the run ends here."""
        self.clock.done_steps = self.learner.steps
        with self.clock.stopped():
            if self.clock.done_steps - self.logged_steps >= self.log_every:
                self.log()
            if int(self.clock.done * self.validations) > self.validated and self.clock.done < 1.0:
                self.validated = int(self.clock.done * self.validations)
                self.validate()
            ends = self.stop_signal is not None or self.clock.done >= 1.0
            due = self.clock.seconds - self.saved_seconds >= self.checkpoint_every
            if (due and self.clock.done_steps) or ends:
                self.save()
            self._saved_at_stop = ends
        return ends

    def finish(self) -> None:
        """Validate at the end of the run, and save."""
        with self.clock.stopped():
            self.clock.done_steps = self.learner.steps
            self.validated = self.validations
            self.validate()
            if not self._saved_at_stop:
                self.save()

    def result(self) -> dict[str, Any]:
        """The outcome of the run, for `done.json`."""
        return {
            "steps": self.learner.steps,
            "seconds": round(self.clock.seconds, 1),
            "core_seconds": round(self.clock.core_seconds, 1),
            "games": self.games,
            "best": asdict(self.best) if self.best else None,
        }

    def log(self) -> None:
        """Write a row of the learning curve, and bring the bar up to date."""
        steps, seconds = self.learner.steps, self.clock.seconds
        self.logged_steps = steps
        wins = float(np.mean(self.won)) if self.won else 0.0
        shown = f"{100 * wins:5.1f}% won"
        self.logger.record("play/win_rate", wins)
        if self.trainer.counts_cards_up:
            cards = float(np.mean(self.cards_up)) if self.cards_up else 0.0
            self.logger.record("play/cards_up", cards)
            shown += f", {cards:4.1f} cards up"
        self.logger.record("play/games", self.games)
        self.logger.record("time/seconds", seconds)
        self.logger.record("time/core_seconds", self.clock.core_seconds)
        self.logger.record("time/steps_per_second", steps / max(seconds, 1e-9))
        self.logger.record(STEPS, steps, exclude="tensorboard")
        self.logger.dump(steps)
        self.bar.update(
            self.task,
            completed=self.clock.done,
            wins=shown,
            rate=f"{_short(steps)} {self.trainer.unit}, {steps / max(seconds, 1e-9):,.0f}/s",
        )

    def validate(self) -> None:
        """Play validation deals; save the policy, and also as the best if it is."""
        steps = self.learner.steps
        training = self.training | {
            "steps": steps,
            "games": self.games,
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
        save_policy(self.out / POLICIES / f"{steps:012d}", card, weights)
        if self.best is None or _score(result) > _score(self.best):
            self.best = result
            save_policy(self.out / BEST, card, weights)
            write_csv(self.out / VALIDATION_GAMES, played)
        self.logger.record("validation/win_rate", result.won)
        self.logger.record("validation/cards_up", result.cards_up)
        self.log()
        self.bar.console.print(
            f"{_short(steps)} {self.trainer.unit}: {100 * result.won:.1f}% of "
            f"{len(self.deals):,} validation deals won, {result.cards_up:.1f} cards up"
        )

    def save(self) -> None:
        """Write a checkpoint, all that `--resume` needs."""
        self.saved_seconds = self.clock.seconds
        self.learner.save(self.out / CHECKPOINT, json.loads(json.dumps(self.state())))


def _short(steps: int) -> str:
    """A number of steps: "480", "480k", or "12.35M"."""
    if steps < 10**4:
        return f"{steps:7,d}"
    return f"{steps / 1e6:6.2f}M" if steps >= 10**6 else f"{steps / 1e3:6.0f}k"


def _score(result: Validation) -> tuple[float, float]:
    """Win rate first; cards up where that is equal."""
    return result.won, result.cards_up
