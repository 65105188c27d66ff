"""Run many trainings side by side, on this machine or a cluster.

    four-seasons sweep experiments/studies/learning.yaml --out runs/study

A YAML file lists the trainings. Each job is a run of `four-seasons train` with its own folder and
process, so a failed job does not stop the others. If the command is started again, it skips
finished jobs and resumes unfinished ones. A job uses one torch thread unless OMP_NUM_THREADS is
set.

    fixed:                      # flags of `four-seasons train`, or hyperparameters, for all jobs
      rules: four-seasons
      minutes: 7
    grid:                       # every combination of these
      agent: [maskable_ppo, next_deal_ppo]
      seed: [0, 1, 2, 3, 4]
    variants:                   # optional: each of these, combined with the grid
      plain: {}
      patient: {gamma: 0.995}
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tyro

from four_seasons_env.agents.training import get_learner, read_yaml
from four_seasons_env.arguments import nearest
from four_seasons_env.experiments.command_line import progress_bar, run_command
from four_seasons_env.experiments.parallel.pool import Failure, Workers, run_tasks
from four_seasons_env.experiments.results.out_folder import check_out, write_json
from four_seasons_env.experiments.results.training_run import (
    DONE,
    RUN,
    read_done,
)
from four_seasons_env.experiments.train import Train, load_here, parse_steps
from four_seasons_env.rules import get_rules
from four_seasons_env.schemas import fitting, read_checked

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
    """Folder of the sweep, with a folder for each run."""
    workers: Workers = field(default_factory=Workers)


@dataclass
class Trainings:
    """The schema of the YAML file."""

    fixed: dict[str, Any] = field(default_factory=dict)
    grid: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, dict[str, Any]] = field(default_factory=lambda: {"": {}})


@dataclass(frozen=True)
class Job:
    """One training."""

    name: str
    out: Path
    agent: str
    rules: str
    command: tuple[str, ...]
    """Flags of `four-seasons train`."""
    folder: Path = field(default_factory=Path.cwd)
    """Folder in which the sweep was started, where relative paths begin."""

    @property
    def is_done(self) -> bool:
        """Whether the run is finished."""
        return (self.out / DONE).is_file()


def read_jobs(run: Sweep) -> list[Job]:
    """The jobs of a sweep's YAML file, with their flags and hyperparameters checked.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: for an unknown key, with the nearest one, or an invalid value.
    """
    trainings = _read(run.jobs)
    grid = {key: each if isinstance(each, list) else [each] for key, each in trainings.grid.items()}
    jobs: dict[str, Job] = {}
    for (variant, own), chosen in itertools.product(
        trainings.variants.items(), itertools.product(*grid.values())
    ):
        varied = dict(zip(grid, chosen, strict=True))
        names = [variant] if variant else []
        names += [_name(key, value) for key, value in varied.items() if len(grid[key]) > 1]
        name = "-".join(names) or "run"
        if name in jobs:
            raise ValueError(f"the grid contains a job twice: {name}")
        values = trainings.fixed | own | varied
        default = Train(run.out / name)
        agent, rules = (str(values.get(key, getattr(default, key))) for key in ("agent", "rules"))
        jobs[name] = Job(name, default.out, agent, rules, _command(values, agent, rules))
    return list(jobs.values())


def _read(path: Path) -> Trainings:
    """The content of the YAML file; an error for an unknown key names the nearest one."""
    if not path.is_file():
        raise FileNotFoundError(f"no sweep at {path}")
    values = read_yaml(path)
    parts = [each.name for each in dataclasses.fields(Trainings)]
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold {', '.join(parts)}")
    for key in values:
        if key not in parts:
            raise ValueError(f"unknown part of a sweep {key!r}: {nearest(key, parts)}")
    try:
        return fitting(values, Trainings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _name(key: str, value: Any) -> str:
    text = str(value) if key in ("agent", "rules") else f"{key}-{value}"
    return "".join(letter if letter.isalnum() or letter in "_.-" else "_" for letter in text)


def _command(values: dict[str, Any], agent: str, rules: str) -> tuple[str, ...]:
    """The flags of one job; keys that are not flags of `four-seasons train` are hyperparameters."""
    get_rules(rules)
    learner = get_learner(agent)
    parse_steps(str(values.get("steps", learner.run_steps)))
    hyperparameters = [each.name for each in dataclasses.fields(learner.schema)]
    flags, settings = [], []
    for key, value in values.items():
        if key in FLAGS:
            flags += [f"--{key.replace('_', '-')}", str(value)]
        elif key in hyperparameters:
            settings.append(f"{key}={json.dumps(value)}")
        else:
            raise ValueError(
                f"{key!r} is neither a flag of `four-seasons train` nor a hyperparameter of "
                f"{learner.name}: {nearest(key, [*FLAGS, *hyperparameters])}"
            )
    learner.read_settings(settings)
    return (*flags, *(["--set", *settings] if settings else []))


def run_job(job: Job) -> None:
    """Train in a new process, with its output in a file in `logs`.

    Raises:
        RuntimeError: if the training fails, with the last line of its output.
    """
    if job.is_done:
        return
    # One job has one worker and one thread: a sweep runs as many jobs as there are cores.
    flags = ["--resume"] if (job.out / RUN).is_file() else job.command
    command = ["train", "--out", str(job.out), "--n-jobs", "1", *flags]
    log = job.out.parent / "logs" / f"{job.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as printed:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "four_seasons_env", *command],
            cwd=job.folder,
            env={"OMP_NUM_THREADS": "1", **os.environ},
            stdout=printed,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if done.returncode:
        last = (log.read_text(errors="replace").strip().splitlines() or ["nothing was printed"])[-1]
        raise RuntimeError(f"exit status {done.returncode}; {log}: {last}")


def _check_manifest(run: Sweep, jobs: list[Job]) -> None:
    """Add the jobs to `sweep.json`; existing jobs keep their flags.

    Raises:
        ValueError: naming a job whose flags differ.
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


def sweep(run: Sweep) -> list[Failure]:
    """Run the jobs that are not finished, and return those that failed.

    Raises:
        ValueError: see `read_jobs`.
        FileNotFoundError: if there is no such file.
    """
    run.workers.check()
    check_out(run.out, "sweep")
    jobs = read_jobs(run)
    _check_manifest(run, jobs)
    todo = [job for job in jobs if not job.is_done]
    if run.workers.share_this_machine:  # compiled once, here
        for agent, rules in {job.agent: job.rules for job in todo}.items():
            learner = get_learner(agent)
            load_here(learner, get_rules(rules), learner.read_settings())
    failures: list[Failure] = []
    with progress_bar() as bar:
        shown = bar.add_task("training", total=len(jobs), completed=len(jobs) - len(todo))
        for name, failure in run_tasks(run_job, todo, [job.name for job in todo], run.workers):
            bar.advance(shown)
            if failure:
                failures.append(failure)
                print(f"failed {name}: {failure.reason}", flush=True)
            else:
                won = read_done(run.out / name).best.won
                print(f"{name}: {100 * won:.1f}% of validation deals won", flush=True)
    return failures


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit status is 1 if a job failed."""
    failures = run_command(
        arguments,
        sweep,
        Sweep,
        __doc__,
        "finished jobs and the last checkpoints are saved in {run.out}; resume: {command}",
    )
    sys.exit(1 if failures else 0)
