"""Tasks on workers: shared arrays, and workers that are killed."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from four_seasons_env.experiments.workers import Workers, started_pool
from tests.helpers import ROOT


def total(task: tuple[int, range], shared: dict[str, np.ndarray]) -> tuple[list[float], int]:
    """Each deal's number times a factor, plus all that is shared; and where it was computed."""
    factor, deals = task
    rest = sum(float(each.sum()) for each in shared.values())
    return [factor * deal + rest for deal in deals], os.getpid()


def handlers(_: object, __: dict) -> tuple[object, object]:
    time.sleep(0.1)  # so that each worker gets some
    return signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)


def dies(_: object, __: dict) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_single_worker_is_this_process() -> None:
    with started_pool(Workers(n_jobs=1)) as pool:
        assert pool.size == 1
        answers = pool.over_deals(total, 10, range(1, 3), {"a": np.ones(3)})
        assert answers == [([13.0, 23.0], os.getpid())]
        assert pool.core_seconds == 0


@pytest.mark.slow
def test_workers_stay_and_get_present_values() -> None:
    """joblib recognises sent arrays by identity; a changed array must be sent again."""
    large, seen = np.ones(100_000, np.float32), set()
    with started_pool(Workers(n_jobs=2)) as pool:
        assert pool.size == 2
        for factor in range(1, 4):
            shared = {"large": large, "small": np.ones(2)}
            answers = pool.over_deals(total, 1, range(40), shared)
            assert [len(values) for values, _ in answers] == [10, 7, 5, 4, 4, 4, 4, 2]
            expected = [deal + 100_000 * factor + 2 for deal in range(40)]
            assert [value for values, _ in answers for value in values] == expected
            seen |= {process for _, process in answers}
            large += 1
    assert len(seen) <= 2
    assert os.getpid() not in seen


@pytest.mark.slow
def test_workers_leave_signals_to_their_parent() -> None:
    """Also with workers that joblib has kept from an earlier use."""
    for n_jobs in (2, 4, 3):
        with started_pool(Workers(n_jobs=n_jobs)) as pool:
            found = pool.over_deals(handlers, None, range(8 * n_jobs), {})
        assert set(found) == {(signal.SIG_IGN, signal.SIG_IGN)}


@pytest.mark.slow
def test_a_killed_worker_is_one_line() -> None:
    with (
        pytest.raises(RuntimeError, match=r"^a worker was killed, .* \(--n-jobs\)$"),
        started_pool(Workers(n_jobs=2)) as pool,
    ):
        pool.over_deals(dies, None, range(1), {})


PARENT = """
from four_seasons_env.experiments.workers import Workers, started_pool
from tests.experiments.test_pool import sleeps

with started_pool(Workers(n_jobs=2)) as pool:
    pool.over_deals(sleeps, None, range(2), {})
"""


def sleeps(_: object, __: dict) -> None:
    print("here", flush=True)
    time.sleep(60)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes as POSIX has them")
def test_workers_end_after_a_killed_parent() -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT], cwd=ROOT, stdout=subprocess.PIPE)
    assert parent.stdout
    assert [parent.stdout.readline() for _ in range(2)] == [b"here\n"] * 2
    parent.kill()
    killed = time.monotonic()
    parent.communicate()  # until all processes that could write have ended
    assert time.monotonic() - killed < 50


COMMANDS = [
    "compare --agents heuristic --deals 999-1000",  # of two blocks
    "experiments.studies.census --deals 0-19 --seconds 0.1",
    "train --agent planner --steps 32 --validations 1 --validation-deals 8 --set games=16",
]
"""Each needs code that those before it did not compile."""


@pytest.mark.slow
def test_nothing_is_compiled_twice(tmp_path: Path) -> None:
    """Commands compile, their workers load: each file of the cache is written once."""
    own = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DEBUG_CACHE": "1"}
    printed = warned = ""
    files = 0
    for command in COMMANDS:
        name, *flags = command.split()
        flags += ["--n-jobs", "2", "--out", str(tmp_path / name)]
        module = [f"four_seasons_env.{name}"] if "." in name else ["four_seasons_env", name]
        ended = subprocess.run(
            [sys.executable, "-m", *module, *flags],
            env=os.environ | own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        printed, warned = printed + ended.stdout, warned + ended.stderr
        written = re.findall("data saved to '(.*)'", printed)
        assert len(written) == len(set(written)) > files
        files = len(written)
    notices = re.findall(r"(\S+): compiling, once on this machine", warned)
    assert sorted(notices) == sorted(set(notices))
    assert "four_seasons_env.agents.scripted" in notices
