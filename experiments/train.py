"""Train a learning agent, or resume a training.

    four-seasons train --agent maskable_ppo --out runs/x
    four-seasons train --agent planner --steps 20k --out runs/p     # steps of it are games
    four-seasons train --resume --out runs/x                        # after Ctrl-C, or kill

A resumed run learns what it would have learned without the interruption. The README of the run's
folder describes its files.
"""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from four_seasons_env.agents.files import recover_folders
from four_seasons_env.agents.schemas import fitting
from four_seasons_env.experiments.command_line import check_seed, run_command
from four_seasons_env.experiments.parallel.pool import started_pool
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.training.clock import Clock
from four_seasons_env.experiments.training.learner import Learner, Trainer
from four_seasons_env.experiments.training.monitor import Monitor
from four_seasons_env.experiments.training.progress import start_log
from four_seasons_env.experiments.training.run_folder import (
    CHECKPOINT,
    DONE,
    POLICIES,
    RUN,
    alone,
    check_new_run,
    open_run,
    provenance,
    reopen_run,
    write_json,
    write_readme,
)
from four_seasons_env.experiments.training.trainers import get_trainer
from four_seasons_env.rules import Rules, get_rules


def parse_steps(text: str) -> int:
    """The number of steps in a text such as "20M", "500k" or "1000".

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
    """Train a learning agent."""

    out: Path
    """Folder of the run; new or empty, unless the run is resumed."""
    agent: str = "maskable_ppo"
    """What is trained: maskable_ppo, maskable_dqn, next_deal_ppo or planner."""
    rules: str = "four-seasons"
    """The rule set to learn."""
    seed: int = 0
    """Training seed: of the deals, the network and the exploration."""
    steps: str | None = None
    """Steps to learn from, as in 500k or 20M: moves of maskable_ppo and maskable_dqn, decisions of
    next_deal_ppo, games of the planner. By default 20M, or 300k games."""
    minutes: float | None = None
    """Minutes of learning at most; validations do not count."""
    core_minutes: float | None = None
    """The same in minutes of processor time, all threads together: does not depend on what else
    the machine is doing."""
    hyperparameters: Path | None = None
    """A YAML file with values that replace those of the agent's own file."""
    set: list[str] = field(default_factory=list)
    """Hyperparameters as KEY=VALUE, which replace those of the files."""
    warm_start: str | None = None
    """An agent to imitate first, such as heuristic; for the planner, planner or planner:FOLDER: the
    weights to go on from."""
    validations: int = 10
    """How often validation deals are played, evenly over the run; the best policy is saved."""
    validation_deals: int = 2000
    """How many of the 10,000 validation deals."""
    checkpoint_every: float = 2.0
    """Minutes of learning between two checkpoints."""
    resume: bool = False
    """Resume the run in --out, with the flags that it was started with, on any workers."""
    workers: Workers = field(default_factory=Workers)
    """Where the planner plays; what it learns does not depend on it."""


def _resumed(run: Train) -> tuple[Train, dict[str, Any]]:
    """The flags and hyperparameters that an unfinished run was started with; its workers are new.

    Raises:
        ValueError: if a flag is given that says something else.
    """
    about = reopen_run(run.out)
    try:
        started = fitting(about["run"] | {"out": str(run.out), "resume": True}, Train)
        started = dataclasses.replace(started, workers=run.workers)
    except ValueError as error:
        raise ValueError(f"{run.out / RUN} is damaged: {error}") from None
    for each in dataclasses.fields(Train):
        default = each.default_factory() if callable(each.default_factory) else each.default
        given, was = getattr(run, each.name), getattr(started, each.name)
        if given not in (default, was):
            raise ValueError(
                f"{run.out} was started with {each.name} {was!r}, not {given!r}: a resumed run "
                "keeps its flags (leave it out, or start a new run)"
            )
    return started, about["hyperparameters"]


def _check(run: Train, trainer: Trainer) -> None:
    """Refuse invalid flags before anything is written."""
    parse_steps(run.steps or trainer.steps)
    check_minutes(minutes=run.minutes, core_minutes=run.core_minutes)
    check_seed(run.seed)
    run.workers.check()
    if not trainer.uses_workers and run.workers not in (Workers(), Workers(n_jobs=1)):
        raise ValueError(
            f"{run.agent} learns in one process: --n-jobs, --backend and --cluster are for those "
            "who play many games between two updates, as the planner does"
        )
    if not run.checkpoint_every >= 0:
        raise ValueError(f"--checkpoint-every is a number of minutes, not {run.checkpoint_every:g}")
    if run.validations < 1 or not 1 <= run.validation_deals <= 10_000:
        raise ValueError("there is at least one validation, of 1 to 10,000 deals")


def check_minutes(**minutes: float | None) -> None:
    """Refuse limits of time that are none.

    Raises:
        ValueError: naming the flag.
    """
    for name, value in minutes.items():
        if value is not None and not 0 < value < float("inf"):
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag} is a number of minutes above 0, not {value:g}")


def _as_json(run: Train) -> dict[str, Any]:
    values = dataclasses.asdict(run) | {"out": str(run.out)}
    del values["resume"], values["workers"]
    values["hyperparameters"] = str(run.hyperparameters) if run.hyperparameters else None
    return values


def _begin(run: Train) -> tuple[Train, Trainer, Any, Rules]:
    """The run with its algorithm, hyperparameters and rules, all checked; nothing is written."""
    if run.resume:
        run, values = _resumed(run)
        trainer = get_trainer(run.agent)
        _check(run, trainer)
        return run, trainer, trainer.settings_from(values), get_rules(run.rules)
    trainer, rules = get_trainer(run.agent), get_rules(run.rules)
    settings = trainer.read_settings(run.hyperparameters, run.set)
    _check(run, trainer)
    check_new_run(run.out)
    run = dataclasses.replace(run, steps=run.steps or trainer.steps)
    if run.warm_start is not None:
        told = trainer.check_warm_start(run.warm_start, rules)
        run = dataclasses.replace(run, warm_start=told)
    return run, trainer, settings, rules


def train(run: Train, finish_when_stopped: bool = False) -> None:
    """Run a training to its end, or until Ctrl-C or SIGTERM stops it at a checkpoint.

    Args:
        run: the training.
        finish_when_stopped: on Ctrl-C, end the run with what it has learned by then; on a second
            one, as without this.

    Raises:
        ValueError: for an unknown agent, rule set or hyperparameter, or flags that a resumed run
            was not started with.
        FileExistsError: if the folder is not empty and the run is not resumed.
        FileNotFoundError: if there is nothing to resume.
        KeyboardInterrupt: after the checkpoint that Ctrl-C asked for.
    """
    run, trainer, settings, rules = _begin(run)
    threads = torch.get_num_threads()
    torch.set_num_threads(trainer.threads or threads)
    try:
        with ExitStack() as held:
            if run.resume:
                held.enter_context(alone(run.out))
                if (run.out / DONE).is_file():
                    print(f"{run.out} is finished already")
                    return
            here = Workers(n_jobs=1)
            pool = held.enter_context(started_pool(run.workers if trainer.uses_workers else here))
            trainer.compile(settings, rules, pool)
            clock = Clock(parse_steps(str(run.steps)), run.minutes, run.core_minutes)
            learner = trainer.start(settings, rules, run.seed, clock, pool)
            if not run.resume:  # only now, when all that can be refused has not been
                held.enter_context(alone(run.out))
                about = {
                    "run": _as_json(run),
                    "rules": dataclasses.asdict(rules),
                    "hyperparameters": dataclasses.asdict(settings),
                    "where": dataclasses.asdict(run.workers),
                }
                open_run(run.out, about | provenance())
            _train(run, trainer, learner, clock, rules, finish_when_stopped)
    finally:
        torch.set_num_threads(threads)


def _train(
    run: Train,
    trainer: Trainer,
    learner: Learner,
    clock: Clock,
    rules: Rules,
    finish_when_stopped: bool,
) -> None:
    console = Console()
    columns = (
        BarColumn(bar_width=24),
        TextColumn("{task.fields[wins]}  {task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    checkpoint = run.out / CHECKPOINT
    with Progress(*columns, console=console) as bar:
        monitor = Monitor(
            run.out,
            trainer,
            learner,
            rules=rules,
            training={"rules": rules.name, "seed": run.seed, "warm_start": run.warm_start},
            clock=clock,
            bar=bar,
            validations=run.validations,
            validation_deals=run.validation_deals,
            checkpoint_every=run.checkpoint_every,
        )
        if run.resume:
            recover_folders(run.out)
            recover_folders(run.out / POLICIES)
        if checkpoint.is_dir():
            state = learner.restore(checkpoint)
            monitor.restore(state, start_log(run.out, learner.steps))
        else:
            if run.resume:
                console.print("no checkpoint has been saved yet: the run starts anew")
            monitor.logger = start_log(run.out)
            clock.start()
            if run.warm_start:
                learner.warm_start(run.warm_start)
        how = "ends it early" if finish_when_stopped else "stops it at a checkpoint"
        console.print(
            f"[bold]{run.agent}[/] learns [bold]{rules.name}[/]: {learner.describe()}, from "
            f"{trainer.unit[:-1]} {learner.steps:,}; Ctrl-C {how}"
        )
        with _stopped_by_signals(monitor):
            learner.learn(monitor)
            ends_early = finish_when_stopped and monitor.stop_signal == signal.SIGINT
            stopped = monitor.stop_signal is not None and not ends_early
            if ends_early:
                console.print("ended early, with what has been learned; Ctrl-C again stops it")
            if not stopped:
                monitor.finish()
    if not stopped:
        write_json(run.out / DONE, monitor.result())
        write_readme(run.out)
        console.print(f"saved in {run.out}; its README.md describes the files")
    elif monitor.stop_signal == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        console.print(f"stopped: {_saved(run)}")


@contextmanager
def _stopped_by_signals(monitor: Monitor) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM (of a cluster) stop the run at a checkpoint; a second one, at once."""

    def stop(number: int, _: Any) -> None:
        monitor.stop_signal = number
        restore()

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler)

    previous = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        restore()


def _saved(run: Train) -> str:
    """What there is after Ctrl-C or SIGTERM, or on a full disk."""
    if not (run.out / RUN).is_file():
        return "nothing is saved"
    where = dataclasses.asdict(run.workers)
    flags = [
        f" --{name.replace('_', '-')} {value}"
        for name, value in where.items()
        if value != getattr(Workers(), name)
    ]
    return (
        f"the last checkpoint is saved in {run.out}; resume: four-seasons train --resume "
        f"--out {run.out}{''.join(flags)}"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    run_command(arguments, train, Train, __doc__, _saved)
