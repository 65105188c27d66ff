"""The benchmark writes the rates that its flags name."""

from pathlib import Path

import pandas as pd
import pytest

from four_seasons_env.experiments import bench as module
from four_seasons_env.experiments.bench import (
    NEXT_DEAL,
    SINGLE,
    VECTOR,
    VECTOR_SHARED,
    Bench,
    bench,
    main,
)
from four_seasons_env.observations import OBSERVATIONS


def test_a_benchmark_writes_table_and_plot(tmp_path: Path) -> None:
    table = bench(Bench(games=[1, 32], threads=[1, 2], seconds=0.01, out=tmp_path))
    sizes = [(1, 1), (32, 1), (32, 2)]
    expected: list[tuple[object, ...]] = []
    for observation in OBSERVATIONS:
        expected.append((SINGLE, 1, 1, observation))
        expected += [
            (what, games, threads, observation)
            for games, threads in sizes
            for what in (VECTOR, VECTOR_SHARED)
        ]
    expected += [(NEXT_DEAL, games, threads, "features") for games, threads in sizes]
    rows = table[["what", "games", "threads", "observation"]].itertuples(index=False)
    assert [tuple(row) for row in rows] == expected
    assert (table["slowest"] <= table["moves_per_second"]).all()
    assert (table["moves_per_second"] <= table["fastest"]).all()
    assert (table["slowest"] > 0).all()
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "bench.csv"), table)


def test_an_interrupted_benchmark_keeps_what_it_has(tmp_path: Path, monkeypatch, capsys) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "vector_steps", stopped)
    with pytest.raises(SystemExit):
        main(["--seconds", "0.01", "--out", str(tmp_path)])
    printed = capsys.readouterr()
    assert SINGLE in printed.out
    assert printed.err == "stopped: finished measurements are shown, and saved with --out\n"
    assert pd.read_csv(tmp_path / "bench.csv")["what"].tolist() == [SINGLE]


def test_a_folder_that_cannot_be_written_to_is_named_early(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit):
        main(["--seconds", "0.01", "--out", str(tmp_path / "file" / "x")])
    printed = capsys.readouterr()
    assert "error: " in printed.err
    assert SINGLE in printed.out and VECTOR not in printed.out
