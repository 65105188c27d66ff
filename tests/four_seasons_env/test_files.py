"""Files and folders are written whole: a failed write leaves the old ones, and no others."""

from pathlib import Path

import pytest

from four_seasons_env.files import whole_folder, write_atomically


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


def test_an_error_names_the_file_or_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / "file" / "x"
    with pytest.raises(OSError, match=str(path)):
        write_atomically(path, b"")
    with pytest.raises(OSError, match=str(path)), whole_folder(path):
        pass
