"""Tests in a copy of the working tree: in a process that is forked once its imports are made."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import gymnasium  # noqa: F401
import numba.extending  # noqa: F401  (imports that each process would make for itself)
import pandas  # noqa: F401
import pytest
import scipy.stats  # noqa: F401
import torch  # noqa: F401
from hypothesis import is_hypothesis_test

from tests.mutation import plain

PROJECT = ("four_seasons_env", "agents", "experiments", "tests")
SLOW = 1.5
"""Seconds of the processor after which a test is none for the quick stage."""
QUICK = 20.0
"""Seconds of the processor that are spent on finding the tests of a quick stage."""
OWN = "tests/mutation/"
"""Tests that are made for the quick stage: they may take longer."""
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


class TooSlow(BaseException):
    """A test is not for the quick stage."""


@dataclass
class Trial:
    """What came of tests."""

    code: int
    """pytest's exit status; that of a killed process is negative."""
    output: str
    seconds: dict[str, float]
    """Of the processor, by each test that has passed."""
    libraries: list[str] = field(default_factory=list)
    """Modules that the tests have imported, the project's own aside."""

    @property
    def failed(self) -> str:
        """The first test that failed, or nothing."""
        found = _FAILED.search(self.output)
        return found[1] if found else ""


@dataclass
class Watch:
    """A plugin of pytest: times tests, and runs only some of them, the quickest first."""

    only: dict[str, float] | None = None
    stop_slow: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    started: float = 0.0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the chosen tests, in their order."""
        if self.stop_slow:  # Hypothesis would try a slow one again and again
            items[:] = [each for each in items if not is_hypothesis_test(each.obj)]
            files = list(dict.fromkeys(each.path for each in items))
            random.Random(0).shuffle(items)  # the budget is for some of each kind in a file
            items.sort(key=lambda each: files.index(each.path))
        if self.only is not None:
            order = list(self.only)
            items[:] = [each for each in items if each.nodeid in self.only]
            items.sort(key=lambda each: order.index(each.nodeid))

    def pytest_runtest_setup(self) -> None:
        """Skip what is too late."""
        if self.stop_slow and _clock() > QUICK:
            pytest.skip("the quick stage has enough tests")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Start the clock, which stops when the test has been told of."""
        self.started = _clock()
        if self.stop_slow and not item.nodeid.startswith(OWN):
            signal.signal(signal.SIGVTALRM, _stop)
            signal.setitimer(signal.ITIMER_VIRTUAL, SLOW, SLOW)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the time of what has passed."""
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = round(_clock() - self.started, 3)


def _clock() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _stop(_: int, __: FrameType | None) -> None:
    raise TooSlow


def _in_child(tree: Path, arguments: list[str], as_python: bool, watch: Watch) -> int:
    """Run pytest here, upon the project as it is in a folder."""
    os.chdir(tree)
    os.environ["PYTHONPATH"] = str(tree)
    sys.path.insert(0, str(tree))
    sys.dont_write_bytecode = False  # a copy of the tree takes what has not changed from there
    for name in list(sys.modules):
        if name.partition(".")[0] in PROJECT:
            del sys.modules[name]
    if as_python:
        sys.modules[plain.__name__] = plain
        plain.install()
    return int(pytest.main(arguments, plugins=[watch]))


def run_tests(
    tree: Path,
    tests: list[str],
    as_python: bool,
    most: float,
    only: dict[str, float] | None = None,
    stop_slow: bool = False,
) -> Trial:
    """Run the default tests of some files in a tree, until one fails.

    Args:
        as_python: without the compiler.
        most: seconds of the processor that they may take.
        only: run these alone, in this order.
        stop_slow: let slow tests fail, and go on after one that fails.
    """
    go_on = "--maxfail=0" if stop_slow else "-x"
    options = ["-q", go_on, "-p", "no:cacheprovider", "-m", "not slow", "--tb=short"]
    watch = Watch(only, stop_slow)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder)
        child = os.fork()
        if not child:
            code = 70
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_CPU, (int(most) + 1, int(most) + 5))
                out = os.open(told / "output", os.O_CREAT | os.O_WRONLY)
                os.dup2(out, 1)
                os.dup2(out, 2)
                code = _in_child(tree, [*options, *tests], as_python, watch)
                (told / "seconds.json").write_text(json.dumps(watch.seconds))
                others = [name for name in sys.modules if name.partition(".")[0] not in PROJECT]
                (told / "libraries.json").write_text(json.dumps(others))
                sys.stdout.flush()
            finally:
                os._exit(code)
        status = _wait(child, 60 + 20 * most)
        _end_group(child)
        kept = {path.stem: json.loads(path.read_text()) for path in told.glob("*.json")}
        return Trial(
            os.waitstatus_to_exitcode(status),
            (told / "output").read_text(errors="replace"),
            kept.get("seconds", {}),
            kept.get("libraries", []),
        )


def _wait(child: int, most: float) -> int:
    """Wait for a process, so many seconds at most; its exit status."""
    until = time.monotonic() + most
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def _end_group(leader: int) -> None:
    """End what a trial's process has left running."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def quick_tests(tree: Path, tests: list[str], as_python: bool) -> dict[str, float]:
    """The tests that pass soon: seconds of the processor by test, the quickest first."""
    seconds = run_tests(tree, tests, as_python, 3600, stop_slow=True).seconds
    soon = {name: each for name, each in seconds.items() if each <= SLOW or name.startswith(OWN)}
    return dict(sorted(soon.items(), key=lambda each: each[1]))


def link_tree(tree: Path, copy: Path) -> None:
    """Copy a tree by links to its files."""
    subprocess.run(["cp", "-al", str(tree), str(copy)], check=True)
