"""Folders of results: checkpoints, origin, and what the commands leave alone."""

import errno
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from four_seasons_env.experiments import folders, train
from four_seasons_env.experiments.folders import (
    MONITOR,
    STATE,
    SUMS,
    last_checkpoint,
    portable,
    provenance,
    read_state,
    write_checkpoint,
)
from four_seasons_env.experiments.monitor import Progress
from tests.helpers import contents

# --- checkpoints ----------------------------------------------------------------------------------


def written(run: Path, *states: bytes) -> Path:
    """The folder of the last checkpoint, after checkpoints with these states."""
    for state in states:
        write_checkpoint(run, state, folders.as_json(asdict(Progress(games=len(state)))))
    last = last_checkpoint(run)
    assert last
    return last


def test_the_last_checkpoint_stays(tmp_path: Path) -> None:
    last = written(tmp_path, b"one", b"two")
    assert read_state(last) == b"two"
    assert [each.name for each in last.parent.iterdir()] == [last.name]
    check = ["sha256sum", "--check", "--strict", SUMS]
    if sys.platform == "linux":
        subprocess.run(check, cwd=last, check=True, capture_output=True)


@pytest.mark.parametrize("name", [STATE, MONITOR, SUMS])
def test_no_flipped_bit_is_accepted(name: str, tmp_path: Path) -> None:
    path = written(tmp_path, b"weights") / name
    whole = path.read_bytes()
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r" is damaged, because its SHA-256 is not the one in"):
            read_state(path.parent)


def test_an_interrupted_checkpoint_does_not_count(tmp_path: Path) -> None:
    """After a kill; the next one takes its place. Lost digests are named."""
    first = written(tmp_path, b"one")
    half = first.with_name(".next")
    for name in (STATE, MONITOR, SUMS):
        half.mkdir(exist_ok=True)
        (half / name).write_bytes(b"half")
        assert last_checkpoint(tmp_path) == first
    third = written(tmp_path, b"three")
    assert [each.name for each in third.parent.iterdir()] == [third.name] == ["000002"]
    (third / SUMS).unlink()
    with pytest.raises(FileNotFoundError, match=SUMS):
        read_state(last_checkpoint(tmp_path) or tmp_path)


@pytest.mark.skipif(os.name != "posix", reason="Windows lets few users make links")
def test_other_files_among_checkpoints_stay(tmp_path: Path) -> None:
    first = written(tmp_path / "run", b"one")
    (first / "notes.txt").write_text("mine")
    (first.parent / "000007").symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    for name in (STATE, MONITOR, SUMS):
        (tmp_path / "other" / name).write_text("mine")
    for copy in ("2024", "20241128"):
        shutil.copytree(first, first.parent / copy)
    (first.parent / "000002").mkdir()
    (first.parent / "000002" / STATE).write_text("mine")
    kept = contents(tmp_path / "other")
    last = written(tmp_path / "run", b"two")
    assert last.name == "000008" and read_state(last) == b"two"
    stay = {"000001", "000002", "000007", "2024", "20241128"}
    assert {each.name for each in first.parent.iterdir()} == {*stay, last.name}
    assert read_state(first.parent / "20241128") == b"one"
    assert (first.parent / "000002" / STATE).read_text() == "mine"
    assert [each.name for each in first.iterdir()] == ["notes.txt"]
    assert contents(tmp_path / "other") == kept


def test_a_checkpoint_that_cannot_be_deleted_is_a_warning(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    first = written(tmp_path, b"one")
    unlink = Path.unlink

    def busy(path: Path, missing_ok: bool = False) -> None:
        if path.name == STATE:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        unlink(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", busy)
    last = written(tmp_path, b"two", b"three")
    assert read_state(last) == b"three"
    said = f"{first / STATE} cannot be deleted ({os.strerror(errno.EBUSY)}); the training goes on\n"
    assert capsys.readouterr().err.count(said) == 1


def test_an_error_of_a_learner_keeps_its_traceback(tmp_path: Path) -> None:
    class Mine:
        def load(self, state: bytes) -> None:
            raise KeyError(state)

    last, learner = written(tmp_path, b"mine"), Mine()
    with pytest.raises(ValueError, match=f"{last} cannot be resumed from .KeyError") as raised:
        train._first_progress(train.Train(tmp_path, resume=True), learner)  # type: ignore[arg-type]
    assert isinstance(raised.value.__cause__, KeyError)


# --- origin ---------------------------------------------------------------------------------------


def test_paths_in_results_do_not_tell_of_this_machine(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    here, away = tmp_path / "runs" / "x", Path(tmp_path.anchor, "home", "ada", "y")
    for text, expected in {
        f"own=planner:{away}@lookahead=1,votes=2": "own=planner:y@lookahead=1,votes=2",
        f"finisher@base=maskable_ppo:{away},seconds=1": "finisher@base=maskable_ppo:y,seconds=1",
        f"maskable_ppo:{here}": f"maskable_ppo:{Path('runs', 'x')}",
        f"--out={away}": "--out=y",
        str(folders.ROOT / "docs"): "docs",
        "my_module:Mine": "my_module:Mine",
        "planner:runs/x": "planner:runs/x",
        "pysolfc/czarina(piles=4)": "pysolfc/czarina(piles=4)",
    }.items():
        assert portable(text) == portable(expected) == expected
    flags = ["train", "--out", str(away), "--cluster", "tcp://ada-laptop:8786"]
    monkeypatch.setattr(sys, "argv", ["four-seasons", *flags])
    command = provenance()["command"]
    assert command == "four-seasons train --out y --cluster ADDRESS"


def clone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder the clone whose state results name."""
    monkeypatch.setattr(folders, "ROOT", folder)
    folders._warn.cache_clear()


def test_git_is_asked_without_its_lock(tmp_path: Path, monkeypatch) -> None:
    """`git status` would write the index, and stop a commit that is made at the same time."""
    clone(tmp_path, monkeypatch)
    (tmp_path / "file").write_text("one")
    as_ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    for command in ("init -q", "add file", "commit -q -m one"):
        subprocess.run(["git", *as_ada, *shlex.split(command)], cwd=tmp_path, check=True)
    os.utime(tmp_path / "file", (0, 0))  # its state in the index is now stale
    before = (tmp_path / ".git" / "index").read_bytes()
    state = provenance()["git"]
    assert len(state["commit"]) == 40 and state["changed"] == ""
    assert (tmp_path / ".git" / "index").read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="a script without an ending")
def test_a_clone_of_another_user_is_named(tmp_path: Path, monkeypatch, capsys) -> None:
    says = "fatal: detected dubious ownership in repository at '/x'"
    (tmp_path / "git").write_text(f'#!/bin/sh\necho "{says}" >&2\nexit 128\n')
    (tmp_path / "git").chmod(0o755)
    clone(tmp_path, monkeypatch)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert provenance()["git"] == {"commit": None, "changed": None}
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"by git config --global --add safe.directory {tmp_path}")
