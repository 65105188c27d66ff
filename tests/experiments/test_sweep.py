"""Sweeps: the jobs in a YAML file, and what a sweep does with finished and failed ones."""

import dataclasses
import itertools
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from four_seasons_env.experiments import sweep as module
from four_seasons_env.experiments.parallel.pool import Workers
from four_seasons_env.experiments.results.out_folder import write_json
from four_seasons_env.experiments.results.training_run import DONE, RUN, Done, Validation
from four_seasons_env.experiments.sweep import Sweep, read_jobs, sweep

ALONE = Workers(n_jobs=1)
PLANNER = {"agent": "planner"}


def write(folder: Path, trainings: object) -> Path:
    path = folder / "jobs.yaml"
    path.write_text(yaml.safe_dump(trainings))
    return path


def jobs_of(tmp_path: Path, trainings: object) -> list[module.Job]:
    return read_jobs(Sweep(write(tmp_path, trainings), tmp_path / "s"))


def test_variants_and_grid_are_every_combination(tmp_path: Path) -> None:
    trainings: dict[str, dict[str, Any]] = {
        "fixed": {"agent": "planner", "core_minutes": 2, "td_lambda": 0.9},
        "variants": {"plain": {}, "long": {"core_minutes": 30, "games": 48}},
        "grid": {"rules": ["czarina", "corners"], "seed": [0, 1], "positions": 8},
    }
    jobs = {job.name: job for job in jobs_of(tmp_path, trainings)}
    each = itertools.product(("long", "plain"), ("czarina", "corners"), (0, 1))
    assert list(jobs) == [f"{variant}-{rules}-seed-{seed}" for variant, rules, seed in each]
    assert jobs["long-corners-seed-1"].command == (
        *("--agent", "planner", "--core-minutes", "30", "--rules", "corners", "--seed", "1"),
        *("--set", "td_lambda=0.9", "games=48", "positions=8"),
    )
    trainings["variants"]["odd"] = ["games"]
    with pytest.raises(ValueError, match=r"Expected `object`, got `array` - at .*variants"):
        jobs_of(tmp_path, trainings)


@pytest.mark.parametrize(
    ("trainings", "message"),
    [
        ({"gird": {}}, "did you mean 'grid'"),
        ({"fixed": PLANNER | {"sead": 1}}, "did you mean 'seed'"),
        ({"grid": {"agent": ["maskable_pop"]}}, "did you mean 'maskable_ppo'"),
        ({"fixed": PLANNER | {"td_lambda": 2}}, "td_lambda is 2: Expected `float` <= 1.0"),
        ({"fixed": PLANNER | {"steps": "many"}}, "steps must be a positive number"),
        ({"fixed": PLANNER, "grid": {"seed": [1, 1]}}, "contains a job twice: seed-1"),
        ([], "must hold fixed, grid, variants"),
    ],
)
def test_wrong_sweeps(trainings: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        sweep(Sweep(write(tmp_path, trainings), tmp_path / "s"))
    assert not (tmp_path / "s").exists()


def test_a_sweep_continues(tmp_path: Path, monkeypatch, capsys) -> None:
    """Jobs only write their files here; one fails until there is a file "fixed"."""

    def finish(job: module.Job) -> None:
        if job.name == "seed-1" and not (job.out.parent / "fixed").exists():
            raise RuntimeError("exit status 1; s[/]x: no memory")
        job.out.mkdir()
        (job.out / RUN).touch()
        done = Done(64, 1.0, 1.0, 4, Validation("10000-10003", 0.5, 20.0, 64))
        write_json(job.out / DONE, dataclasses.asdict(done))

    monkeypatch.setattr(module, "run_job", finish)
    trainings = {"fixed": {"steps": 64}, "grid": {"seed": [0, 1, 2]}}
    run = Sweep(write(tmp_path, trainings), tmp_path / "s", ALONE)
    (failure,) = sweep(run)
    assert "seed-0: 50.0% of validation deals won" in capsys.readouterr().out
    assert (failure.name, failure.reason) == (
        "seed-1",
        "RuntimeError: exit status 1; s[/]x: no memory",
    )
    (run.out / "fixed").touch()
    assert sweep(run) == []  # a second start of a finished job would fail
    assert all(job.is_done for job in read_jobs(run))
    trainings["fixed"]["steps"] = 128
    with pytest.raises(ValueError, match=r"seed-0 was started with .*64.*, not with .*128"):
        sweep(Sweep(write(tmp_path, trainings), run.out))


def test_paths_in_a_job_begin_in_the_folder_of_the_user(tmp_path: Path, monkeypatch) -> None:
    """And a file `random.py` there is not Python's own."""
    started: list[tuple[list[str], Path]] = []

    def run(command: list[str], cwd: Path, **_: object) -> subprocess.CompletedProcess[str]:
        started.append((command, cwd))
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.chdir(tmp_path)
    trainings = {"fixed": {"agent": "planner", "warm_start": "planner:p0/best"}}
    (job,) = read_jobs(Sweep(write(tmp_path, trainings), Path("s")))
    module.run_job(job)
    ((command, folder),) = started
    assert folder == tmp_path
    assert command[1:6] == ["-P", "-m", "four_seasons_env", "train", "--out"]
    assert command[6:] == [str(Path("s") / "run"), "--n-jobs", "1", *job.command]
