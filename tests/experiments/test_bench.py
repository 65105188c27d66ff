"""The benchmark measures what its flags name."""

from four_seasons_env.experiments.studies.bench import measurements
from four_seasons_env.observations import OBSERVATIONS


def test_every_rate_is_measured() -> None:
    rows = [*measurements([1, 32], [1, 2], seconds=0.01)]
    sizes = [(1, 1), (32, 1), (32, 2)]
    expected: list[tuple[object, ...]] = []
    for observation in OBSERVATIONS:
        expected.append(("single environment", 1, 1, observation))
        expected += [
            ("vector environment, copy=False", games, threads, observation)
            for games, threads in sizes
        ]
    expected += [("next-deal environment, decisions", *size, "features") for size in sizes]
    assert [row[:4] for row in rows] == expected
    assert all(0 < slowest <= rate <= fastest for *_, rate, slowest, fastest, _ in rows)
