"""Train a learning agent: `python -m experiments.train --agent maskable_ppo --out runs/x`.

A run that was stopped, or killed, goes on with `--resume --out runs/x` as if it never had been.
What its folder holds is told in the folder's README, and in `experiments/training/run_folder.py`.
"""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.learned.algorithms import Algorithm, get_algorithm
from agents.learned.cloning import clone
from agents.learned.settings import Settings
from agents.registry import AGENTS
from experiments.training.callback import Clock, Keeper
from experiments.training.checkpoints import restore_checkpoint
from experiments.training.progress import start_log
from experiments.training.run_folder import (
    CHECKPOINT,
    DONE,
    alone,
    open_run,
    provenance,
    reopen_run,
    write_json,
    write_readme,
)
from four_seasons_env.rules import Rules, get_rules, nearest


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
    """Folder of the run; must be new or empty, unless the run is resumed."""
    agent: str = "maskable_ppo"
    """A learning agent of the registry."""
    rules: str = "four-seasons"
    """The rule set to learn."""
    seed: int = 0
    """Training seed: of the deals, the network and the exploration."""
    steps: str = "20M"
    """Moves, or decisions, to learn from, as in 500k or 20M."""
    minutes: float | None = None
    """Minutes to learn for, if the steps are not done by then; validations do not count."""
    core_minutes: float | None = None
    """The same in minutes of processor time, all threads together: does not depend on what else
    the machine is doing."""
    hyperparameters: Path | None = None
    """A YAML file with what is to differ from the agent's own."""
    set: list[str] = field(default_factory=list)
    """Hyperparameters as KEY=VALUE, which go over those of the files."""
    warm_start: str | None = None
    """An agent whose moves are cloned first, such as heuristic."""
    validations: int = 10
    """How often validation deals are played, evenly over the run; the best policy is kept."""
    validation_deals: int = 2000
    """How many of the 10,000 validation deals."""
    checkpoint_every: float = 2.0
    """Minutes of learning between two checkpoints."""
    resume: bool = False
    """Go on with the run in --out; its own flags hold."""


def _resumed(run: Train) -> tuple[Train, dict[str, Any]]:
    """The flags and hyperparameters that an unfinished run was started with.

    Raises:
        ValueError: if a flag is given that says something else.
    """
    told = reopen_run(run.out)
    values = told["run"]
    for name in ("out", "hyperparameters"):
        values[name] = Path(values[name]) if values[name] else None
    started = Train(**values | {"out": run.out, "resume": True})
    for each in dataclasses.fields(Train):
        default = each.default_factory() if callable(each.default_factory) else each.default
        given, was = getattr(run, each.name), getattr(started, each.name)
        if given not in (default, was):
            raise ValueError(
                f"{run.out} was started with {each.name} {was!r}, not {given!r}: a resumed run "
                "keeps its flags (leave it out, or start a new run)"
            )
    return started, told["hyperparameters"]


def _check(run: Train) -> None:
    """Refuse flags that cannot be, before anything is written."""
    parse_steps(run.steps)
    if run.warm_start is not None:
        teachers = [name for name, entry in AGENTS.items() if not entry.learns]
        if run.warm_start not in teachers:
            raise ValueError(
                f"no teacher {run.warm_start!r} for a warm start: "
                f"{nearest(run.warm_start, teachers)}"
            )
    if run.validations < 1 or not 1 <= run.validation_deals <= 10_000:
        raise ValueError("there is at least one validation, of 1 to 10,000 deals")


def _as_json(run: Train) -> dict[str, Any]:
    values = dataclasses.asdict(run) | {"out": str(run.out)}
    del values["resume"]
    values["hyperparameters"] = str(run.hyperparameters) if run.hyperparameters else None
    return values


def _begin(run: Train) -> tuple[Train, Algorithm, Settings, Rules]:
    """Open or reopen the run's folder."""
    if run.resume:
        run, values = _resumed(run)
        algorithm = get_algorithm(run.agent)
        return run, algorithm, algorithm.settings_from(values), get_rules(run.rules)
    algorithm, rules = get_algorithm(run.agent), get_rules(run.rules)
    settings = algorithm.read_settings(run.hyperparameters, run.set)
    _check(run)
    told = {
        "run": _as_json(run),
        "rules": dataclasses.asdict(rules),
        "hyperparameters": dataclasses.asdict(settings),
        **provenance(),
    }
    open_run(run.out, told)
    return run, algorithm, settings, rules


def train(run: Train, finish_when_stopped: bool = False) -> None:
    """Run a training to its end, or until it is told to stop (Ctrl-C, SIGTERM).

    Args:
        run: the training.
        finish_when_stopped: take a stop for its end, and keep what has been learned by then.

    Raises:
        ValueError: for an unknown agent, rule set or hyperparameter, or a run that cannot be
            resumed so.
        FileExistsError: if the folder holds something already and the run is not resumed.
        FileNotFoundError: if there is nothing to resume.
    """
    run, algorithm, settings, rules = _begin(run)
    threads = torch.get_num_threads()
    torch.set_num_threads(algorithm.threads or threads)
    try:
        with alone(run.out):
            _train(run, algorithm, settings, rules, finish_when_stopped)
    finally:
        torch.set_num_threads(threads)


def _train(
    run: Train,
    algorithm: Algorithm,
    settings: Settings,
    rules: Rules,
    finish_when_stopped: bool,
) -> None:
    console = Console()
    if (run.out / DONE).is_file():
        console.print(f"{run.out} has come to its end already")
        return
    _compile(algorithm, settings, rules)
    env = algorithm.make_games(settings, rules, threads=torch.get_num_threads())
    model = algorithm.make_model(env, settings, run.seed)
    # Stable-Baselines3 has seeded the games with seed, seed + 1, ...: most of them would be the
    # next training seed's too. Here each training seed has games of its own.
    env.seed(run.seed * settings.games)
    clock = Clock(parse_steps(run.steps), run.minutes, run.core_minutes)
    columns = (
        BarColumn(bar_width=24),
        TextColumn("{task.fields[wins]}  {task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    checkpoint = run.out / CHECKPOINT
    resumes = checkpoint.is_dir()
    with Progress(*columns, console=console) as bar:
        keeper = Keeper(
            run.out,
            algorithm,
            settings,
            rules,
            {"rules": rules.name, "seed": run.seed, "warm_start": run.warm_start},
            clock,
            bar,
            run.validations,
            run.validation_deals,
            run.checkpoint_every,
        )
        if resumes:
            keeper.restore(restore_checkpoint(checkpoint, model, keeper.average))
            model.set_logger(start_log(run.out, model.num_timesteps))
        else:
            model.set_logger(start_log(run.out))
            clock.start()
            if run.warm_start:
                clone(model, algorithm, settings, rules, run.seed, run.warm_start)
        console.print(
            f"[bold]{run.agent}[/] learns [bold]{rules.name}[/]: {settings.games:,} games side by "
            f"side, {sum(p.numel() for p in model.policy.parameters()):,} weights, on "
            f"{model.device}, from step {model.num_timesteps:,}; Ctrl-C stops it at a checkpoint"
        )
        with _stopped_by_signals(keeper):
            model.learn(
                clock.steps - model.num_timesteps,
                callback=keeper,
                log_interval=None,
                reset_num_timesteps=not resumes,
            )
            ends = finish_when_stopped or not keeper.stop_asked
            if ends:
                keeper.finish()
    if not ends:
        console.print(f"stopped: python -m experiments.train --resume --out {run.out}")
    else:
        write_json(run.out / DONE, keeper.result())
        write_readme(run.out)
        console.print(f"kept in {run.out}; its README.md says what is what")


def _compile(algorithm: Algorithm, settings: Settings, rules: Rules) -> None:
    """Learn from a few steps and forget them, so that no time to compile counts as learning.

    The model that is made after this seeds all random states anew.
    """
    small = dataclasses.replace(settings, games=2, batch_size=2)
    model = algorithm.make_model(algorithm.make_games(small, rules, seed=0), small, 0)
    model.learn(2)


@contextmanager
def _stopped_by_signals(keeper: Keeper) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM (of a cluster) end the run at a checkpoint; twice: at once."""

    def stop(*_: Any) -> None:
        keeper.stop_asked = True
        restore()

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    previous = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        restore()


def main() -> None:
    """Read the flags and run."""
    try:
        train(tyro.cli(Annotated[Train, tyro.conf.arg(name="")], description=__doc__))
    except (ValueError, FileExistsError, FileNotFoundError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
