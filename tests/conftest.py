"""Settings of the suite: the same environment and hypothesis's same examples in every run."""

import os
import tempfile
import time

from hypothesis import HealthCheck, settings

# What the caller's terminal, notebook or cluster sets, for the tests and the processes they start.
# NUMBA_CACHE_DIR stays: `make test-lowest` and `make test-memory` keep their compiled code apart.
for name in (
    *("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "PYTHONIOENCODING", "TZ"),
    *("MPLBACKEND", "MATPLOTLIBRC"),
):
    os.environ.pop(name, None)
if hasattr(time, "tzset"):
    time.tzset()
os.umask(0o022)
os.environ["OMP_NUM_THREADS"] = "1"  # of torch; the tests themselves run side by side
# Else Stable-Baselines3 makes a folder SB3-DATE there for each model that learns.
os.environ["SB3_LOGDIR"] = tempfile.gettempdir()

settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    max_examples=5 if "NUMBA_DISABLE_JIT" in os.environ else 25,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("suite")
