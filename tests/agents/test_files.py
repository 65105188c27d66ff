"""Atomic writing: whenever a process dies, whatever fails, old content is there or new."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from four_seasons_env.agents.files import (
    recover_folder,
    recover_folders,
    whole_folder,
    write_atomically,
)
from tests.faults import Killed, fail_at, kill_at, system_calls


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing waits for the disk: here processes die, not machines."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_a_file_is_written_and_written_over(tmp_path):
    path = tmp_path / "new folder" / "results.csv"
    for data in (b"one", b"", b"\0" * 100_000):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert [each.name for each in path.parent.iterdir()] == ["results.csv"]


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path):
    path = tmp_path / "results.csv"
    write_atomically(path, b"old")
    with pytest.raises(TypeError):
        write_atomically(path, "text is not bytes")
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["results.csv"]


def visible(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir() if not each.name.startswith("."))


def write_file(path: Path, text: str) -> None:
    write_atomically(path, text.encode())


def write_folder(path: Path, text: str) -> None:
    """A folder of two files and a folder."""
    with whole_folder(path) as new:
        write_atomically(new / "one", text.encode())
        (new / "within").mkdir()
        (new / "within" / "two").write_text(text)


def content(path: Path) -> str | None:
    """The text of a file, or of all files of a folder, which are of one writing."""
    if not path.exists():
        return None
    if path.is_file():
        return path.read_text()
    one, two = path / "one", path / "within" / "two"
    assert visible(path) == ["one", "within"]
    assert one.read_text() == two.read_text()
    return one.read_text()


Write = Callable[[Path, str], None]


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("write", [write_file, write_folder])
def test_a_kill_at_any_system_call_leaves_the_old_or_the_new(
    tmp_path: Path, write: Write, before: str | None
) -> None:
    def prepared(name: str) -> Path:
        path = tmp_path / name / "x"
        path.parent.mkdir()
        if before is not None:
            write(path, before)
        return path

    there = prepared("counted")
    calls = system_calls(lambda: write(there, "new"))
    assert calls > 8
    left = []
    for k in range(calls):
        path = prepared(str(k))
        with kill_at(k), pytest.raises(Killed):
            write(path, "new")
        recover_folder(path)
        left.append(content(path))
        assert left[-1] in (before, "new"), k
        write(path, "newest")
        assert content(path) == "newest"
        if write is write_folder:
            assert [each.name for each in path.parent.iterdir()] == ["x"]
    assert left[0] == before
    assert left[-1] == ("new" if write is write_folder else before)  # a file: by its last call
    assert left == sorted(left, key=lambda text: text == "new")


@pytest.mark.parametrize("before", [None, "old"])
@pytest.mark.parametrize("write", [write_file, write_folder])
def test_an_error_at_any_system_call_leaves_the_old_or_the_new_and_names_the_file(
    tmp_path: Path, write: Write, before: str | None
) -> None:
    path = tmp_path / "x"

    def prepare() -> None:
        if before is not None:
            write(path, before)
        elif path.is_dir():
            for each in sorted(path.rglob("*"), reverse=True):
                each.rmdir() if each.is_dir() else each.unlink()
            path.rmdir()
        else:
            path.unlink(missing_ok=True)

    prepare()
    calls = system_calls(lambda: write(path, "new"))
    errors = 0
    for k in range(calls):
        prepare()
        try:
            with fail_at(k):
                write(path, "new")
        except OSError as error:
            errors += 1
            assert str(path) in str(error)
            assert "No space left on device" in str(error)
            assert content(path) in (before, "new"), k
        else:
            assert content(path) == "new", k
    assert errors > calls / 2


def test_a_folder_that_was_about_to_be_replaced_is_put_back(tmp_path: Path) -> None:
    write_folder(tmp_path / "x", "old")
    (tmp_path / "x").rename(tmp_path / ".x.old")
    recover_folders(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    assert content(tmp_path / "x") == "old"
