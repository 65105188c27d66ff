"""Train the planner on games that it plays against itself: `python -m experiments.train_planner`.

    python -m experiments.train_planner --out runs/planner
    python -m experiments.train_planner --out runs/planner --resume      # after Ctrl-C, or kill -9

Every so often it plays validation deals; the network that wins most of them is kept in `best/`, the
latest in `last/`. The whole run hangs on its seed: one that is resumed ends with the same weights.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tyro
from rich.console import Console

from agents.planner.learner import Learner, Settings
from agents.planner.weights import AGENT, save_network
from agents.policy_files import rules_fields
from experiments.reporting.tables import write_csv
from experiments.training.run_folder import (
    BEST,
    LAST,
    PROGRESS,
    RUN,
    alone,
    provenance,
    reopen_run,
    write_json,
)
from four_seasons_env.engine.deals import VALIDATION
from four_seasons_env.rules import get_rules

CHECKPOINT = "checkpoint.npz"


@dataclass
class TrainPlanner:
    """Train the planner's network."""

    out: Path
    """Folder of the run."""
    rules: str = "four-seasons"
    seed: int = 0
    validate_every: int = 20_000
    """Games from one validation to the next."""
    validation_deals: int = 2000
    resume: bool = False
    """Go on with the run in the folder; all other flags are taken from there."""
    settings: Settings = field(default_factory=Settings)


def _validate(run: TrainPlanner, learner: Learner) -> float:
    """The share of validation deals won."""
    deals = np.arange(VALIDATION[0], VALIDATION[0] + run.validation_deals)
    size = run.settings.games_at_a_time
    won = sum(
        learner.play(deals[i : i + size], learner.average)[1] for i in range(0, len(deals), size)
    )
    return won / len(deals)


def train(run: TrainPlanner) -> pd.DataFrame:
    """Train until all games are played; returns the log, a row a validation."""
    out, console = run.out, Console()
    command = provenance()["command"]
    rules = get_rules(run.rules)
    learner = Learner(rules, run.settings, run.seed)
    rows: list[dict[str, Any]] = []
    if (out / CHECKPOINT).is_file():
        learner.load(out / CHECKPOINT)
        log = pd.read_csv(out / PROGRESS) if (out / PROGRESS).is_file() else pd.DataFrame()
        rows = [
            {str(name): value for name, value in row.items()}
            for row in log.to_dict("records")
            if row["games"] <= learner.games
        ]
    clock = time.perf_counter()
    before = rows[-1]["seconds"] if rows else 0.0
    won, losses = list[float](), list[float]()
    while learner.games < run.settings.games:
        share, loss = learner.go_on()
        won.append(share)
        losses.append(loss)
        due = learner.games // run.validate_every
        if due == (learner.games - run.settings.games_at_a_time) // run.validate_every:
            continue
        validated = _validate(run, learner)
        row = {
            "games": learner.games,
            "seconds": before + time.perf_counter() - clock,
            "rate": learner.rate,
            "won": float(np.mean(won)),
            "loss": float(np.mean(losses)),
            "validation": validated,
        }
        told = {"seed": run.seed, "settings": asdict(run.settings), "command": command} | row
        if validated > max((each["validation"] for each in rows), default=-1.0):
            save_network(out / BEST, learner.average, rules, told)
        save_network(out / LAST, learner.average, rules, told)
        rows.append(row)
        won.clear()
        losses.clear()
        write_csv(out / PROGRESS, pd.DataFrame(rows))
        learner.save(out / CHECKPOINT)
        console.print(
            f"{row['games']:>9,} games in {row['seconds'] / 60:.0f} min: {row['won']:.1%} won, "
            f"{validated:.2%} of {run.validation_deals:,} validation deals, loss {row['loss']:.4f}",
            soft_wrap=True,
        )
    return pd.DataFrame(rows)


def open_folder(run: TrainPlanner) -> TrainPlanner:
    """Start the run's folder, or take the flags of the run that it holds.

    Raises:
        FileExistsError: for a new run in a folder that holds one.
        FileNotFoundError: if there is none to go on with.
    """
    path = run.out / RUN
    if run.resume:
        told = reopen_run(run.out)["run"]
        settings = Settings(**told.pop("settings"))
        return TrainPlanner(**told | {"out": run.out, "settings": settings, "resume": True})
    if path.exists():
        raise FileExistsError(f"{run.out} holds a run: go on with it (--resume), or choose another")
    flags = asdict(run) | {"out": str(run.out)}
    rules = rules_fields(get_rules(run.rules))
    write_json(path, {"agent": AGENT, "run": flags, "rules": rules} | provenance())
    return run


def main() -> None:
    """Read the flags and train."""
    run = tyro.cli(TrainPlanner, description=__doc__)
    try:
        with alone(run.out):
            train(open_folder(run))
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
