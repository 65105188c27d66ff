"""What all commands share: the listing, errors in one line, Ctrl-C, names from before."""

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import pytest

from four_seasons_env.__main__ import GROUPS, main
from four_seasons_env.experiments.command_line import ROOT, run_command
from four_seasons_env.experiments.out_folder import MARKS

WRONG = {
    "census": ["--rules", "czarena"],
    "compare": ["--agents", "heuristik"],
    "demo": ["--rules", "czarena"],
    "optimum": ["--rules", "czarina"],
    "report": ["nowhere"],
    "review": ["--agent", "planer"],
    "solve": ["--rules", "czarena"],
    "sweep": ["nowhere.yaml"],
    "bench": ["--rules", "czarena"],
    "train": ["--agent", "maskable_pop"],
    "verify": ["nowhere"],
}
"""For each command, flags that cannot be."""
WITHOUT_OUT = ("solve", "verify")
COMMANDS = [name for group in GROUPS.values() for name in group]


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    """The exit status of `four-seasons ...`."""
    monkeypatch.setattr(sys, "argv", ["four-seasons", *arguments])
    with pytest.raises(SystemExit) as stopped:
        main()
    return stopped.value.code


@pytest.mark.parametrize("command", WRONG)
def test_an_error_is_one_line_and_nothing_is_written(
    command: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    out = tmp_path / "x"
    flags = WRONG[command] + ([] if command in WITHOUT_OUT else ["--out", str(out)])
    before = (ROOT / "README.md").read_bytes()
    assert call(monkeypatch, command, *flags) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert not out.exists()
    assert (ROOT / "README.md").read_bytes() == before


@pytest.mark.parametrize(
    ("command", "flags", "told"),
    [
        ("compare", ["--agents"], "at least one agent"),
        ("compare", ["--agents", "random", "--rules"], "one rule set"),
        ("compare", ["--agents", "random", "--n-jobs", "0"], "--n-jobs is 1 or more"),
        ("compare", ["--agents", "random", "--n-jobs", "-7"], "--n-jobs is 1 or more"),
        ("compare", ["--agents", "random", "--deals", "abc"], "deals are given as '0-9999'"),
        ("compare", ["--agents", "random", "--deals", "9-1"], "run backwards"),
        ("compare", ["--agents", "maskable_ppo:nowhere/*"], "nothing matches"),
        ("compare", ["--agents", "random", "random"], "both 'random': give one another label"),
        ("compare", ["--agents", "heuristic", "--resolve", "2"], "name two or more"),
        ("compare", ["--agents", "x=heuristic", "x=maskable_ppo"], "are both 'x'"),
        ("compare", ["--agents", "x=random", "x=greedy"], "are both 'x'"),
        ("compare", ["--agents", "random", "--census", "nowhere"], "nowhere holds no census"),
        ("census", ["--seconds", "0"], "--seconds must be more than 0"),
        ("census", ["--seconds", "nan"], "--seconds must be more than 0"),
        ("census", ["--memory", "0"], "--memory must be 0.01 or more"),
        ("census", ["--memory", "inf"], "--memory must be 0.01 or more"),
        ("solve", ["--seconds", "0"], "seconds must be more than 0"),
        ("train", ["--minutes", "-1"], "--minutes must be a number of minutes above 0"),
        ("train", ["--core-minutes", "0"], "--core-minutes must be a number of minutes above 0"),
        ("report", [], "at least one folder"),
        ("sweep", ["{broken}"], "broken.yaml is not YAML"),
        ("bench", ["--threads", "0"], "--threads are numbers of 1 or more"),
        ("bench", ["--games", "0"], "--games are numbers of 1 or more"),
        ("bench", ["--games"], "--games are numbers of 1 or more"),
        ("demo", ["--minutes", "-1"], "--minutes must be a number of minutes above 0"),
        ("demo", ["--deals", "abc"], "deals are given as '0-9999'"),
        ("compare", ["--agents", "random", "--seed", "-1"], "--seed must be 0 or more"),
        ("compare", ["--agents", "rollout@worlds=["], "must be a whole number"),
        ("review", ["--seconds", "0"], "--seconds must be more than 0"),
        ("train", ["--minutes", "inf"], "--minutes must be a number of minutes above 0"),
        ("train", ["--seed", "-1"], "--seed must be 0 or more"),
        ("train", ["--set", "layers=["], "layers is not YAML"),
        ("train", ["--set", "learning_rate=.inf"], "learning_rate is inf"),
        ("train", ["--agent", "planner", "--set", "games=0"], "games is 0: Expected `int` >= 1"),
        ("train", ["--agent", "planner", "--set", "learning_rate=-1"], "learning_rate is -1"),
        ("train", ["--resume"], "no run to resume"),
        ("train", ["--agent", "planner", "--n-jobs", "0"], "--n-jobs is 1 or more"),
        ("train", ["--agent", "planner", "--n-jobs", "-2"], "--n-jobs is 1 or more"),
        ("train", ["--agent", "planner", "--cluster", "x:1"], "loky works on this machine alone"),
        ("train", ["--agent", "maskable_ppo", "--n-jobs", "2"], "learns in one process"),
        ("train", ["--backend", "dask"], "learns in one process"),
    ],
)
def test_flags_are_checked_before_anything_is_made(
    command: str, flags: list[str], told: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    out, broken = tmp_path / "x", tmp_path / "broken.yaml"
    broken.write_text(BROKEN)
    flags = [each.format(broken=broken) for each in flags]
    flags = flags + ([] if command in WITHOUT_OUT else ["--out", str(out)])
    assert call(monkeypatch, command, *flags) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert told in line
    assert not out.exists()


BROKEN = "fixed: ["
"""No sweep."""

WRITES = {
    "census": (["--deals", "0-1"], "census"),
    "compare": (["--agents", "random", "--deals", "0-1"], "comparison"),
    "sweep": (["experiments/studies/quick.yaml"], "sweep"),
    "bench": ([], "measurement of speed"),
    "train": ([], "training"),
}
"""Commands that write a folder of a kind."""


@pytest.mark.parametrize("command", WRITES)
def test_a_folder_of_another_kind_is_refused_and_left_alone(
    command: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    flags, kind = WRITES[command]
    marks = {each: MARKS[each] for each in ("training", "comparison") if each != kind}
    for other, mark in {**marks, "thesis": "thesis.tex"}.items():
        out = tmp_path / other
        out.mkdir()
        (out / mark).write_text("mine")
        assert call(monkeypatch, command, *flags, "--out", str(out)) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {out} ")
        assert f"is not empty and holds no {kind} (" in line
        assert [each.name for each in out.iterdir()] == [mark]


@pytest.mark.parametrize("command", [*WRITES, "demo"])
def test_a_file_in_place_of_the_folder_is_named(
    command: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    """Read-only folders are answered likewise; the suite may run as root, who may write them."""
    flags, _ = WRITES.get(command, ([], ""))
    file = tmp_path / "file"
    file.write_text("mine")
    assert call(monkeypatch, command, *flags, "--out", str(file / "x")) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: {file}: is not a folder: choose another"
    assert file.read_text() == "mine"


def test_the_listing_imports_no_command() -> None:
    check = (
        "import sys; from four_seasons_env.__main__ import main; main([]); "
        "print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, cwd=ROOT, check=True
    )
    *listing, modules = done.stdout.splitlines()
    for heavy in ("torch", "numba", "pandas", "tyro"):
        assert f"'{heavy}'" not in modules
    assert [line.split()[0] for line in listing if line[:2] == "  "] == COMMANDS


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compare", "census"])
def test_wrong_names_are_rejected_before_heavy_imports(command: str, tmp_path: Path) -> None:
    check = (
        "import sys; from four_seasons_env.__main__ import main\ntry: main(sys.argv[1:])\n"
        "finally: print(sorted(sys.modules))"
    )
    flags = [command, *WRONG[command], "--out", str(tmp_path / "x")]
    done = subprocess.run(
        [sys.executable, "-c", check, *flags], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr.startswith("error: ")) == (2, True)
    for heavy in ("pandas", "scipy.stats", "matplotlib", "joblib"):
        assert f"'{heavy}'" not in done.stdout


def test_an_unknown_command_is_answered_with_the_nearest(monkeypatch, capsys) -> None:
    assert call(monkeypatch, "trian") == 2
    assert capsys.readouterr().err.startswith(
        "error: unknown command 'trian': did you mean 'train'?"
    )


def test_a_closed_pipe_ends_a_command_without_a_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "four_seasons_env", "rules"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, cwd=ROOT, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_command_is_run_by_its_name(monkeypatch, capsys) -> None:
    flags = ["--rules", "florentine", "--deal", "4294967296"]
    main(["solve", *flags])
    assert "won in" in capsys.readouterr().out


@dataclasses.dataclass
class Flags:
    out: Path = Path("runs/x")


def test_ctrl_c_says_what_is_kept_and_how_to_resume(monkeypatch, capsys) -> None:
    def stopped(_: object) -> None:
        raise KeyboardInterrupt

    kept = "deals are kept in {run.out}; resume: {command}"
    with pytest.raises(SystemExit) as status:
        run_command(["--out", "a b"], stopped, Flags, None, kept)
    assert status.value.code == 130
    resume = "four-seasons test_command_line --out 'a b'"
    expected = f"stopped: deals are kept in a b; resume: {resume}\n"
    assert capsys.readouterr().err == expected
