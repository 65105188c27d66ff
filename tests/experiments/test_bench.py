"""The benchmark: its tables hold what was asked for, and its ratios are of like with like."""

import pandas as pd
import pytest

from four_seasons_env.experiments.bench import (
    NEXT_DEAL,
    PPO,
    PPO_ZERO_COST,
    SINGLE,
    VECTOR,
    VECTOR_SHARED,
    Throughput,
    cost_cells,
    ratios,
    throughput,
)
from four_seasons_env.experiments.benchmarks.peers import PEERS


def test_a_short_benchmark_keeps_its_tables_and_plot(tmp_path):
    run = Throughput(
        games=[1, 32],
        threads=[1, 2],
        seconds=0.01,
        windows=2,
        ppo=False,
        startup=False,
        out=tmp_path,
    )
    table, costs = throughput(run)
    sizes = [(1, 1), (32, 1), (32, 2)]
    expected = []
    for observation in ("tops", "cards"):
        expected.append((SINGLE, 1, 1, observation))
        expected += [
            (what, games, threads, observation)
            for games, threads in sizes
            for what in (VECTOR, VECTOR_SHARED)
        ]
    expected += [(NEXT_DEAL, games, threads, "features") for games, threads in sizes]
    found = table[["what", "games", "threads", "observation"]].itertuples(index=False)
    assert [tuple(row) for row in found] == expected
    assert (table["slowest"] <= table["moves_per_second"]).all()
    assert (table["moves_per_second"] <= table["fastest"]).all()
    assert (table["slowest"] > 0).all()
    assert costs.empty
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "throughput.csv"), table)
    assert (tmp_path / "throughput.png").stat().st_size > 10_000


def row(what: str, games: int, observation: str, rate: float, threads: int = 1) -> dict:
    return {
        "what": what,
        "games": games,
        "threads": threads,
        "observation": observation,
        "moves_per_second": 10 * rate,
        "per_cpu_second": rate,
    }


def test_ratios_compare_like_with_like():
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
            row(PPO, 1024, "tops", 12.0, threads=2),
            row(PPO_ZERO_COST, 1024, "tops", 16.0, threads=2),
        ]
    )
    found = ratios(table)
    assert list(found.values()) == pytest.approx([0.9, 5.0, 3.0, 0.75])
    for name, peer in zip(found, ("copy=False, 4,096 games", blackjack, leduc), strict=False):
        assert peer in name
    costs = pd.DataFrame({"what": list(found), "value": list(found.values())})
    assert cost_cells(costs)["value"].tolist() == ["0.9", "5", "3", "75.0%"]
