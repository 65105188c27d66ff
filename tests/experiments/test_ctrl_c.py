"""Ctrl-C at any moment: one line that says what is kept, exit status 130, no traceback.

And a kill, which leaves no worker behind.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from four_seasons_env.experiments.command_line import ROOT
from four_seasons_env.experiments.parallel.jobs import call_in_workers
from four_seasons_env.experiments.parallel.workers import Workers

pytestmark = pytest.mark.slow

COMMANDS = {
    "census": ["--deals", "0-9999", "--seconds", "60", "--n-jobs", "2"],
    "compare": ["--agents", "heuristic", "rollout", "--n-jobs", "2"],
    "bench": ["--seconds", "60"],
    "train": ["--agent", "planner", "--steps", "1G"],
}


def test_a_worker_never_hears_it() -> None:
    """Not even while it starts, when Python has no handler yet."""
    with Workers("loky", 2).started():
        for masks in call_in_workers(_blocked, [()] * 3):
            assert signal.SIGINT in masks


def _blocked() -> set[int]:
    return {int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, [])}


@pytest.mark.parametrize("moment", [0.7, 4, 9, 20])
@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_is_one_line(command: str, moment: float, tmp_path: Path) -> None:
    """Sent to the whole group of processes, as a terminal does, after so many seconds."""
    process = _start(command, tmp_path)
    time.sleep(moment)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGINT)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 130, told
    assert told.startswith("stopped: ") and told.count("\n") == 1, told


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
def test_workers_end_when_their_command_is_killed(tmp_path: Path) -> None:
    """They are in the middle of blocks that take minutes."""
    process = _start("census", tmp_path)
    while not list(tmp_path.rglob("parts/**/*.csv")):
        assert process.poll() is None
        time.sleep(0.5)
    process.kill()
    process.wait()
    for _ in range(60):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    pytest.fail("half a minute later there are workers")


def _start(command: str, folder: Path) -> subprocess.Popen[str]:
    """A command that runs for minutes, in a group of processes of its own."""
    flags = [*COMMANDS[command], "--out", str(folder / "x")]
    return subprocess.Popen(
        [sys.executable, "-m", "four_seasons_env", command, *flags],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
