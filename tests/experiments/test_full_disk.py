"""A disk that is full or read-only: one line says which file, and work goes on once there is space.

The disk is a small tmpfs, which only root can mount.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
import yaml

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.training.run_folder import CHECKPOINT

pytestmark = pytest.mark.slow


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 MiB."""
    path = tmp_path / "disk"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(path)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("a full disk needs a tmpfs, and mounting one is not permitted here")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def fill(disk: Path, leave: int) -> Path:
    """A file that takes all space of a disk but so many bytes."""
    ballast = disk / "ballast"
    free = os.statvfs(disk)
    ballast.write_bytes(bytes(max(free.f_bavail * free.f_frsize - leave, 0)))
    return ballast


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "four_seasons_env", *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def one_error(done: subprocess.CompletedProcess[str], disk: Path) -> str:
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert "No space left on device" in line
    assert str(disk) in line
    return line


PLANNER = [
    *("--agent", "planner", "--steps", "16", "--validations", "1", "--validation-deals", "4"),
    *("--n-jobs", "1", "--checkpoint-every", "0", "--set", "games=4", "nodes=10", "expansions=5"),
    *("batch_size=32", "endgame_nodes=50", "endgame_expansions=25"),
]
PPO = [
    *("--agent", "maskable_ppo", "--steps", "256", "--validations", "1"),
    *("--validation-deals", "5", "--checkpoint-every", "0", "--set", "games=8", "n_steps=8"),
    *("batch_size=32", "layers=[64]", "max_moves=40"),
]
COMMANDS = {
    "compare": ["compare", "--agents", "random", "--deals", "0-2999", "--n-jobs", "1"],
    "census": ["census", "--deals", "0-299", "--seconds", "0.001", "--n-jobs", "1"],
    "train": ["train", *PPO],
    "train the planner": ["train", *PLANNER],
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("leave", [0, 40_000])
def test_a_full_disk_is_one_line_and_what_is_done_goes_on(
    name: str, leave: int, disk: Path
) -> None:
    """Once at the start and once in the middle."""
    out = disk / "out"
    flags = [*COMMANDS[name], "--out", str(out)]
    ballast = fill(disk, leave)
    line = one_error(command(*flags), disk)
    parts = {each: each.stat().st_mtime_ns for each in out.glob("parts/**/*.csv")}
    ballast.unlink()
    if name.startswith("train") and (out / "run.json").is_file():
        assert f"--resume --out {out}" in line
        flags = ["train", "--resume", "--out", str(out), "--n-jobs", "1"]
    done = command(*flags)
    assert done.returncode == 0, done.stderr
    if name.startswith("train"):
        assert (out / "done.json").is_file()
        assert (out / CHECKPOINT).is_dir()
    else:
        deals = 3000 if name == "compare" else 300
        assert pd.read_csv(out / "results.csv")["deal"].tolist() == list(range(deals))
        assert parts == {each: each.stat().st_mtime_ns for each in parts}, "played again"


def test_a_sweep_goes_on_once_there_is_space(disk: Path, tmp_path: Path) -> None:
    fixed = {"agent": "planner", "steps": 8, "validations": 1, "validation_deals": 4, "games": 4}
    fixed |= {"nodes": 10, "expansions": 5, "endgame_nodes": 50, "endgame_expansions": 25}
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text(yaml.safe_dump({"fixed": fixed, "grid": {"seed": [0, 1]}}))
    flags = ["sweep", str(jobs), "--out", str(disk / "out"), "--n-jobs", "1"]
    ballast = fill(disk, 60_000)
    failed = command(*flags)
    assert failed.returncode in (1, 2)
    assert "Traceback" not in failed.stderr + failed.stdout
    assert "No space left" in failed.stderr + failed.stdout
    ballast.unlink()
    done = command(*flags)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(disk.glob("out/*/done.json"))) == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_folder_is_refused_at_once(name: str, disk: Path) -> None:
    remount = ["mount", "-o", "remount,ro", str(disk)]
    subprocess.run(remount, check=True, capture_output=True)
    done = command(*COMMANDS[name], "--out", str(disk / "out"))
    assert done.returncode == 2
    assert done.stderr == f"error: {disk}: cannot be written to: choose another\n"


def test_a_terminal_that_takes_nothing_is_one_line() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "four_seasons_env", "solve", "--rules", "florentine"],
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "error: cannot write: No space left on device; nothing is saved\n"
