"""Folders of results: checkpoints."""

import errno
import os
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
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r" is damaged, because its SHA-256 is not the one in"):
            read_state(path.parent)


def test_an_interrupted_checkpoint_does_not_count(tmp_path: Path) -> None:
    """After a kill; the next one deletes it. Lost digests are named."""
    first = written(tmp_path, b"one")
    second = first.with_name("000002")
    for name in (STATE, MONITOR):
        second.mkdir(exist_ok=True)
        (second / name).write_bytes(b"half")
        assert last_checkpoint(tmp_path) == first
    third = written(tmp_path, b"three")
    assert [each.name for each in third.parent.iterdir()] == [third.name] == ["000003"]
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
    (first.parent / "2024").mkdir()
    kept = contents(tmp_path / "other")
    last = written(tmp_path / "run", b"two")
    assert last.name == "000008" and read_state(last) == b"two"
    assert {each.name for each in first.parent.iterdir()} == {"000001", "000007", "2024", last.name}
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
