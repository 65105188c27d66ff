"""Train a learning agent: `python -m experiments.train --steps 20M --out runs/x`.

A run's folder holds its configuration, command and versions (`run.json`), learning curve
(`progress.csv`, `events.*` for TensorBoard), the policy that did best on validation deals
(`best/`), the latest one (`last/`) and numbered checkpoints.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import platform
import shlex
import signal
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from agents.maskable_ppo import (
    Hyperparameters,
    PolicyAgent,
    make_card,
    make_model,
    read_hyperparameters,
)
from agents.policy_files import save_policy
from agents.registry import AGENTS
from experiments.play import play_deals
from four_seasons_env.adapters.sb3 import FourSeasonsVecEnv
from four_seasons_env.deals import VALIDATION
from four_seasons_env.files import write_atomically
from four_seasons_env.rules import Rules, get_rules, nearest

RECENT = 1000
"""Episodes over which the running win rate is taken."""


def parse_steps(text: str) -> int:
    """A number of steps such as "20M", "500k" or "1000".

    Raises:
        ValueError: if it is not a positive number.
    """
    factor = {"k": 10**3, "M": 10**6, "G": 10**9}.get(text[-1:], 1)
    try:
        steps = int(float(text[:-1] if factor > 1 else text) * factor)
    except ValueError:
        steps = 0
    if steps < 1:
        raise ValueError(f"steps are a positive number such as 500k or 20M, not {text!r}")
    return steps


@dataclass
class Train:
    """Train a learning agent and keep what it learned."""

    out: Path
    """Folder of the run; must be new or empty."""
    agent: str = "maskable_ppo"
    """A learning agent of the registry."""
    rules: str = "four-seasons"
    """The rule set to learn."""
    seed: int = 0
    """Training seed: of the deals, the network and the exploration."""
    steps: str = "20M"
    """Moves to learn from, as in 500k or 20M."""
    minutes: float | None = None
    """Stop after this long, if the steps are not done by then."""
    hyperparameters: Path | None = None
    """A YAML file to use in place of the agent's own."""
    validate_every: float = 5.0
    """Minutes between two validations; the best policy by them is kept."""
    validation_deals: int = 2000
    """How many of the 10,000 validation deals are played."""


class Clock:
    """How much of a run is left, by steps or by time, whichever is further."""

    def __init__(self, steps: int, minutes: float | None) -> None:
        self.steps = steps
        self.seconds = 60 * minutes if minutes else None
        self.started = time.monotonic()
        self.done_steps = 0

    @property
    def done(self) -> float:
        """The share of the run that is over, 0 to 1."""
        share = self.done_steps / self.steps
        if self.seconds:
            share = max(share, (time.monotonic() - self.started) / self.seconds)
        return min(share, 1.0)


class Keeper(BaseCallback):
    """Watches a run: progress bar, validation, checkpoints, the end of its time."""

    def __init__(
        self, run: Train, settings: Hyperparameters, rules: Rules, clock: Clock, bar: Progress
    ) -> None:
        super().__init__()
        self.run = run
        self.settings = settings
        self.rules = rules
        self.clock = clock
        self.bar = bar
        self.task = bar.add_task("learning", total=1.0, wins="", rate="")
        self.won: deque[bool] = deque(maxlen=RECENT)
        self.cards_up: deque[int] = deque(maxlen=RECENT)
        self.best: tuple[float, float] | None = None
        self.next_validation = 60 * run.validate_every
        self.stop_asked = False

    def _on_step(self) -> bool:
        for i in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][i]
            self.won.append(info["is_success"])
            self.cards_up.append(info["cards_up"])
        return not self.stop_asked

    def _on_rollout_end(self) -> None:
        self.clock.done_steps = self.num_timesteps
        elapsed = time.monotonic() - self.clock.started
        rate = self.num_timesteps / elapsed
        wins = float(np.mean(self.won)) if self.won else 0.0
        cards = float(np.mean(self.cards_up)) if self.cards_up else 0.0
        self.logger.record("play/win_rate", wins)
        self.logger.record("play/cards_up", cards)
        self.logger.record("time/steps_per_second", rate)
        self.logger.record("time/seconds", elapsed)
        self.bar.update(
            self.task,
            completed=self.clock.done,
            wins=f"{100 * wins:5.1f}% won, {cards:4.1f} cards up",
            rate=f"{self.num_timesteps / 1e6:6.2f}M moves, {rate:,.0f}/s",
        )
        if elapsed >= self.next_validation:
            self.next_validation += 60 * self.run.validate_every
            self.validate()
        if self.clock.done >= 1.0:
            self.stop_asked = True

    def validate(self) -> None:
        """Play validation deals; keep the policy, and keep it as the best if it is."""
        assert isinstance(self.model, MaskablePPO)
        weights = {
            name: tensor.detach().clone() for name, tensor in self.model.policy.state_dict().items()
        }
        training: dict[str, Any] = {
            "rules": self.run.rules,
            "seed": self.run.seed,
            "steps": self.num_timesteps,
            "seconds": round(time.monotonic() - self.clock.started, 1),
        }
        card = make_card(self.settings, self.rules, training)
        deals = VALIDATION[: self.run.validation_deals]
        played = play_deals(PolicyAgent(card, weights, self.rules), self.rules, deals)
        score = (float(played["won"].mean()), float(played["cards_up"].mean()))
        training["validation"] = {
            "deals": f"{deals[0]}-{deals[-1]}",
            "won": score[0],
            "cards_up": score[1],
        }
        self.logger.record("validation/win_rate", score[0])
        self.logger.record("validation/cards_up", score[1])
        self.logger.dump(self.num_timesteps)
        save_policy(self.run.out / "last", card, weights)
        save_policy(self.run.out / "checkpoints" / f"{self.num_timesteps:012d}", card, weights)
        if self.best is None or score > self.best:
            self.best = score
            save_policy(self.run.out / "best", card, weights)
        self.bar.console.print(
            f"{self.num_timesteps / 1e6:7.2f}M moves: {100 * score[0]:.1f}% of {len(deals):,} "
            f"validation deals won, {score[1]:.1f} cards up"
        )


def _describe(run: Train, settings: Hyperparameters, rules: Rules) -> dict[str, Any]:
    """All that is needed to tell, or repeat, how a run was made."""
    packages = ("gymnasium", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
    return {
        "command": "python -m experiments.train " + shlex.join(sys.argv[1:]),
        "run": {name: str(value) for name, value in dataclasses.asdict(run).items()},
        "rules": dataclasses.asdict(rules),
        "hyperparameters": dataclasses.asdict(settings),
        "python": platform.python_version(),
        "versions": {name: importlib.metadata.version(name) for name in packages},
    }


def train(run: Train) -> None:
    """Run a training to its end, its time, or Ctrl-C: what was learned is kept in each case.

    Raises:
        ValueError: for an unknown agent, rule set or hyperparameter.
        FileExistsError: if the run's folder holds something already.
    """
    learners = [name for name, entry in AGENTS.items() if entry.learns]
    if run.agent not in learners:
        raise ValueError(f"no learning agent {run.agent!r}: {nearest(run.agent, learners)}")
    rules = get_rules(run.rules)
    steps = parse_steps(run.steps)
    settings = read_hyperparameters(run.hyperparameters)
    if run.out.exists() and any(run.out.iterdir()):
        raise FileExistsError(f"{run.out} is not empty: choose a new folder for the run")
    described = json.dumps(_describe(run, settings, rules), indent=2) + "\n"
    write_atomically(run.out / "run.json", described.encode())

    env = FourSeasonsVecEnv(
        settings.games,
        seed=run.seed * settings.games,
        rules=rules,
        observation=settings.observation,
        mask=settings.mask,
        reward=settings.reward,
        max_moves=settings.max_moves,
    )
    clock = Clock(steps, run.minutes)
    model = make_model(
        env,
        settings,
        run.seed,
        learning_rate=lambda _: settings.learning_rate * max(1.0 - clock.done, 0.05),
    )
    model.set_logger(configure(str(run.out), ["csv", "tensorboard"]))
    console = Console()
    console.print(
        f"[bold]{run.agent}[/] learns [bold]{rules.name}[/]: {settings.games:,} games side by side,"
        f" {sum(p.numel() for p in model.policy.parameters()):,} weights, on {model.device};"
        " Ctrl-C ends it and keeps what was learned"
    )
    columns = (
        BarColumn(bar_width=24),
        TextColumn("{task.fields[wins]}  {task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        keeper = Keeper(run, settings, rules, clock, bar)

        def stop(*_: Any) -> None:
            keeper.stop_asked = True

        previous = signal.signal(signal.SIGINT, stop)
        try:
            model.learn(steps, callback=keeper)
        finally:
            signal.signal(signal.SIGINT, previous)
        keeper.validate()
    console.print(f"kept in {run.out}: best/, last/, checkpoints/, progress.csv, run.json")


def main() -> None:
    """Read the flags and run."""
    try:
        train(tyro.cli(Annotated[Train, tyro.conf.arg(name="")], description=__doc__))
    except (ValueError, FileExistsError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
