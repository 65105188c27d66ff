"""Settings of the suite: hypothesis draws the same examples in every run."""

import os

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
