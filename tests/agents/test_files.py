import pytest

from agents.files import write_atomically


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
