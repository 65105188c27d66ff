"""Settings of the suite: hypothesis draws the same examples in every run."""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

os.environ["OMP_NUM_THREADS"] = "1"  # of torch; the tests themselves run side by side

settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    max_examples=25,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("suite")


@pytest.fixture
def watchdog() -> Iterator[None]:
    """Stop a test that hangs."""

    def bark(*_: object) -> None:
        raise TimeoutError("hangs")

    signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
