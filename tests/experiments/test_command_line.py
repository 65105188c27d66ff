"""Common behaviour of commands: the listing, errors in one line, signals."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from four_seasons_env.__main__ import GROUPS, main
from four_seasons_env.engine.deals import TRAIN_FROM
from four_seasons_env.experiments import train
from four_seasons_env.experiments.command_line import progress_bar
from four_seasons_env.experiments.compare import Compare
from four_seasons_env.experiments.comparison import read_results
from four_seasons_env.experiments.folders import ROOT, locked
from four_seasons_env.experiments.report import Report
from tests.agents.fakes import HERE
from tests.helpers import run_python

COMMANDS = [name for group in GROUPS.values() for name in group]


def call(*arguments: str) -> int | str | None:
    """The exit status of `four-seasons ...`."""
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    return stopped.value.code


@pytest.mark.parametrize(
    ("text", "steps"), [("1000", 1000), ("500k", 500_000), ("20M", 20_000_000), ("1.5k", 1500)]
)
def test_steps_are_read(text: str, steps: int) -> None:
    assert train.parse_steps(text) == steps


HOLDS = """
import sys
from pathlib import Path
from four_seasons_env.experiments.folders import locked
with locked(Path(sys.argv[1]), "training"):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_folder_in_use_is_refused(tmp_path: Path, capsys) -> None:
    """Until the process ends, even if it is killed"""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout and holder.stdout.readline()
    used = f"error: {tmp_path} is in use by process {holder.pid}\n"
    out = "--out", str(tmp_path)
    assert call("compare", "--agents", "random", "--deals", "0-1", *out) == 2
    assert capsys.readouterr().err == used
    assert all(each.name[0] == "." for each in tmp_path.iterdir())
    (tmp_path / "run.json").write_text("{}")
    assert call("train", *out) == 2
    assert capsys.readouterr().err == used
    holder.kill()
    holder.communicate()
    with locked(tmp_path, "training"):
        pass


def test_only_own_code_has_a_traceback(tmp_path: Path, capsys) -> None:
    flags = "--agents", f"{HERE}:Broken", "--deals", "0-1", "--out", str(tmp_path / "x")
    assert call("compare", *flags) == 2
    line, *rest = capsys.readouterr().err.splitlines()
    assert line == f"error: agent '{HERE}:Broken' failed: KeyError: 'mine'"
    assert rest[0] == "Traceback (most recent call last):"
    assert any(re.search(r'fakes\.py", line \d+, in __init__$', each) for each in rest)


@pytest.mark.skipif(os.name != "posix", reason="Windows does not delete the current folder")
def test_a_deleted_current_folder(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    main(["rules"])
    for each in COMMANDS:
        assert call(each, "--help") == 0
    main(["solve", "--deal", "17", "--seconds", "1"])


def test_the_listing_imports_no_command() -> None:
    check = "import sys; from four_seasons_env.__main__ import main; main([]); "
    *listing, modules = run_python("-c", f"{check} print(sorted(sys.modules))").splitlines()
    for heavy in ("torch", "numba", "pandas", "tyro"):
        assert f"'{heavy}'" not in modules
    assert [line.split()[0] for line in listing if line[:2] == "  "] == COMMANDS


@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
@pytest.mark.parametrize("arguments", ["rules", "train --help", "verify FOLDER"])
def test_a_reader_that_leaves_ends_the_command(arguments: str, compared: Compare) -> None:
    """The command line is like `four-seasons rules | true`. Status 1 means that games differ."""
    reading, writing = os.pipe()
    os.close(reading)
    words = arguments.replace("FOLDER", str(compared.out)).split()
    command = [sys.executable, "-m", "four_seasons_env", *words]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(os.name != "posix", reason="streams as POSIX has them")
@pytest.mark.parametrize(
    ("arguments", "streams"),
    [
        ("compare --help", ">&-"),
        ("verify FOLDER", "<&- >&- 2>&-"),
        pytest.param("compare --out NEW --n-jobs 2 --agents", "2>&-", marks=pytest.mark.slow),
    ],
)
def test_closed_streams(arguments: str, streams: str, compared: Compare, tmp_path: Path) -> None:
    """Nothing is printed, and nothing fails. Results do not get what belongs into a stream."""
    flags = f"random heuristic --deals {TRAIN_FROM}-{TRAIN_FROM + 3} --play deterministic"
    words = arguments.replace("FOLDER", str(compared.out)).replace("NEW", f"{tmp_path}/x")
    command = f"{words} {flags}" if words.endswith("--agents") else words
    shell = f"{sys.executable} -m four_seasons_env {command} {streams}"
    assert subprocess.run(shell, shell=True, cwd=ROOT, check=False).returncode == 0
    if "NEW" in arguments:
        assert len(read_results(tmp_path / "x")) == 8


@pytest.mark.slow
def test_a_file_named_like_a_module_of_python(tmp_path: Path) -> None:
    """It lies in the folder of the user, where workers start."""
    (tmp_path / "random.py").write_text("raise SystemExit('not this one')")
    flags = ["compare", "--agents", "random", "greedy", "--deals", "0-3", "--n-jobs", "2"]
    run_python("-P", "-m", "four_seasons_env", *flags, "--out", "x", cwd=tmp_path)


def test_paths_in_the_home_folder(monkeypatch) -> None:
    """A shell leaves the ~ of `--out=~/x` alone."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("USERPROFILE", "/home/me")
    made = Report([Path("~/x")], out=Path("~/y"))
    assert (made.runs, made.out) == ([Path("/home/me/x")], Path("/home/me/y"))


SMALL = ("--set", "positions=20", "expansions=5", "ending_positions=50", "ending_expansions=20")
STOPPED = {
    "compare": (["--agents", "heuristic", "rollout", "--n-jobs", "2"], "parts/*/*/*.csv"),
    "train": (["--agent", "planner", "--steps", "1G", "--n-jobs", "1", *SMALL], "progress.csv"),
}
"""Commands that run for minutes, and files that exist when their workers work."""
SAYS = {
    "compare": "stopped.*\n",
    "train": "stopped: the last checkpoint, if there is one, is saved in {out}; "
    "resume: four-seasons train --resume --out '{out}'\n",
}


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_sigterm_is_one_line(monkeypatch, capsys) -> None:
    """While a command runs; afterwards the process handles it as before."""

    def stopped(_: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("four_seasons_env.commands.show_rules", stopped)
    assert call("rules") == 143
    assert capsys.readouterr().err == "stopped\n"
    assert signal.getsignal(signal.SIGTERM) == before


def handle_signals() -> None:
    """Undo what a shell did that started the tests in the background."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


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
        preexec_fn=handle_signals,  # noqa: PLW1509
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX's")
@pytest.mark.parametrize(
    ("command", "kill", "number", "status"),
    [
        ("compare", os.killpg, signal.SIGINT, 130),  # as a terminal does
        ("compare", os.killpg, signal.SIGTERM, 143),  # as a batch system does
        ("train", os.killpg, signal.SIGINT, 130),
        ("train", os.kill, signal.SIGTERM, 143),  # as a container does
    ],
)
def test_a_signal_is_one_line(
    command: str, kill: Any, number: int, status: int, tmp_path: Path
) -> None:
    """It says what is saved, and how to go on."""
    flags, file = STOPPED[command]
    out = tmp_path / "a b"
    process = start(command, flags, out)
    while not list(out.glob(file)):
        assert process.poll() is None
        time.sleep(0.5)
    kill(process.pid, number)
    printed = process.communicate(timeout=120)[1]
    assert process.returncode == status, printed
    # On a busy machine, joblib's resource tracker may warn of semaphores as it ends.
    ours = re.sub(r".*resource_tracker.*\n  warnings.warn.*\n", "", printed)
    assert re.fullmatch(SAYS[command].format(out=re.escape(str(out))), ours), printed


def test_a_log_file_gets_a_line_a_minute(monkeypatch, capsys) -> None:
    monkeypatch.setattr("four_seasons_env.experiments.command_line.LOG_SECONDS", 0)
    with progress_bar() as bar:
        games, share = bar.add_task("playing", total=20), bar.add_task("learning", total=1.0)
        bar.advance(games, 4)
        bar.update(share, completed=0.5, description="30 moves")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("playing: 4 of 20") and lines[1].startswith("30 moves: 50%")
    monkeypatch.undo()
    with progress_bar() as bar:
        bar.advance(bar.add_task("playing", total=20), 4)
    assert capsys.readouterr().err == ""
