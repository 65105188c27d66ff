"""The interval of a mean of bounded numbers, where mistakes are rare and large."""

from typing import Any

import numpy as np
import pytest

from four_seasons_env.experiments.studies.bounded import bounded_interval


def rare(rng: np.random.Generator, shape: Any) -> Any:
    """Two games of a hundred have a mistake, of any size."""
    return (rng.random(shape) < 0.02) * np.minimum(rng.exponential(0.3, shape), 1)


def small_and_large(rng: np.random.Generator, shape: Any) -> Any:
    """Half of the games have a tiny mistake, and one of a hundred a large one."""
    small = (rng.random(shape) < 0.5) * 0.001
    return np.where(rng.random(shape) < 0.01, 0.5, small)


def test_no_mistake_is_no_proof() -> None:
    low, high = bounded_interval(np.zeros(100))
    assert low == 0 and 0.03 < high < 0.06
    low, high = bounded_interval(np.append(np.zeros(99), 1e-6))  # a tiny one proves no more
    assert low == 0 and 0.03 < high < 0.06
    low, high = bounded_interval(np.ones(100))
    assert 0.94 < low < 0.97 and high == 1


def test_numbers_must_be_bounded() -> None:
    with pytest.raises(ValueError, match=r"from 0 to 1, not 0 to 1\.5"):
        bounded_interval(np.array([0.0, 1.5]))


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [rare, small_and_large])
def test_the_interval_holds_the_mean(numbers: Any) -> None:
    """At least 95% of the time; Student's t held it 27% to 88% of the time."""
    rng = np.random.default_rng(0)
    mean = numbers(rng, 3_000_000).mean()
    ends = [bounded_interval(numbers(rng, 100)) for _ in range(200)]
    assert np.mean([low <= mean <= high for low, high in ends]) >= 0.95
