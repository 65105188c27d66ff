"""Start-up time of a process, and memory of many games, measured in fresh processes.

Part of `four-seasons bench`.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_IMPORT = "import four_seasons_env"
_RESET = "import gymnasium as gym; gym.make('four_seasons_env:FourSeasons-v0').reset()"
_FILL = """
import resource, sys
from four_seasons_env.vector import FourSeasonsVectorEnv

env = FourSeasonsVectorEnv({games}, copy=False)
_, infos = env.reset(seed=0)
for _ in range(10):
    env.step(infos["action_mask"].argmax(axis=1))
unit = 1 if sys.platform == "darwin" else 1024
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)
"""


def _run(script: str, cache: Path | None = None) -> tuple[float, str]:
    """Run a script in a fresh interpreter; returns its seconds and what it printed."""
    environment = dict(os.environ)
    if cache:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    clock = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return time.perf_counter() - clock, done.stdout


def startup_seconds(windows: int) -> dict[str, float]:
    """Seconds of a fresh process, interpreter included: medians, but for the first ever start."""
    with tempfile.TemporaryDirectory() as folder:
        first, _ = _run(_RESET, Path(folder))
        return {
            "import": statistics.median(_run(_IMPORT)[0] for _ in range(windows)),
            "import, make, reset: compiled code cached": statistics.median(
                _run(_RESET, Path(folder))[0] for _ in range(windows)
            ),
            "import, make, reset: first ever": first,
        }


def peak_memory(games: int) -> int:
    """Peak memory in bytes of a process that plays a number of games at once, `copy=False`."""
    return int(_run(_FILL.format(games=games))[1])
