"""The benchmark: its tables hold what was asked for, and its ratios are of like with like."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from four_seasons_env.experiments.bench import (
    NEXT_DEAL,
    PLAYERS,
    PLAYOUTS,
    SINGLE,
    VECTOR,
    VECTOR_SHARED,
    Bench,
    bench,
    ratios,
)
from four_seasons_env.experiments.bench_peers import PEERS


def test_a_short_benchmark_writes_its_tables_and_plot(tmp_path: Path) -> None:
    table, found = bench(Bench(games=[1, 32], threads=[1, 2], seconds=0.01, out=tmp_path))
    sizes = [(1, 1), (32, 1), (32, 2)]
    expected: list[tuple[object, ...]] = []
    for observation in ("tops", "cards"):
        expected.append((SINGLE, 1, 1, observation))
        expected += [
            (what, games, threads, observation)
            for games, threads in sizes
            for what in (VECTOR, VECTOR_SHARED)
        ]
    expected += [(NEXT_DEAL, games, threads, "features") for games, threads in sizes]
    expected += [(PLAYOUTS.format(agent), 32, 1, "-") for agent in PLAYERS]
    rows = table[["what", "games", "threads", "observation"]].itertuples(index=False)
    assert [tuple(row) for row in rows] == expected
    assert (table["slowest"] <= table["moves_per_second"]).all()
    assert (table["moves_per_second"] <= table["fastest"]).all()
    assert (table["slowest"] > 0).all()
    assert found.empty
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "bench.csv"), table)
    assert (tmp_path / "bench.png").stat().st_size > 10_000


def row(what: str, games: int, observation: str, rate: float, threads: int = 1) -> dict[str, Any]:
    return {
        "what": what,
        "games": games,
        "threads": threads,
        "observation": observation,
        "moves_per_second": 10 * rate,
        "per_cpu_second": rate,
    }


def test_ratios_compare_like_with_like() -> None:
    blackjack, _, leduc = PEERS
    table = pd.DataFrame(
        [
            row(SINGLE, 1, "tops", 100.0),
            row(SINGLE, 1, "cards", 90.0),
            row(VECTOR, 1, "tops", 200.0),
            row(VECTOR, 4096, "tops", 9000.0),
            row(VECTOR_SHARED, 4096, "tops", 10_000.0),
            row(VECTOR, 4096, "tops", 20_000.0, threads=2),
            row(VECTOR, 4096, "cards", 5000.0),
            row(blackjack, 1, "its own", 20.0),
            row(leduc, 4096, "its own", 3000.0),
        ]
    )
    found = ratios(table)
    assert found["value"].tolist() == pytest.approx([0.9, 5.0, 3.0])
    names = ("copy=False, 4,096 games", blackjack, leduc)
    for name, part in zip(found["what"], names, strict=True):
        assert part in name
