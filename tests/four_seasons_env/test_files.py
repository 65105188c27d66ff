"""Files and folders are written whole: a failed write leaves the old ones, and no others."""

import os
from pathlib import Path

import pytest

from four_seasons_env.files import expanded, whole_folder, write_atomically


def test_a_file_is_written_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "results.csv"
    for data in (b"one", b"", b"\0" * 100_000):
        write_atomically(path, data)
        with pytest.raises(TypeError):
            write_atomically(path, "text is not bytes")  # type: ignore[arg-type]
        assert path.read_bytes() == data, "what failed has changed nothing"
    assert [each.name for each in path.parent.iterdir()] == ["results.csv"]


def test_a_folder_is_replaced_as_a_whole_or_stays(tmp_path: Path) -> None:
    path = tmp_path / "x"
    with whole_folder(path) as new:
        (new / "one").write_text("old")
        assert not path.exists()
    with pytest.raises(KeyboardInterrupt), whole_folder(path) as new:
        (new / "one").write_text("new")
        raise KeyboardInterrupt
    assert (path / "one").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]
    with whole_folder(path) as new:
        (new / "two").write_text("new")
        assert [each.name for each in path.iterdir()] == ["one"]
    assert [each.name for each in path.iterdir()] == ["two"]
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


@pytest.mark.skipif(os.name != "posix", reason="Windows lets few users make links")
def test_links_stay(tmp_path: Path) -> None:
    for name in ("file", "folder"):
        (tmp_path / f"to {name}").symlink_to(tmp_path / "there" / name)  # which does not exist yet
    for text in ("one", "two"):
        write_atomically(tmp_path / "to file", text.encode())
        with whole_folder(tmp_path / "to folder") as new:
            (new / text).write_text(text)
    assert (tmp_path / "to file").is_symlink() and (tmp_path / "to folder").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "two"
    assert [each.name for each in (tmp_path / "there" / "folder").iterdir()] == ["two"]


def test_the_home_folder(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_atomically(Path("~/x"), b"one")
    assert (tmp_path / "x").read_bytes() == b"one"
    assert expanded("~nobody-here/x") == Path("~nobody-here/x")


def test_an_error_names_the_file_or_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "x"
    with pytest.raises(OSError, match=str(path)):
        write_atomically(path, b"")
    with pytest.raises(OSError, match=str(path)), whole_folder(path):
        pass
