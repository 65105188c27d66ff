"""Common behaviour of commands: the listing, errors in one line, Ctrl-C."""

import dataclasses
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from four_seasons_env.__main__ import GROUPS, main
from four_seasons_env.experiments import train
from four_seasons_env.experiments.command_line import run_command
from four_seasons_env.experiments.folders import MARKS, ROOT, locked
from four_seasons_env.experiments.studies.census import Census, take_census
from tests.helpers import cards_in_order, run_python

WITHOUT_OUT = ("play", "rules", "solve", "verify")
DECK = " ".join(cards_in_order())
COMMANDS = [name for group in GROUPS.values() for name in group]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """The exit status of `four-seasons ...`."""
    monkeypatch.setattr(sys, "argv", ["four-seasons", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code


@pytest.mark.parametrize(
    ("command", "flags", "message"),
    [
        ("compare", ["--agents", "heuristik"], "did you mean 'heuristic'"),
        ("demo", ["--rules", "czarena"], "did you mean 'czarina'"),
        ("play", ["--rules", "czarena"], "did you mean 'czarina'"),
        ("play", ["--deck", ""], "missing: AC AS"),
        ("play", ["--deck", DECK, "--deal", "17"], "give --deal or --deck, not both"),
        ("play", ["--port", "99999"], "--port must be 0 to 65535, not 99999"),
        ("play", ["--host", "192.0.2.1"], "cannot listen on 192.0.2.1:8752"),
        ("play", ["--record", "."], ".: Is a directory"),
        ("report", ["nowhere"], "nowhere"),
        ("review", ["--agent", "planer"], "did you mean 'planner'"),
        ("rules", ["czarena"], "did you mean 'czarina'"),
        ("solve", ["--rules", "czarena"], "did you mean 'czarina'"),
        ("solve", ["--seconds", "-1"], "--seconds must be more than 0, not -1"),
        ("solve", ["--seed", "-1"], "seed must be 0 to 2^64 - 1, not -1"),
        ("train", ["--agent", "maskable_pop"], "did you mean 'maskable_ppo'"),
        ("verify", ["nowhere"], "nowhere has no comparison: compare.json is missing"),
        ("compare", ["--agents"], "at least one agent"),
        ("compare", ["--agents", "random", "--rules"], "one rule set"),
        ("compare", ["--agents", "random", "--n-jobs", "0"], "--n-jobs must be 1 or more"),
        (
            "compare",
            ["--agents", "random", "--deals", "0-99999999999"],
            "--deals must be 10,000,000 deals or fewer",
        ),
        ("compare", ["--agents", "maskable_ppo:nowhere/*"], "no weights at nowhere/"),
        ("train", ["--minutes", "-1"], "--minutes must be a number of minutes above 0"),
        ("report", [], "at least one folder"),
        ("compare", ["--agents", "random", "--seed", "-1"], "--seed must be a whole number from 0"),
        ("review", ["--seconds", "0"], "--seconds must be more than 0"),
        ("train", ["--seed", "-1"], "--seed must be a whole number from 0"),
        ("train", ["--set", "gamma=1", "--set", "games=4"], "--set must be given once"),
        ("train", ["--steps", "0"], "--steps must be a positive number"),
        ("train", ["--steps", "inf"], "--steps must be a positive number"),
        ("train", ["--resume"], "no run to resume"),
        ("train", ["--agent", "planner", "--n-jobs", "0"], "--n-jobs must be 1 or more"),
        ("train", ["--agent", "planner", "--cluster", "x:1"], "--backend must be dask or ray"),
        ("train", ["--agent", "maskable_ppo", "--n-jobs", "2"], "learns in one process"),
    ],
)
def test_wrong_flags_are_one_line_and_write_nothing(
    command: str, flags: list[str], message: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    if command == "play":
        pytest.importorskip("uvicorn", reason="the server needs the extra 'play'")
    out = tmp_path / "x"
    flags = flags + ([] if command in WITHOUT_OUT else ["--out", str(out)])
    before = (ROOT / "README.md").read_bytes()
    assert call(monkeypatch, command, *flags) == 2
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert not printed.out
    assert line.startswith("error: ")
    assert message in line
    assert not out.exists()
    assert (ROOT / "README.md").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "steps"), [("1000", 1000), ("500k", 500_000), ("20M", 20_000_000), ("1.5k", 1500)]
)
def test_steps_are_read(text: str, steps: int) -> None:
    assert train.parse_steps(text) == steps


WRITES = {
    "compare": (["--agents", "random", "--deals", "0-1"], "comparison"),
    "train": ([], "training"),
}
"""Commands that write a folder, their flags, and the kind of the folder."""


@pytest.mark.parametrize("command", WRITES)
def test_folder_of_another_kind(command: str, tmp_path: Path, monkeypatch, capsys) -> None:
    flags, kind = WRITES[command]
    marks = {each: MARKS[each] for each in ("training", "comparison") if each != kind}
    for other, mark in {**marks, "thesis": "thesis.tex"}.items():
        out = tmp_path / other
        out.mkdir()
        (out / mark).write_text("mine")
        assert call(monkeypatch, command, *flags, "--out", str(out)) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {out} ")
        assert f"is not empty and has no {kind} (" in line
        assert [each.name for each in out.iterdir()] == [mark]


HOLDS = """
import sys
from pathlib import Path
from four_seasons_env.experiments.folders import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_folder_in_use_is_refused(tmp_path: Path, monkeypatch, capsys) -> None:
    """Until the process ends, even if it is killed."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout and holder.stdout.readline()
    used = f"{tmp_path} is in use by process {holder.pid} on {platform.node()}"
    for command, (flags, _) in WRITES.items():
        assert call(monkeypatch, command, *flags, "--out", str(tmp_path)) == 2
        assert capsys.readouterr().err == f"error: {used}\n"
    with pytest.raises(RuntimeError, match=re.escape(used)):
        take_census(Census(tmp_path, deals="0"))
    assert all(each.name[0] == "." for each in tmp_path.iterdir())
    holder.kill()
    holder.communicate()
    with locked(tmp_path), locked(tmp_path):
        pass


def test_only_own_code_has_a_traceback(tmp_path: Path, monkeypatch, capsys) -> None:
    module = f"agents_{tmp_path.name}"
    code = "class Broken:\n    def __init__(self):\n        {}['mine']\n"
    code += "class Deep:\n    def __init__(self, depth):\n        pass\n"
    (tmp_path / f"{module}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    flags = "--deals", "0-1", "--out", str(tmp_path / "x")
    assert call(monkeypatch, "compare", "--agents", f"{module}:Broken", *flags) == 2
    line, *rest = capsys.readouterr().err.splitlines()
    assert line == f"error: agent '{module}:Broken' failed: KeyError: 'mine'"
    assert rest[0] == "Traceback (most recent call last):"
    assert rest[1].endswith(f'{module}.py", line 3, in __init__')
    assert call(monkeypatch, "compare", "--agents", f"{module}:Deep", *flags) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "missing 1 required positional argument: 'depth'" in line


def test_the_listing_imports_no_command() -> None:
    check = "import sys; from four_seasons_env.__main__ import main; main([]); "
    *listing, modules = run_python("-c", f"{check} print(sorted(sys.modules))").splitlines()
    for heavy in ("torch", "numba", "pandas", "tyro"):
        assert f"'{heavy}'" not in modules
    assert [line.split()[0] for line in listing if line[:2] == "  "] == COMMANDS


def test_unknown_command_names_the_nearest(monkeypatch, capsys) -> None:
    assert call(monkeypatch, "trian") == 2
    assert capsys.readouterr().err.startswith(
        "error: unknown command 'trian': did you mean 'train'?"
    )


COMPARE = ["compare", "--agents", "random", "--deals", "0-3", "--n-jobs", "1"]


@pytest.mark.skipif(os.name != "posix", reason="pipes as POSIX has them")
@pytest.mark.parametrize("arguments", [["rules"], ["train", "--help"]])
def test_a_reader_that_leaves_ends_the_command(arguments: list[str]) -> None:
    """The command line is like `four-seasons rules | true`."""
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "four_seasons_env", *arguments]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("arguments", [["rules"], ["train", "--help"]])
def test_a_full_disk_is_one_line(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "four_seasons_env", *arguments]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    (line,) = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert line.startswith("error: ") and line.endswith("No space left on device")


@pytest.mark.slow
def test_a_file_named_like_a_module_of_python(tmp_path: Path) -> None:
    """It lies in the folder of the user, where workers start."""
    (tmp_path / "random.py").write_text("raise SystemExit('not this one')")
    flags = ["compare", "--agents", "random", "greedy", "--deals", "0-3", "--n-jobs", "2"]
    run_python("-P", "-m", "four_seasons_env", *flags, "--out", "x", cwd=tmp_path)


@dataclasses.dataclass
class Flags:
    out: Path = Path("runs/x")


def test_ctrl_c_in_a_training_names_its_checkpoint(tmp_path: Path, monkeypatch, capsys) -> None:
    def stopped(run: train.Train) -> None:
        run.out.mkdir(exist_ok=True)
        (run.out / "run.json").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(train, "train", stopped)
    out = tmp_path / "a b"
    for saved in "no checkpoint yet", "the checkpoint of [0-9:]{8} is saved":
        assert call(monkeypatch, "train", "--out", str(out)) == 130
        resume = f"in {out}; resume: four-seasons train --resume --out '{out}'\n"
        assert re.fullmatch(f"stopped: {saved} {resume}", capsys.readouterr().err)
        (out / "checkpoints" / "000001").mkdir(parents=True, exist_ok=True)


@pytest.mark.skipif(os.name != "posix", reason="SIGHUP is POSIX's")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_other_signals_stop_as_ctrl_c_does(name: str, capsys) -> None:
    number = getattr(signal, name)

    def killed(_: object) -> None:
        signal.raise_signal(number)

    def unheard(*_: object) -> None:
        """Replace what `nohup` has set, and let a failure not end the tests."""

    own = signal.signal(number, unheard)
    try:
        with pytest.raises(SystemExit) as status:
            run_command([], killed, Flags, None)
        assert status.value.code == 130
        assert capsys.readouterr().err == "stopped: nothing is saved\n"
        assert signal.getsignal(number) is unheard
    finally:
        signal.signal(number, own)


def test_ignored_signals_stay_ignored() -> None:
    """The command `nohup` does so."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        run_command([], lambda _: signal.raise_signal(signal.SIGTERM), Flags, None)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_command_in_a_thread(tmp_path: Path) -> None:
    table = tmp_path / "x" / "table.md"
    thread = threading.Thread(target=main, args=([*COMPARE, "--out", str(table.parent)],))
    thread.start()
    thread.join()
    assert table.is_file()


SMALL = ("--set", "positions=20", "expansions=5", "ending_positions=50", "ending_expansions=20")
STOPPED = {
    "compare": (["--agents", "heuristic", "rollout", "--n-jobs", "2"], "parts/*/*/*.csv"),
    "train": (["--agent", "planner", "--steps", "1G", "--n-jobs", "1", *SMALL], "progress.csv"),
}
"""Commands that run for minutes, and files that exist when their workers work."""


def handle_signals() -> None:
    """Undo what a shell or nohup did that started the tests in the background."""
    for name in (signal.SIGINT, signal.SIGHUP):
        signal.signal(name, signal.SIG_DFL)


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
@pytest.mark.parametrize("command", STOPPED)
def test_ctrl_c_in_all_processes_is_one_line(command: str, tmp_path: Path) -> None:
    flags, file = STOPPED[command]
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


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
def test_a_training_that_goes_on_is_not_resumed(tmp_path: Path, monkeypatch, capsys) -> None:
    out = tmp_path / "x"
    process = start("train", STOPPED["train"][0], out)
    while not (out / "run.json").exists():
        assert process.poll() is None
        time.sleep(0.1)
    for flags in (["--resume"], STOPPED["train"][0]):
        assert call(monkeypatch, "train", *flags, "--out", str(out)) == 2
        assert f"is in use by process {process.pid} on " in capsys.readouterr().err
    process.kill()
    process.communicate()
    assert call(monkeypatch, "train", *STOPPED["train"][0], "--out", str(out)) == 2
    assert "is unfinished: resume it" in capsys.readouterr().err
