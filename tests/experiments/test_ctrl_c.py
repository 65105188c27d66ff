"""Ctrl-C at work: one line that names what is saved, exit status 130, no traceback."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from four_seasons_env.experiments.command_line import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's"),
]

SMALL = ("--set", "positions=20", "expansions=5", "ending_positions=50", "ending_expansions=20")
COMMANDS = {
    "census": (["--deals", "0-9999", "--seconds", "60", "--n-jobs", "2"], "parts/*/*.csv"),
    "compare": (["--agents", "heuristic", "rollout", "--n-jobs", "2"], "parts/*/*/*.csv"),
    "train": (["--agent", "planner", "--steps", "1G", "--n-jobs", "1", *SMALL], "progress.csv"),
}
"""Commands that run for minutes, and files that exist when their workers work."""


def start(command: str, flags: list[str], out: Path) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, as a terminal does."""
    return subprocess.Popen(
        [sys.executable, "-m", "four_seasons_env", command, *flags, "--out", str(out)],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that started the tests in the background has set SIGINT to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_is_one_line(command: str, tmp_path: Path) -> None:
    flags, file = COMMANDS[command]
    process = start(command, flags, tmp_path / "x")
    while not list((tmp_path / "x").glob(file)):
        assert process.poll() is None
        time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    printed = process.communicate(timeout=120)[1]
    assert process.returncode == 130, printed
    # On a busy machine, joblib's resource tracker may warn of semaphores as it ends.
    ours = re.sub(r".*resource_tracker.*\n  warnings.warn.*\n", "", printed)
    assert ours.startswith("stopped") and ours.count("\n") == 1, printed
