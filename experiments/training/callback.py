"""The watcher of a training (`Keeper`) and its time (`Clock`).

Between two rollouts the keeper logs, validates, takes a checkpoint, and ends the run when its steps
or its time are over. Nothing of that changes what is learned: it draws on no random state of the
training, and the clock stands still meanwhile.
"""

from __future__ import annotations

import io
import json
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from stable_baselines3.common.callbacks import BaseCallback

from agents.files import write_atomically
from agents.learned.algorithms import Algorithm
from agents.learned.sb3_internals import schedule_by
from agents.learned.settings import Settings
from agents.policy_files import save_policy
from experiments.evaluation.play import play_deals
from experiments.training.average import WeightAverage
from experiments.training.checkpoints import save_checkpoint
from experiments.training.run_folder import (
    BEST,
    CHECKPOINT,
    LAST,
    POLICIES,
    STEPS,
    VALIDATION_GAMES,
)
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.rules import Rules

RECENT = 1000
"""Episodes over which the running win rate is taken."""

LOG_STEPS = 32_768
"""Moves between two rows of the log, or a fiftieth of the run if that is less."""


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


class Keeper(BaseCallback):
    """Watches a run.

    Args:
        out: the run's folder.
        algorithm: what is trained.
        settings: its hyperparameters.
        rules: the rule set.
        training: what policies are to remember of the run: its seed and the like.
        clock: the run's time.
        bar: where progress is shown.
        validations: how many there are, evenly over the run; the last is at its end.
        validation_deals: how many of the 10,000 are played.
        checkpoint_every: minutes of learning between two checkpoints.

    Attributes:
        stop_asked: set by whoever wants the run to stop at the next checkpoint.
    """

    def __init__(
        self,
        out: Path,
        algorithm: Algorithm,
        settings: Settings,
        rules: Rules,
        training: dict[str, Any],
        clock: Clock,
        bar: Progress,
        validations: int,
        validation_deals: int,
        checkpoint_every: float,
    ) -> None:
        super().__init__()
        self.out = out
        self.algorithm = algorithm
        self.settings = settings
        self.rules = rules
        self.training = training
        self.clock = clock
        self.bar = bar
        self.task = bar.add_task("learning", total=1.0, wins="", rate="")
        self.validations = validations
        self.deals = VALIDATION[:validation_deals]
        self.checkpoint_every = 60 * checkpoint_every
        self.log_every = max(min(LOG_STEPS, clock.steps // 50), 1)
        self.stop_asked = False
        self._stops = False
        self.won: deque[bool] = deque(maxlen=RECENT)
        self.cards_up: deque[int] = deque(maxlen=RECENT)
        self.best: dict[str, Any] | None = None
        self.validated = 0
        self.logged_steps = 0
        self.games = 0
        self.average = WeightAverage(getattr(settings, "averaged", 0.0))
        self.saved_seconds = 0.0
        self._recorded: dict[str, Any] = {}  # for the log's next row

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps of the watcher."""
        return {
            "seconds": self.clock.seconds,
            "core_seconds": self.clock.core_seconds,
            "games": self.games,
            "won": [bool(each) for each in self.won],
            "cards_up": [int(each) for each in self.cards_up],
            "best": self.best,
            "validated": self.validated,
            "logged_steps": self.logged_steps,
            "recorded": {
                name: [float(value), self.logger.name_to_excluded[name]]
                for name, value in self.logger.name_to_value.items()
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a `state`."""
        self.clock.start(state["seconds"], state["core_seconds"])
        self.games = state["games"]
        self.saved_seconds = state["seconds"]
        self.won.extend(state["won"])
        self.cards_up.extend(state["cards_up"])
        self.best = state["best"]
        self.validated = state["validated"]
        self.logged_steps = state["logged_steps"]
        self._recorded = state["recorded"]

    def _on_training_start(self) -> None:
        # Stable-Baselines3 lets learning rate and exploration fall with the steps; here they fall
        # with the clock, for runs that are given a time.
        schedule_by(self.model, lambda: 1.0 - self.clock.done)
        for name, (value, excluded) in self._recorded.items():
            self.logger.record(name, value, exclude=excluded)

    def _on_step(self) -> bool:
        self.clock.done_steps = self.num_timesteps
        for i in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][i]
            self.games += 1
            self.won.append(info["is_success"])
            self.cards_up.append(info["cards_up"])
        return not self._stops

    def _on_rollout_start(self) -> None:
        self.clock.done_steps = self.model.num_timesteps
        self.average.update(self.model, self.clock.done_steps)
        with self.clock.stopped():
            if self.clock.done_steps - self.logged_steps >= self.log_every:
                self.log()
            if int(self.clock.done * self.validations) > self.validated and self.clock.done < 1.0:
                self.validated = int(self.clock.done * self.validations)
                self.validate()
            self._stops = self.stop_asked or self.clock.done >= 1.0
            due = self.clock.seconds - self.saved_seconds >= self.checkpoint_every
            if (due and self.clock.done_steps) or self._stops:
                self.checkpoint()

    def finish(self) -> None:
        """Validate what the run has come to, and keep it."""
        with self.clock.stopped():
            self.clock.done_steps = self.model.num_timesteps
            self.average.update(self.model, self.clock.done_steps)
            self.validated = self.validations
            self.validate()
            if not self._stops:  # else the checkpoint of the last rollout's start is there
                self.checkpoint()

    def result(self) -> dict[str, Any]:
        """What came out of the run."""
        return {
            "steps": self.model.num_timesteps,
            "seconds": round(self.clock.seconds, 1),
            "core_seconds": round(self.clock.core_seconds, 1),
            "games": self.games,
            "best": self.best,
        }

    def log(self) -> None:
        """Write a row of the learning curve, and bring the bar up to date."""
        steps, seconds = self.model.num_timesteps, self.clock.seconds
        self.logged_steps = steps
        wins = float(np.mean(self.won)) if self.won else 0.0
        cards = float(np.mean(self.cards_up)) if self.cards_up else 0.0
        self.logger.record("play/win_rate", wins)
        self.logger.record("play/cards_up", cards)
        self.logger.record("play/games", self.games)
        self.logger.record("time/seconds", seconds)
        self.logger.record("time/core_seconds", self.clock.core_seconds)
        self.logger.record("time/steps_per_second", steps / max(seconds, 1e-9))
        self.logger.record(STEPS, steps, exclude="tensorboard")
        self.logger.dump(steps)
        self.bar.update(
            self.task,
            completed=self.clock.done,
            wins=f"{100 * wins:5.1f}% won, {cards:4.1f} cards up",
            rate=f"{_short(steps)} {self.algorithm.unit}, {steps / max(seconds, 1e-9):,.0f}/s",
        )

    def validate(self) -> None:
        """Play validation deals; keep the policy, and keep it as the best if it is."""
        steps = self.model.num_timesteps
        training = self.training | {
            "steps": steps,
            "games": self.games,
            "seconds": round(self.clock.seconds, 1),
            "core_seconds": round(self.clock.core_seconds, 1),
        }
        with self.average.in_place_of(self.model):
            card, weights = self.algorithm.policy_of(
                self.model, self.settings, self.rules, training
            )
        player = self.algorithm.player(card, weights, self.rules)
        played = play_deals(player, self.rules, self.deals)
        result: dict[str, Any] = {
            "deals": f"{self.deals[0]}-{self.deals[-1]}",
            "won": float(played["won"].mean()),
            "cards_up": float(played["cards_up"].mean()),
            "steps": steps,
        }
        card.training["validation"] = result
        save_policy(self.out / LAST, card, weights)
        save_policy(self.out / POLICIES / f"{steps:012d}", card, weights)
        if self.best is None or _score(result) > _score(self.best):
            self.best = result
            save_policy(self.out / BEST, card, weights)
            text = io.StringIO()
            played.to_csv(text, index=False, float_format="%.6g")
            write_atomically(self.out / VALIDATION_GAMES, text.getvalue().encode())
        self.logger.record("validation/win_rate", result["won"])
        self.logger.record("validation/cards_up", result["cards_up"])
        self.log()
        self.bar.console.print(
            f"{_short(steps)} {self.algorithm.unit}: {100 * result['won']:.1f}% of "
            f"{len(self.deals):,} validation deals won, {result['cards_up']:.1f} cards up"
        )

    def checkpoint(self) -> None:
        """Keep all that `--resume` needs."""
        self.saved_seconds = self.clock.seconds
        state = json.loads(json.dumps(self.state()))
        save_checkpoint(self.out / CHECKPOINT, self.model, self.average, state)


def _short(steps: int) -> str:
    """A number of steps: "480k", or "12.35M"."""
    return f"{steps / 1e6:6.2f}M" if steps >= 10**6 else f"{steps / 1e3:6.0f}k"


def _score(result: dict[str, Any]) -> tuple[float, float]:
    """Win rate first; cards up where that is equal."""
    return result["won"], result["cards_up"]
