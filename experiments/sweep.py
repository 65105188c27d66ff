"""Run many trainings side by side, on this machine or a cluster.

    four-seasons sweep experiments/studies/baselines.yaml --out runs/study

A YAML file lists the trainings. Each job is a run of `four-seasons train` with a folder and a
process of its own, so that a job that fails or is killed does not stop the others. Started again,
a sweep skips finished jobs and resumes unfinished ones.

    fixed:                      # flags of `four-seasons train`, or hyperparameters, of all jobs
      rules: four-seasons
      minutes: 7
    grid:                       # every combination of these
      agent: [maskable_ppo, maskable_dqn]
      seed: [0, 1, 2, 3, 4]
    variants:                   # optional: each of these by itself, with all of the grid
      wide: {candidates: 48, layers: [128, 64, 64, 64]}
      policy-endings: {endings: policy}
    samples:                    # optional: random draws of these, each with all of the grid
      count: 20
      seed: 0
      draw:
        learning_rate: {log_uniform: [1.0e-4, 1.0e-2]}
        gamma: {uniform: [0.99, 1.0]}
        layers: {choice: [[256, 256], [512, 512]]}
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import tyro
from rich.console import Console
from rich.live import Live
from rich.table import Table
from scipy import stats

from four_seasons_env.agents.schemas import read_checked
from four_seasons_env.agents.yaml_values import read_yaml
from four_seasons_env.experiments.command_line import ROOT, run_command
from four_seasons_env.experiments.out_folder import check_out
from four_seasons_env.experiments.parallel.jobs import Failure, run_tasks
from four_seasons_env.experiments.parallel.workers import Workers
from four_seasons_env.experiments.reporting.tables import write_csv
from four_seasons_env.experiments.train import Train, parse_steps
from four_seasons_env.experiments.training.run_folder import (
    DONE,
    RUN,
    STEPS,
    read_done,
    read_log,
    write_json,
)
from four_seasons_env.experiments.training.trainers import get_trainer
from four_seasons_env.rules import get_rules, nearest

PARTS = ("fixed", "grid", "variants", "samples")
DRAWS = ("choice", "log_uniform", "uniform")
FLAGS = tuple(
    each.name
    for each in dataclasses.fields(Train)
    if each.name not in ("out", "resume", "set", "workers")
)


@dataclass
class Sweep:
    """Run many trainings side by side."""

    jobs: tyro.conf.Positional[Path]
    """The YAML file that lists the trainings."""
    out: Path
    """Folder of the runs; each has a folder of its own."""
    workers: Workers = field(default_factory=Workers)
    threads: int = 1
    """Threads of torch in each job."""


@dataclass(frozen=True)
class Job:
    """One training."""

    name: str
    out: Path
    command: tuple[str, ...]
    """Flags of `four-seasons train`."""
    threads: int

    @property
    def is_done(self) -> bool:
        """Whether its run is finished."""
        return (self.out / DONE).is_file()


def read_jobs(run: Sweep) -> list[Job]:
    """The jobs of a sweep's YAML file, with their flags and hyperparameters checked.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: for an unknown key, with the nearest one, or an invalid value.
    """
    if not run.jobs.is_file():
        raise FileNotFoundError(f"no sweep at {run.jobs}")
    parts = read_yaml(run.jobs)
    if not isinstance(parts, dict):
        raise ValueError(f"{run.jobs} must hold {', '.join(PARTS)}")
    for key in parts:
        if key not in PARTS:
            raise ValueError(f"unknown part {key!r} of a sweep: {nearest(key, PARTS)}")
        if not isinstance(parts[key], dict):
            raise ValueError(f"{key!r} in {run.jobs} must hold lines of the form 'key: value'")
    grid = {
        key: each if isinstance(each, list) else [each]
        for key, each in parts.get("grid", {}).items()
    }
    draws = _draw(parts["samples"]) if "samples" in parts else [{}]
    variants = parts.get("variants") or {"": {}}
    for variant, own in variants.items():
        if not isinstance(own, dict):
            raise ValueError(f"variant {variant!r} must hold lines of the form 'key: value'")
    jobs = []
    for (number, drawn), (variant, own) in itertools.product(enumerate(draws), variants.items()):
        for chosen in itertools.product(*grid.values()):
            varied = dict(zip(grid, chosen, strict=True))
            names = [variant] if variant else []
            names += [_name(key, value) for key, value in varied.items() if len(grid[key]) > 1]
            names += [f"sample-{number:03d}"] if "samples" in parts else []
            name = "-".join(names) or "run"
            values = parts.get("fixed", {}) | own | varied | drawn
            command = _command(values, run.out / name)
            jobs.append(Job(name, run.out / name, command, run.threads))
    doubles = {job.name for job in jobs if sum(each.name == job.name for each in jobs) > 1}
    if doubles:
        raise ValueError(f"the grid names a job twice: {', '.join(sorted(doubles))}")
    return jobs


def _name(key: str, value: Any) -> str:
    text = str(value) if key in ("agent", "rules") else f"{key}-{value}"
    return "".join(letter if letter.isalnum() or letter in "_.-" else "_" for letter in text)


def _draw(samples: dict[str, Any]) -> list[dict[str, Any]]:
    """The drawn values of each sample; the same in every call."""
    known = ("count", "seed", "draw")
    for key in samples:
        if key not in known:
            raise ValueError(f"unknown key {key!r} of samples: {nearest(key, known)}")
    count, columns = int(samples["count"]), {}
    for i, (key, how) in enumerate(samples["draw"].items()):
        ((kind, values),) = how.items()
        if kind not in DRAWS:
            raise ValueError(f"unknown draw {kind!r} of {key}: {nearest(kind, DRAWS)}")
        random_state = 1000 * int(samples.get("seed", 0)) + i
        if kind == "choice":
            drawn = stats.randint(0, len(values)).rvs(count, random_state=random_state)
            columns[key] = [values[index] for index in drawn]
            continue
        low, high = values
        made = (
            stats.loguniform(low, high) if kind == "log_uniform" else stats.uniform(low, high - low)
        )
        columns[key] = [float(f"{x:.6g}") for x in made.rvs(count, random_state=random_state)]
    return [{key: column[n] for key, column in columns.items()} for n in range(count)]


def _command(values: dict[str, Any], out: Path) -> tuple[str, ...]:
    """The flags of one job; keys that are no flags of `four-seasons train` are hyperparameters."""
    trainer = get_trainer(str(values.get("agent", Train(out).agent)))
    hyperparameters = [each.name for each in dataclasses.fields(trainer.schema)]
    flags, settings = [], []
    for key, value in values.items():
        if key in FLAGS:
            flags += [f"--{key.replace('_', '-')}", str(value)]
        elif key in hyperparameters:
            settings.append(f"{key}={json.dumps(value)}")
        else:
            known = [*FLAGS, *hyperparameters]
            raise ValueError(
                f"{key!r} is no flag of `four-seasons train` and no hyperparameter of "
                f"{trainer.name}: {nearest(key, known)}"
            )
    get_rules(str(values.get("rules", "four-seasons")))
    parse_steps(str(values.get("steps", trainer.steps)))
    path = values.get("hyperparameters")
    trainer.read_settings(Path(path) if path else None, settings)
    return (*flags, *(["--set", *settings] if settings else []))


def run_job(job: Job) -> None:
    """Train in a process of its own; its output goes to a file in `logs`.

    Raises:
        RuntimeError: if it fails, with the last line of its output.
    """
    if job.is_done:
        return
    resumes = (job.out / RUN).is_file()
    flags = ["--resume"] if resumes else job.command
    threads = str(job.threads)
    out = job.out.resolve()
    if out.is_relative_to(ROOT):
        out = out.relative_to(ROOT)  # so that run.json has the same command in every clone
    log = job.out.parent / "logs" / f"{job.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as printed:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "four_seasons_env",
                "train",
                "--out",
                str(out),
                "--n-jobs",
                "1",
                *flags,
            ],
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads},
            stdout=printed,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode or not job.is_done:
        last = (log.read_text().strip().splitlines() or ["nothing was printed"])[-1]
        how = f"exit status {done.returncode}" if done.returncode else "stopped before its end"
        raise RuntimeError(f"{how}; {log}: {last}")


def _claim(run: Sweep, jobs: list[Job]) -> None:
    """Refuse a folder whose runs were started with other flags than those of the sweep.

    Raises:
        ValueError: naming the run.
    """
    path = run.out / "sweep.json"
    commands = {job.name: list(job.command) for job in jobs}
    found = read_checked(path, dict[str, list[str]]) if path.is_file() else {}
    for name, command in found.items():
        if commands.get(name, command) != command:
            raise ValueError(
                f"{run.out / name} was started with {' '.join(command)}, not with "
                f"{' '.join(commands[name])}: choose a new folder (--out)"
            )
    write_json(path, found | commands)


def _view(jobs: list[Job], failures: list[Failure]) -> Table:
    """The state of each job, from its files."""
    failed = {each.name for each in failures}
    done = sum(job.is_done for job in jobs)
    table = Table(title=f"{done} of {len(jobs)} jobs done", title_justify="left")
    for column in ("job", "state", "steps", "won % (training)", "won % (validation)"):
        table.add_column(column, justify="left" if column in ("job", "state") else "right")
    for job in jobs:
        started = (job.out / RUN).is_file()
        state = "failed" if job.name in failed else "running" if started else "waiting"
        log = read_log(job.out)
        table.add_row(
            job.name,
            "done" if job.is_done else state,
            f"{log[STEPS].iloc[-1]:,.0f}" if len(log) else "",
            _last(log, "play/win_rate"),
            _last(log, "validation/win_rate"),
        )
    return table


def _last(log: pd.DataFrame, column: str) -> str:
    values = log[column].dropna().tolist() if column in log else []
    return f"{100 * values[-1]:.1f}" if len(values) else ""


def _safely(view: Callable[[], Table]) -> Callable[[], Table]:
    """A view that shows its last table again when a log is being written."""
    last = Table()

    def show() -> Table:
        nonlocal last
        with suppress(OSError, ValueError):
            last = view()
        return last

    return show


def results_of(jobs: list[Job]) -> pd.DataFrame:
    """A row for each finished job, the best on validation deals first."""
    rows = []
    for job in jobs:
        if job.is_done:
            done = read_done(job.out)
            rows.append(
                {
                    "job": job.name,
                    "won": done.best.won,
                    "cards_up": done.best.cards_up,
                    "best_steps": done.best.steps,
                    "steps": done.steps,
                    "seconds": done.seconds,
                    "flags": " ".join(job.command),
                }
            )
    table = pd.DataFrame(rows)
    return table.sort_values(["won", "cards_up"], ascending=False) if rows else table


def sweep(run: Sweep) -> list[Failure]:
    """Run the jobs that are not finished, and return those that failed.

    Raises:
        ValueError: see `read_jobs`.
        FileNotFoundError: if there is no such file.
    """
    run.workers.check()
    check_out(run.out, "sweep")
    if run.threads < 1:
        raise ValueError(f"--threads is 1 or more, not {run.threads}")
    jobs = read_jobs(run)
    _claim(run, jobs)
    todo = [job for job in jobs if not job.is_done]
    failures: list[Failure] = []
    console = Console()
    view = _safely(lambda: _view(jobs, failures))
    with Live(get_renderable=view, console=console, refresh_per_second=0.5):
        names = [job.name for job in todo]
        for failure in run_tasks(run_job, todo, names, run.workers):
            if failure:
                failures.append(failure)
    write_csv(run.out / "jobs.csv", results_of(jobs))
    for each in failures:
        console.print(f"[red]failed[/] {each.name}: {each.reason}", soft_wrap=True)
    return failures


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 1 if a job failed."""
    failures = run_command(
        arguments, sweep, Sweep, __doc__, "checkpoints are saved in {run.out}; resume: {command}"
    )
    sys.exit(1 if failures else 0)
