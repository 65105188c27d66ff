"""Files are written whole: a failed write leaves the old one, and no other."""

import os
from pathlib import Path

import pytest

from four_seasons_env.files import expanded, refuse_links, write_atomically


def test_a_file_is_written_and_written_over(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "results.csv"
    for data in (b"one", b"", b"\0" * 100_000):
        write_atomically(path, data)
        with pytest.raises(TypeError):
            write_atomically(path, "text is not bytes")  # type: ignore[arg-type]
        assert path.read_bytes() == data, "what failed has changed nothing"
    assert [each.name for each in path.parent.iterdir()] == ["results.csv"]


@pytest.mark.skipif(os.name != "posix", reason="Windows lets few users make links")
def test_links_stay(tmp_path: Path) -> None:
    """Those that a user names; within a folder of results they are refused."""
    (tmp_path / "to file").symlink_to(tmp_path / "there" / "file")  # which does not exist yet
    for text in ("one", "two"):
        write_atomically(tmp_path / "to file", text.encode())
    assert (tmp_path / "to file").is_symlink()
    assert (tmp_path / "there" / "file").read_text() == "two"
    (tmp_path / "results").symlink_to(tmp_path / "there")
    inside = [tmp_path / "results" / name for name in ("file", "folder/file")]
    refuse_links(tmp_path / "results", inside)
    (tmp_path / "there" / "folder").symlink_to(tmp_path)
    with pytest.raises(ValueError, match=r"results/folder must be a part of .*results, not a s"):
        refuse_links(tmp_path / "results", inside)


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
    path = tmp_path / ("x" * 300)
    with pytest.raises(OSError, match=str(path)):
        write_atomically(path, b"")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
